/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.promises/1: the data and files of items. */
#ifndef SEARCHLIGHT_EXTENSION_PROMISES_H
#define SEARCHLIGHT_EXTENSION_PROMISES_H

#include "../basics.h"
#include "../entry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Converts an item to one of the types that it promised when it was donated (attributes
 * providerDataTypeIdentifiers, providerFileTypeIdentifiers, providerInPlaceFileTypeIdentifiers).
 * The user is waiting, so answer quickly. */
#define SEARCHLIGHT_EXTENSION_PROMISES "searchlight.promises/1"
typedef struct searchlight_extension_promises {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Requests data.
     *
     * item_identifier, type_identifier: valid until the function returns.
     * Answer with finish_with_data, or with finish for a failure. Time limit: 1 min.
     * [request-thread] */
    void (*provide_data)(searchlight_extension *extension, searchlight_request request, const char *item_identifier,
                         const char *type_identifier);
    /* Requests a file.
     *
     * item_identifier, type_identifier: valid until the function returns.
     * in_place: not 0 for the original, 0 for a copy.
     * Answer with finish_with_file, or with finish for a failure. Time limit: 1 min.
     * [request-thread] */
    void (*provide_file)(searchlight_extension *extension, searchlight_request request, const char *item_identifier,
                         const char *type_identifier, int32_t in_place);
} searchlight_extension_promises;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_EXTENSION_PROMISES_H */
