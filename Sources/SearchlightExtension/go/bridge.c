/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that the host calls, and the library's entry point. Each function calls its
 * counterpart in exports.go, where it waits until the Go runtime has started.
 */
#include <string.h>

#include "_cgo_export.h"
#include "bridge.h"

static uintptr_t handle_of(searchlight_extension *extension) { return (uintptr_t)extension; }

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    searchlightReindexAll(handle_of(extension), request);
}
static void reindex_items(searchlight_extension *extension, searchlight_request request,
                          const char *const *identifiers, size_t count) {
    searchlightReindexItems(handle_of(extension), request, (char **)(uintptr_t)identifiers, count);
}
static void reindex_page(searchlight_extension *extension, searchlight_request request, const searchlight_page *page) {
    searchlightReindexPage(handle_of(extension), request, (searchlight_page *)(uintptr_t)page);
}
static void update_files(searchlight_extension *extension, searchlight_request request,
                         const searchlight_change *const *changes, size_t count) {
    searchlightUpdateFiles(handle_of(extension), request, (searchlight_change **)(uintptr_t)changes, count);
}
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    searchlightProvideData(handle_of(extension), request, (char *)(uintptr_t)item, (char *)(uintptr_t)type);
}
static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place) {
    searchlightProvideFile(handle_of(extension), request, (char *)(uintptr_t)item, (char *)(uintptr_t)type, in_place);
}
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    searchlightPreview(handle_of(extension), request, (char *)(uintptr_t)item, (char *)(uintptr_t)query,
                       (char *)(uintptr_t)content_path);
}
static void did_throttle(searchlight_extension *extension, const searchlight_throttle_notice *notice) {
    searchlightDidThrottle(handle_of(extension), notice->reason, notice->items_per_second);
}
static void did_finish_throttle(searchlight_extension *extension) {
    searchlightDidFinishThrottle(handle_of(extension));
}

static const searchlight_extension_reindex reindex_table = {sizeof(searchlight_extension_reindex), 0,
                                                           reindex_all, reindex_items};
static const searchlight_extension_paging paging_table = {sizeof(searchlight_extension_paging), 0, reindex_page};
static const searchlight_extension_changes changes_table = {sizeof(searchlight_extension_changes), 0, update_files};
static const searchlight_extension_promises promises_table = {sizeof(searchlight_extension_promises), 0,
                                                             provide_data, provide_file};
static const searchlight_extension_preview preview_table = {sizeof(searchlight_extension_preview), 0, preview};
static const searchlight_extension_throttle throttle_table = {sizeof(searchlight_extension_throttle), 0,
                                                             did_throttle, did_finish_throttle};

/* In the order of the constants in exports.go. */
static const struct {
    const char *identifier;
    const void *table;
} interfaces[] = {
    {SEARCHLIGHT_EXTENSION_REINDEX, &reindex_table},
    {SEARCHLIGHT_EXTENSION_PAGING, &paging_table},
    {SEARCHLIGHT_EXTENSION_CHANGES, &changes_table},
    {SEARCHLIGHT_EXTENSION_PROMISES, &promises_table},
    {SEARCHLIGHT_EXTENSION_PREVIEW, &preview_table},
    {SEARCHLIGHT_EXTENSION_THROTTLE, &throttle_table},
};

static const void *get_interface(searchlight_extension *extension, const char *identifier) {
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++)
        if (strcmp(interfaces[i].identifier, identifier) == 0)
            return searchlightServes(handle_of(extension), (int)i) ? interfaces[i].table : NULL;
    return NULL;
}

static searchlight_status create(const searchlight_host *host, searchlight_extension **extension, char *error,
                                 size_t capacity) {
    uintptr_t handle = 0;
    searchlight_status status = searchlightCreate((searchlight_host *)(uintptr_t)host, &handle, error, capacity);
    *extension = (searchlight_extension *)handle;
    return status;
}

static void destroy(searchlight_extension *extension) { searchlightDestroy(handle_of(extension)); }

void searchlight_go_completed(void *context, searchlight_status status, const char *message) {
    searchlightCompleted((uintptr_t)context, status, (char *)(uintptr_t)message);
}
void searchlight_go_state_read(void *context, searchlight_status status, const char *message, const void *state,
                               size_t length) {
    searchlightStateRead((uintptr_t)context, status, (char *)(uintptr_t)message, (void *)(uintptr_t)state, length);
}
void searchlight_go_listed(void *context, searchlight_status status, const char *message,
                           const char *const *identifiers, size_t count) {
    searchlightListed((uintptr_t)context, status, (char *)(uintptr_t)message, (char **)(uintptr_t)identifiers, count);
}

static const searchlight_extension_entry entry = {
    .size = sizeof entry,
    .abi_major = SEARCHLIGHT_ABI_MAJOR,
    .abi_minor = SEARCHLIGHT_ABI_MINOR,
    .create = create,
    .destroy = destroy,
    .get_interface = get_interface,
};

SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void);
const searchlight_extension_entry *searchlight_extension_entry_point(void) { return &entry; }
