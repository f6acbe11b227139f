/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.reindex/1: donations on request. */
#ifndef SEARCHLIGHT_EXTENSION_REINDEX_H
#define SEARCHLIGHT_EXTENSION_REINDEX_H

#include "../basics.h"
#include "../entry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Donates items again. */
#define SEARCHLIGHT_EXTENSION_REINDEX "searchlight.reindex/1"
typedef struct searchlight_extension_reindex {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Donates all items, then finishes. The host asks again after a request that was not finished
     * (crash, time limit). Items that are not donated stay in the index, so call delete_all first.
     * The deleted items are found until the request is finished.
     *
     * Answer with finish. Time limit: 30 min. [request-thread] */
    void (*reindex_all)(searchlight_extension *extension, searchlight_request request);
    /* Donates each of these items again, or deletes it; then finishes. The host does not say which
     * index has an item. So donate each item to the index where it belongs, and delete an item that
     * no longer exists from each index to which the extension donates. Items of encrypted indexes
     * are requested with their index by searchlight.encrypted-items/1 (encrypted_items.h), and with
     * this function from an extension without that interface.
     *
     * identifiers: NULL if count is 0; valid until the function returns.
     * Answer with finish. Time limit: 30 min. [request-thread] */
    void (*reindex_items)(searchlight_extension *extension, searchlight_request request,
                          const char *const *identifiers, size_t count);
} searchlight_extension_reindex;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_EXTENSION_REINDEX_H */
