/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: answers a reindex with data, and a data promise with an acknowledgement. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PROVIDE_DATA provide_data
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    fixture_donate("one", "One", "text", NULL, NULL);
    fixture_requests->finish_with_data(fixture_host, request, "x", 1);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    (void)item;
    (void)type;
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}
