/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: throws a C++ exception out of its callback, through frames that do not support
 * exceptions. */
#include <cstring>
#include <stdexcept>

#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *, searchlight_request) { throw std::runtime_error("thrown away"); }

static void reindex_items(searchlight_extension *, searchlight_request, const char *const *, size_t) { throw 42; }

static searchlight_status create(const searchlight_host *, searchlight_extension **, char *, size_t) {
#ifdef IN_CREATE
    throw std::runtime_error("thrown away while it is made");
#else
    return SEARCHLIGHT_OK;
#endif
}

static const void *get_interface(searchlight_extension *, const char *identifier) {
    static const searchlight_extension_reindex table = {sizeof table, 0, reindex_all, reindex_items};
    return std::strcmp(identifier, SEARCHLIGHT_EXTENSION_REINDEX) == 0 ? &table : nullptr;
}

extern "C" SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point() {
    static const searchlight_extension_entry entry = {
        sizeof entry, SEARCHLIGHT_ABI_MAJOR, SEARCHLIGHT_ABI_MINOR, 0, nullptr, create, nullptr, get_interface};
    return &entry;
}
