/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.rename/1: changes of identifiers. */
#ifndef SEARCHLIGHT_HOST_RENAME_H
#define SEARCHLIGHT_HOST_RENAME_H

#include "../basics.h"
#include "../host.h"
#include "batch.h"
#include "index.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes the identifiers of items. A renamed item keeps its dates, its text, its domain and its
 * internal number, to which its usage history belongs. Use it if identifiers contain a location,
 * such as a path. Donate the item again afterwards if its attributes have changed too.
 *
 *   - new_identifiers[i] is the new identifier of the item identifiers[i]. All renames of a call
 *     are made at once, so two items can swap their identifiers.
 *   - An item that already has a new identifier is replaced, with its number, unless the same call
 *     renames it.
 *   - An item that is not in the index is skipped.
 *   - Items that depend on a renamed item (relatedUniqueIdentifier) then depend on its new
 *     identifier.
 *
 * Returns SEARCHLIGHT_INVALID_ARGUMENT if a new identifier is empty or longer than 4096 bytes, or
 * if an identifier or a new one occurs twice. Returns SEARCHLIGHT_TOO_LARGE for more than 524,287
 * items or 32 MiB. Nothing is renamed then.
 *
 * Hosts of version 0.1 lack this interface: delete and donate instead. */
#define SEARCHLIGHT_HOST_RENAME "searchlight.rename/1"
typedef struct searchlight_host_rename {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Renames items in the index of the extension's bundle, all or none.
     *
     * index_name: nullable, the default index; at most 4096 bytes.
     * identifiers, new_identifiers: nullable if count is 0; count texts each.
     * completion, context: nullable; as in searchlight/host/index.h.
     * Time: may block the caller while 8 requests are in progress. [thread-safe] */
    searchlight_status (*rename_items)(const searchlight_host *host, const char *index_name,
                                       const char *const *identifiers, const char *const *new_identifiers, size_t count,
                                       searchlight_completion completion, void *context);
    /* Renames items as a change at the end of a batch of searchlight.batch. Also returns
     * SEARCHLIGHT_TOO_LARGE, and leaves the batch unchanged, if the batch would exceed 32 MiB.
     *
     * identifiers, new_identifiers: nullable if count is 0; count texts each.
     * Time: at once. [one thread at a time] */
    searchlight_status (*rename_in_batch)(searchlight_batch *batch, const char *const *identifiers,
                                          const char *const *new_identifiers, size_t count);
} searchlight_host_rename;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_RENAME_H */
