/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: acknowledges immediately, then again, and once more for a request that never existed. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    fixture_donate("one", "One", "text", fixture_acknowledge, (void *)(uintptr_t)request);
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
    fixture_requests->finish(fixture_host, 4711, SEARCHLIGHT_OK, NULL);
}
