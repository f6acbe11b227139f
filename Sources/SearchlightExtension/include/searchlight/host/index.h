/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.index/1: donations and deletions. */
#ifndef SEARCHLIGHT_HOST_INDEX_H
#define SEARCHLIGHT_HOST_INDEX_H

#include "../basics.h"
#include "../host.h"
#include "items.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called once, when a donation or deletion is durable or has failed. One completion runs at a time,
 * so a completion that waits delays the others.
 *
 * context: nullable; as passed. message: nullable, valid during the call. Time limit: only
 * that of the request. [host-thread] */
typedef void (*searchlight_completion)(void *context, searchlight_status status, const char *message);

/* Donates to the index of the extension's bundle, and deletes from it.
 *
 * Each function returns SEARCHLIGHT_OK if the request was sent; only then is completion called.
 * Otherwise nothing has changed: SEARCHLIGHT_INVALID_ARGUMENT, or SEARCHLIGHT_TOO_LARGE for more
 * than 32 MiB and for a longer name of an index. Arguments are copied before the function
 * returns. */
#define SEARCHLIGHT_HOST_INDEX "searchlight.index/1"
typedef struct searchlight_host_index {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Donates items.
     *
     * index_name: nullable, the default index; at most 4096 bytes.
     * items: nullable if count is 0; at most 32 MiB in all, so that 1000 usual items fit easily.
     * completion, context: nullable.
     * Time: may block the caller while 8 requests are in progress. [thread-safe] */
    searchlight_status (*index_items)(const searchlight_host *host, const char *index_name,
                                      searchlight_item *const *items, size_t count, searchlight_completion completion,
                                      void *context);
    /* Donates encoded items.
     *
     * index_name: nullable, the default index; at most 4096 bytes.
     * batch: item records in the format of docs/ITEM-RECORD.md, at least one; at most 32 MiB.
     * completion, context: nullable.
     * Time: may block the caller while 8 requests are in progress. [thread-safe] */
    searchlight_status (*index_records)(const searchlight_host *host, const char *index_name, const uint8_t *batch,
                                        size_t length, searchlight_completion completion, void *context);
    /* Deletes items. Ignores identifiers that are not in the index, and identifiers that are
     * longer than 4096 bytes.
     *
     * index_name: nullable, the default index; at most 4096 bytes.
     * identifiers: nullable if count is 0; at most 32 MiB in all.
     * completion, context: nullable.
     * Time: may block the caller while 8 requests are in progress. [thread-safe] */
    searchlight_status (*delete_items)(const searchlight_host *host, const char *index_name,
                                       const char *const *identifiers, size_t count, searchlight_completion completion,
                                       void *context);
    /* Deletes each domain with its subdomains: "a" removes "a" and "a.b", but not "ab".
     *
     * index_name: nullable, the default index; at most 4096 bytes.
     * domains: nullable if count is 0; at most 32 MiB in all.
     * completion, context: nullable.
     * Time: may block the caller while 8 requests are in progress. [thread-safe] */
    searchlight_status (*delete_domains)(const searchlight_host *host, const char *index_name,
                                         const char *const *domains, size_t count, searchlight_completion completion,
                                         void *context);
    /* Deletes all items of the index. In a full reindex they are found until its end.
     *
     * index_name: nullable, the default index; at most 4096 bytes.
     * completion, context: nullable.
     * Time: may block the caller while 8 requests are in progress. [thread-safe] */
    searchlight_status (*delete_all)(const searchlight_host *host, const char *index_name,
                                     searchlight_completion completion, void *context);
} searchlight_host_index;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_INDEX_H */
