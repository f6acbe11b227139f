/* SPDX-License-Identifier: Apache-2.0 */
/* Donates requested items with a title that names the request: “named INDEX CLASS” through
 * searchlight.encrypted-items/1, and “unnamed” through searchlight.reindex/1, to the index “health”.
 * With ONLY_REINDEX, it has only the second interface. It crashes when it has to provide data. */
#include <stdint.h>

#include "searchlight_extension.h"

static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count);
static void reindex_encrypted(searchlight_extension *extension, searchlight_request request, const char *index_name,
                              searchlight_protection_class protection_class, const char *const *identifiers,
                              size_t count);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
#define FIXTURE_REINDEX_ITEMS reindex_items
#define FIXTURE_PROVIDE_DATA provide_data
#ifndef ONLY_REINDEX
#define FIXTURE_REINDEX_ENCRYPTED reindex_encrypted
#endif
#include "fixture.h"

static void donate(searchlight_request request, const char *index_name, const char *title,
                   const char *const *identifiers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        searchlight_item *item = fixture_items->create(fixture_host, identifiers[i], NULL, "public.plain-text");
        const char *data_types[] = {"public.html"};
        fixture_items->set_string(item, "title", title);
        fixture_items->set_strings(item, "providerDataTypeIdentifiers", data_types, 1);
        if (fixture_index->index_items(fixture_host, index_name, &item, 1, i + 1 == count ? fixture_acknowledge : NULL,
                                       (void *)(uintptr_t)request) != SEARCHLIGHT_OK)
            abort();
        fixture_items->release(item);
    }
    if (count == 0) fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    (void)request;
    (void)item;
    (void)type;
    abort();
}

static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    (void)extension;
    donate(request, "health", "unnamed", identifiers, count);
}

static inline void reindex_encrypted(searchlight_extension *extension, searchlight_request request,
                                     const char *index_name, searchlight_protection_class protection_class,
                                     const char *const *identifiers, size_t count) {
    (void)extension;
    char title[256];
    snprintf(title, sizeof title, "named %s %d", index_name, protection_class);
    donate(request, index_name, title, identifiers, count);
}
