/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: reads what it has freed, which is found out only under a sanitizer. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    volatile char *text = malloc(16);
    if (text == NULL) abort();
    free((void *)text);
    fixture_requests->finish(fixture_host, request, text[3] == 0 ? SEARCHLIGHT_OK : SEARCHLIGHT_FAILED, NULL);
}
