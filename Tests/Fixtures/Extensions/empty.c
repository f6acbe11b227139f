/* SPDX-License-Identifier: Apache-2.0 */
/* A well-behaved extension for an app without content. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}
