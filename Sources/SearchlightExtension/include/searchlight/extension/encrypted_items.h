/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.encrypted-items/1: items of encrypted indexes. */
#ifndef SEARCHLIGHT_EXTENSION_ENCRYPTED_ITEMS_H
#define SEARCHLIGHT_EXTENSION_ENCRYPTED_ITEMS_H

#include "../basics.h"
#include "../entry.h"
#include "../host/protection.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Donates items of encrypted indexes again. Hosts of version 0.1 never use this interface. From an
 * extension without it, the host requests these items with reindex_items. */
#define SEARCHLIGHT_EXTENSION_ENCRYPTED_ITEMS "searchlight.encrypted-items/1"
typedef struct searchlight_extension_encrypted_items {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Donates each of these items to the encrypted index again, or deletes it there; then finishes
     * once the last change is durable. The host only asks while the user has unlocked the store.
     * The store may be locked during the request. Donations to an index with the class
     * SEARCHLIGHT_CLASS_COMPLETE are then rejected, so finish with SEARCHLIGHT_UNAVAILABLE. The
     * host asks again after the next unlock. The class of the index is set as by set_class. The
     * host records neither the identifiers nor the message of an unsuccessful answer.
     *
     * index_name: 1 to 4096 bytes, valid until the function returns.
     * protection_class: the class of the index; never SEARCHLIGHT_CLASS_NONE.
     * identifiers: 1 to 256 texts, valid until the function returns.
     * Answer with finish. Time limit: 30 min. [request-thread] */
    void (*reindex_encrypted_items)(searchlight_extension *extension, searchlight_request request,
                                    const char *index_name, searchlight_protection_class protection_class,
                                    const char *const *identifiers, size_t count);
} searchlight_extension_encrypted_items;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_EXTENSION_ENCRYPTED_ITEMS_H */
