/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.protection/1: encrypted indexes. */
#ifndef SEARCHLIGHT_HOST_PROTECTION_H
#define SEARCHLIGHT_HOST_PROTECTION_H

#include "../basics.h"
#include "../host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The protection class of an index. */
typedef int32_t searchlight_protection_class;
SEARCHLIGHT_CONSTANTS(int32_t) {
    SEARCHLIGHT_CLASS_NONE = 0,                 /* not encrypted */
    SEARCHLIGHT_CLASS_COMPLETE_UNLESS_OPEN = 1, /* encrypted; accepts donations while locked */
    SEARCHLIGHT_CLASS_COMPLETE = 2,             /* encrypted; rejects donations while locked */
};

/* The maximum number of encrypted indexes of a worker. */
#define SEARCHLIGHT_PROTECTED_MAX 256u

/* Encrypts indexes of the extension's bundle. Items of an encrypted index can be found and read
 * only while the user has unlocked the store (“searchlight unlock”). Hosts of version 0.1 lack this
 * interface and cannot encrypt: do not donate items that must be encrypted. */
#define SEARCHLIGHT_HOST_PROTECTION "searchlight.protection/1"
typedef struct searchlight_host_protection {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Sets the class of a named index for all later donations of this worker. The first donation
     * makes the index encrypted. It fails with SEARCHLIGHT_UNAVAILABLE while the store is locked,
     * and with SEARCHLIGHT_FAILED if the index has items without encryption.
     *
     * Returns SEARCHLIGHT_INVALID_ARGUMENT for an empty name and for a class without a constant,
     * and SEARCHLIGHT_TOO_LARGE for a longer name and for more than SEARCHLIGHT_PROTECTED_MAX
     * encrypted indexes.
     *
     * index_name: 1 to 4096 bytes.
     * Time: at once. [thread-safe] */
    searchlight_status (*set_class)(const searchlight_host *host, const char *index_name,
                                    searchlight_protection_class protection_class);
} searchlight_host_protection;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_PROTECTION_H */
