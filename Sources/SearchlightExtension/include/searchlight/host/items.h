/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.items/1: items to donate. */
#ifndef SEARCHLIGHT_HOST_ITEMS_H
#define SEARCHLIGHT_HOST_ITEMS_H

#include "../basics.h"
#include "../host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An item that the extension builds, and owns until it is released. Used by one thread at a
 * time. */
typedef struct searchlight_item searchlight_item;

/* Builds items to donate. Attributes have the names and units of CSSearchableItemAttributeSet
 * ("title", "textContent", ...): "fileSize" is in megabytes of 1,000,000 bytes, "duration" in
 * seconds.
 *
 * Each setter copies the value, and replaces the attribute. It returns SEARCHLIGHT_OK or
 * SEARCHLIGHT_INVALID_ARGUMENT. The size of an item is checked when it is added to a donation or a
 * batch: at most 16 MiB with all its attributes, 1024 attributes, and 4096 bytes in each name. */
#define SEARCHLIGHT_HOST_ITEMS "searchlight.items/1"
typedef struct searchlight_host_items {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Creates an item. The caller owns it and must release it.
     *
     * unique_identifier: 1 to 4096 bytes.
     * domain_identifier: nullable, dotted ("account.mailbox"); at most 4096 bytes.
     * content_type: nullable, a uniform type identifier.
     * Returns NULL for an invalid argument, and if 1,048,576 items are not released.
     * Time: at once. [thread-safe] */
    searchlight_item *(*create)(const searchlight_host *host, const char *unique_identifier,
                                const char *domain_identifier, const char *content_type);
    /* Sets a text. name: 1 to 4096 bytes. value: at most 16 MiB with the rest of the item.
     * Time: at once. [thread-safe; one thread per item] */
    searchlight_status (*set_string)(searchlight_item *item, const char *name, const char *value);
    /* Sets an array of texts. name: 1 to 4096 bytes. values: nullable if count is 0; no element is
     * NULL. Time: at once. [thread-safe; one thread per item] */
    searchlight_status (*set_strings)(searchlight_item *item, const char *name, const char *const *values,
                                      size_t count);
    /* Sets an integer. name: 1 to 4096 bytes. Time: at once. [thread-safe; one thread per item] */
    searchlight_status (*set_integer)(searchlight_item *item, const char *name, int64_t value);
    /* Sets a number. name: 1 to 4096 bytes. Time: at once. [thread-safe; one thread per item] */
    searchlight_status (*set_number)(searchlight_item *item, const char *name, double value);
    /* Sets a truth value: 0, or any other number for true. name: 1 to 4096 bytes. Time: at once.
     * [thread-safe; one thread per item] */
    searchlight_status (*set_boolean)(searchlight_item *item, const char *name, int32_t value);
    /* Sets a date, in seconds since 1970-01-01 UTC. name: 1 to 4096 bytes. Time: at once.
     * [thread-safe; one thread per item] */
    searchlight_status (*set_date)(searchlight_item *item, const char *name, double unix_seconds);
    /* Sets bytes. name: 1 to 4096 bytes. bytes: nullable if length is 0; at most 16 MiB with the
     * rest of the item. Time: at once. [thread-safe; one thread per item] */
    searchlight_status (*set_data)(searchlight_item *item, const char *name, const void *bytes, size_t length);
    /* Sets the time of expiration, in seconds since 1970-01-01 UTC; INFINITY for never; not NaN. By
     * default, it is one month after the donation.
     *
     * Time: at once. [thread-safe; one thread per item] */
    searchlight_status (*set_expiration)(searchlight_item *item, double unix_seconds);
    /* Releases an item. A donation or a batch keeps its own copy. item: nullable. Time: at once.
     * [thread-safe; one thread per item] */
    void (*release)(searchlight_item *item);
} searchlight_host_items;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_ITEMS_H */
