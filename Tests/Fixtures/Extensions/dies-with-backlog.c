/* SPDX-License-Identifier: Apache-2.0 */
/* In the first worker: donates much, and exits while the donations are still pending. In later
 * workers: replaces everything with one item. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

#define BATCHES 7
#define ITEMS 200

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    char marker[4096];
    fixture_mark(marker, sizeof marker, "died");
    if (access(marker, F_OK) == 0) {
        fixture_index->delete_all(fixture_host, NULL, NULL, NULL);
        fixture_donate("new", "New", "text", fixture_acknowledge, (void *)(uintptr_t)request);
        return;
    }
    fclose(fopen(marker, "w"));
    for (int batch = 0; batch < BATCHES; batch++) {
        searchlight_item *items[ITEMS];
        for (int i = 0; i < ITEMS; i++) {
            char identifier[32];
            snprintf(identifier, sizeof identifier, "old-%d-%d", batch, i);
            items[i] = fixture_items->create(fixture_host, identifier, NULL, NULL);
            fixture_items->set_string(items[i], "title", identifier);
        }
        fixture_index->index_items(fixture_host, NULL, items, ITEMS, NULL, NULL);
        for (int i = 0; i < ITEMS; i++) fixture_items->release(items[i]);
    }
    /* Long enough for the batches to be in transit, but not for all to be stored. */
    usleep(5000);
    raise(SIGKILL);
}
