/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes everything first, as real handlers do; donates what a mark file lists; fails if the file
 * says so. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    char path[4096], word[64];
    fixture_mark(path, sizeof path, "list");
    fixture_index->delete_all(fixture_host, NULL, NULL, NULL);
    FILE *list = fopen(path, "r");
    while (list != NULL && fscanf(list, "%63s", word) == 1) {
        if (strcmp(word, "fail") == 0) {
            fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "as told");
            return;
        }
        fixture_donate(word, word, "text", NULL, NULL);
    }
    if (list != NULL) fclose(list);
    fixture_donate("last", "last", "text", fixture_acknowledge, (void *)(uintptr_t)request);
}
