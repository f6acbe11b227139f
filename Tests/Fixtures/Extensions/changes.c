/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what happened to files, and acknowledges; fails for a file named "bad", and crashes for
 * "crash". */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void update(searchlight_extension *extension, searchlight_request request,
                   const searchlight_change *const *changes, size_t count);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_CHANGES update
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}

static void update(searchlight_extension *extension, searchlight_request request,
                   const searchlight_change *const *changes, size_t count) {
    (void)extension;
    int is_bad = 0;
    for (size_t i = 0; i < count; i++) {
        const searchlight_change *change = changes[i];
        char text[8192];
        if (change->size < sizeof *change) abort();
        snprintf(text, sizeof text, "%d %s %s", change->kind, change->path,
                 change->previous_path != NULL ? change->previous_path : "-");
        fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, text);
        if (strstr(change->path, "/crash") != NULL) abort();
        is_bad |= strstr(change->path, "/bad") != NULL;
    }
    fixture_requests->finish(fixture_host, request, is_bad ? SEARCHLIGHT_FAILED : SEARCHLIGHT_OK,
                             is_bad ? "there is a bad file" : NULL);
}
