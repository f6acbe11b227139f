/* SPDX-License-Identifier: Apache-2.0 */
/* Donates two items, and renames those whose files were moved. Also attempts forbidden
 * operations. */
#include <stdint.h>

#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void update(searchlight_extension *extension, searchlight_request request,
                   const searchlight_change *const *changes, size_t count);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_CHANGES update
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    const searchlight_host_batch *batches = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_BATCH);
    const searchlight_host_rename *renames = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_RENAME);
    fixture_donate("/a", "first", "the first item", NULL, NULL);

    /* In a batch, an item may get its own identifier and another one. */
    const char *old = "made", *new = "renamed", *none = "";
    searchlight_item *item = fixture_items->create(fixture_host, old, NULL, NULL);
    fixture_items->set_string(item, "title", "batched");
    searchlight_batch *batch = batches->create(fixture_host);
    batches->index_items(batch, &item, 1);
    fixture_items->release(item);
    renames->rename_in_batch(batch, &old, &new, 1);
    char text[64];
    snprintf(text, sizeof text, "no identifier: %d", (int)renames->rename_in_batch(batch, &old, &none, 1));
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, text);
    batches->commit(fixture_host, "named", batch, "", 0, SEARCHLIGHT_EXPECT_ANY, NULL, 0, NULL, NULL);
    batches->release(batch);
    fixture_donate("/b", "second", "the second item", fixture_acknowledge, (void *)(uintptr_t)request);
}

static void update(searchlight_extension *extension, searchlight_request request,
                   const searchlight_change *const *changes, size_t count) {
    (void)extension;
    const searchlight_host_rename *renames = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_RENAME);
    const char *old[8], *new[8];
    size_t moved = 0;
    for (size_t i = 0; i < count && moved < 8; i++) {
        if (changes[i]->kind != SEARCHLIGHT_MOVED) continue;
        old[moved] = changes[i]->previous_path;
        new[moved++] = changes[i]->path;
    }
    searchlight_status status =
        renames->rename_items(fixture_host, NULL, old, new, moved, fixture_acknowledge, (void *)(uintptr_t)request);
    if (status != SEARCHLIGHT_OK) fixture_requests->finish(fixture_host, request, status, "not renamed");
}
