/* SPDX-License-Identifier: Apache-2.0 */
/* The least that an extension of revision 1 can be: one interface, one item, no name. Never changed; see everything.c. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "searchlight_extension_1.h"

static const searchlight_host *host;

static void done(void *context, searchlight_status status, const char *message) {
    const searchlight_host_request *requests = host->get_interface(host, SEARCHLIGHT_HOST_REQUEST);
    requests->finish(host, (searchlight_request)(uintptr_t)context, status, message);
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    const searchlight_host_items *items = host->get_interface(host, SEARCHLIGHT_HOST_ITEMS);
    const searchlight_host_index *index = host->get_interface(host, SEARCHLIGHT_HOST_INDEX);
    searchlight_item *item = items->create(host, "only", NULL, NULL);
    (void)extension;
    items->set_string(item, "title", "The only one");
    index->delete_all(host, NULL, NULL, NULL);
    index->index_items(host, NULL, &item, 1, done, (void *)(uintptr_t)request);
    items->release(item);
}

static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    (void)identifiers, (void)count;
    reindex_all(extension, request);
}

static searchlight_status create(const searchlight_host *given, searchlight_extension **extension, char *error,
                                 size_t error_capacity) {
    (void)error, (void)error_capacity;
    host = given;
    *extension = NULL;
    return SEARCHLIGHT_OK;
}

static void destroy(searchlight_extension *extension) { (void)extension; }

static const void *get_interface(searchlight_extension *extension, const char *identifier) {
    static const searchlight_reindex reindex = {sizeof reindex, 0, reindex_all, reindex_items};
    (void)extension;
    return strcmp(identifier, SEARCHLIGHT_REINDEX) == 0 ? &reindex : NULL;
}

SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void) {
    static const searchlight_extension_entry entry = {
        sizeof entry, SEARCHLIGHT_ABI_MAJOR, SEARCHLIGHT_ABI_MINOR, 0, NULL, create, destroy, get_interface};
    return &entry;
}
