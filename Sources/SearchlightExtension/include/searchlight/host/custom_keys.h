/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.custom-keys/1: search traits of custom attributes. */
#ifndef SEARCHLIGHT_HOST_CUSTOM_KEYS_H
#define SEARCHLIGHT_HOST_CUSTOM_KEYS_H

#include "../basics.h"
#include "items.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sum of traits. */
typedef uint32_t searchlight_key_traits;
SEARCHLIGHT_CONSTANTS(uint32_t) {
    SEARCHLIGHT_KEY_SEARCHABLE = 1u,            /* found by searches; otherwise only stored */
    SEARCHLIGHT_KEY_SEARCHABLE_BY_DEFAULT = 2u, /* also by queries that name no attribute */
    SEARCHLIGHT_KEY_UNIQUE = 4u,                /* many items share few values; no effect yet */
    SEARCHLIGHT_KEY_MULTI_VALUED = 8u,          /* the value is an array; no effect yet */
};

/* Sets the search traits of custom attributes (CSCustomAttributeKey). Without traits, only queries
 * that name an attribute find it. */
#define SEARCHLIGHT_HOST_CUSTOM_KEYS "searchlight.custom-keys/1"
typedef struct searchlight_host_custom_keys {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Sets the traits of an attribute, before or after its value. They belong to the value and have
     * no effect without one.
     *
     * name: 1 to 4096 ASCII letters, digits and '_', not starting with "kMD".
     * Returns SEARCHLIGHT_INVALID_ARGUMENT for an invalid name, and for traits without a constant.
     * Time: at once. [thread-safe; one thread per item] */
    searchlight_status (*set_traits)(searchlight_item *item, const char *name, searchlight_key_traits traits);
} searchlight_host_custom_keys;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_CUSTOM_KEYS_H */
