/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: donates but never acknowledges. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    (void)request;
    fixture_donate("one", "One", "donated, never acknowledged", NULL, NULL);
}
