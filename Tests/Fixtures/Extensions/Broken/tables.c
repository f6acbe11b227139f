/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: declares incorrectly what it is and supports, in a way that the definitions select. Uses
 * no other fixture code. */
#include <string.h>

#include "searchlight_extension.h"

static __attribute__((unused)) searchlight_status create(const searchlight_host *host,
                                                         searchlight_extension **extension, char *error,
                                                         size_t capacity) {
    (void)host;
    (void)extension;
#if defined(CREATE_FILLS_ERROR)
    /* Text without a terminator. */
    memset(error, 'x', capacity);
    return SEARCHLIGHT_UNAVAILABLE;
#elif defined(CREATE_MALFORMED_ERROR)
    (void)capacity;
    memcpy(error, "\xff\xfe\x1b[2J", 7);
    return 4711;
#elif defined(CREATE_SILENT)
    (void)error;
    (void)capacity;
    return SEARCHLIGHT_FAILED;
#else
    (void)error;
    (void)capacity;
    return SEARCHLIGHT_OK;
#endif
}

static __attribute__((unused)) const void *get_interface(searchlight_extension *extension, const char *identifier) {
    (void)extension;
#if defined(EMPTY_TABLES)
    static const searchlight_extension_reindex reindex = {sizeof(searchlight_extension_reindex), 0, NULL, NULL};
    static const searchlight_extension_promises promises = {sizeof(searchlight_extension_promises), 0, NULL, NULL};
    static const searchlight_extension_preview preview = {sizeof(searchlight_extension_preview), 0, NULL};
    static const searchlight_extension_throttle throttle = {sizeof(searchlight_extension_throttle), 0, NULL, NULL};
    static const searchlight_extension_paging paging = {sizeof(searchlight_extension_paging), 0, NULL};
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_REINDEX) == 0) return &reindex;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PROMISES) == 0) return &promises;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PREVIEW) == 0) return &preview;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_THROTTLE) == 0) return &throttle;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PAGING) == 0) return &paging;
    return NULL;
#elif defined(SHORT_TABLES)
    static const uint32_t small[2] = {8, 0};
    (void)identifier;
    return small;
#elif defined(TABLES_OF_NOWHERE)
    (void)identifier;
    return (const void *)(uintptr_t)16;
#else
    (void)identifier;
    return NULL;
#endif
}

#if !defined(ENTRY_SIZE)
#define ENTRY_SIZE sizeof(searchlight_extension_entry)
#endif
#if !defined(ENTRY_IDENTIFIER)
#define ENTRY_IDENTIFIER NULL
#endif
#if !defined(ENTRY_MAJOR)
#define ENTRY_MAJOR SEARCHLIGHT_ABI_MAJOR
#endif

SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void) {
#if defined(NO_ENTRY)
    return NULL;
#elif defined(ENTRY_OF_NOWHERE)
    return (const searchlight_extension_entry *)(uintptr_t)24;
#else
    static const searchlight_extension_entry entry = {ENTRY_SIZE, ENTRY_MAJOR, SEARCHLIGHT_ABI_MINOR, 0,
                                                      ENTRY_IDENTIFIER,
#if defined(NO_FUNCTIONS)
                                                      NULL, NULL, NULL};
#else
                                                      create, NULL, get_interface};
#endif
    return &entry;
#endif
}
