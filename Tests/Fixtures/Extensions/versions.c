/* SPDX-License-Identifier: Apache-2.0 */
/* Reports its VERSION: in its only item's title, as data and as a preview. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PROVIDE_DATA provide_data
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    fixture_donate("version", VERSION, "a version", fixture_acknowledge, (void *)(uintptr_t)request);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    (void)item;
    (void)type;
    fixture_requests->finish_with_data(fixture_host, request, VERSION, strlen(VERSION));
}
