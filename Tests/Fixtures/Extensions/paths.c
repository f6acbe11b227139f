/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the requested items, and acknowledges. Does not implement file changes. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void reindex_items(searchlight_extension *extension, searchlight_request request,
                          const char *const *identifiers, size_t count);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_REINDEX_ITEMS reindex_items
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, "all");
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}

static void reindex_items(searchlight_extension *extension, searchlight_request request,
                          const char *const *identifiers, size_t count) {
    (void)extension;
    for (size_t i = 0; i < count; i++) fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, identifiers[i]);
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}
