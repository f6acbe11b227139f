/* SPDX-License-Identifier: Apache-2.0 */
/* A complete extension in C: two recipes that can be searched, and dragged as plain text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "searchlight_extension.h"

static const char *const recipes[][3] = {
    {"pancakes", "Pancakes", "flour, milk, eggs"},
    {"rice-pudding", "Rice pudding", "rice, milk, cinnamon"},
};
enum { recipe_count = sizeof recipes / sizeof recipes[0] };

struct searchlight_extension {
    const searchlight_host *host;
    const searchlight_host_request *requests;
    const searchlight_host_items *items;
    const searchlight_host_index *index;
};

/* The context of a completion, which finishes the request. */
struct pending {
    searchlight_extension *extension;
    searchlight_request request;
};

static void donated(void *context, searchlight_status status, const char *message) {
    struct pending *pending = context;
    searchlight_extension *self = pending->extension;
    self->requests->finish(self->host, pending->request, status, message);
    free(pending);
}

/* Returns the item of a recipe, which the caller releases; NULL if the host refuses a part. */
static searchlight_item *recipe_item(const searchlight_extension *self, const char *const recipe[3]) {
    static const char *const types[] = {"public.utf8-plain-text"};
    const searchlight_host_items *items = self->items;
    searchlight_item *item = items->create(self->host, recipe[0], "desserts", "public.plain-text");
    if (item != NULL && items->set_string(item, "title", recipe[1]) == SEARCHLIGHT_OK &&
        items->set_string(item, "textContent", recipe[2]) == SEARCHLIGHT_OK &&
        items->set_strings(item, "providerDataTypeIdentifiers", types, 1) == SEARCHLIGHT_OK &&
        items->set_expiration(item, INFINITY) == SEARCHLIGHT_OK) /* otherwise it is gone after 30 days */
        return item;
    items->release(item);
    return NULL;
}

static void reindex_all(searchlight_extension *self, searchlight_request request) {
    struct pending *pending = malloc(sizeof *pending);
    if (pending == NULL) {
        self->requests->finish(self->host, request, SEARCHLIGHT_FAILED, "out of memory");
        return;
    }
    *pending = (struct pending){self, request};
    searchlight_item *items[recipe_count];
    int count = 0;
    while (count < recipe_count && (items[count] = recipe_item(self, recipes[count])) != NULL) count++;
    /* The acknowledgement deletes items that are not donated again. Until then, searches find
     * all. */
    searchlight_status status = count < recipe_count ? SEARCHLIGHT_FAILED
                                                     : self->index->delete_all(self->host, NULL, NULL, NULL);
    /* `donated` finishes the request once the items are durable. */
    if (status == SEARCHLIGHT_OK)
        status = self->index->index_items(self->host, NULL, items, recipe_count, donated, pending);
    if (status != SEARCHLIGHT_OK) donated(pending, status, "the donation was not sent");
    while (count > 0) self->items->release(items[--count]);
}

/* Donates all items, because there are only two. */
static void reindex_items(searchlight_extension *self, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    (void)identifiers, (void)count;
    reindex_all(self, request);
}

static void provide_data(searchlight_extension *self, searchlight_request request, const char *item,
                         const char *type) {
    if (strcmp(type, "public.utf8-plain-text") != 0) {
        self->requests->finish(self->host, request, SEARCHLIGHT_UNSUPPORTED, "recipes are plain text");
        return;
    }
    for (int i = 0; i < recipe_count; i++) {
        if (strcmp(item, recipes[i][0]) != 0) continue;
        self->requests->finish_with_data(self->host, request, recipes[i][2], strlen(recipes[i][2]));
        return;
    }
    self->requests->finish(self->host, request, SEARCHLIGHT_NOT_FOUND, "there is no such recipe");
}

static void provide_file(searchlight_extension *self, searchlight_request request, const char *item, const char *type,
                         int32_t in_place) {
    (void)item, (void)type, (void)in_place;
    self->requests->finish(self->host, request, SEARCHLIGHT_UNSUPPORTED, "recipes are not files");
}

static searchlight_status create(const searchlight_host *host, searchlight_extension **extension, char *error,
                                 size_t error_capacity) {
    static struct searchlight_extension self; /* one for each worker process */
    self.host = host;
    self.requests = host->get_interface(host, SEARCHLIGHT_HOST_REQUEST);
    self.items = host->get_interface(host, SEARCHLIGHT_HOST_ITEMS);
    self.index = host->get_interface(host, SEARCHLIGHT_HOST_INDEX);
    if (self.requests == NULL || self.items == NULL || self.index == NULL) {
        snprintf(error, error_capacity, "this host is too old for the recipes");
        return SEARCHLIGHT_UNSUPPORTED;
    }
    *extension = &self;
    return SEARCHLIGHT_OK;
}

static void destroy(searchlight_extension *self) { (void)self; }

static const void *get_interface(searchlight_extension *self, const char *identifier) {
    static const searchlight_extension_reindex reindex = {sizeof reindex, 0, reindex_all, reindex_items};
    static const searchlight_extension_promises promises = {sizeof promises, 0, provide_data, provide_file};
    (void)self;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_REINDEX) == 0) return &reindex;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PROMISES) == 0) return &promises;
    return NULL; /* previews: the host shows the attributes */
}

/* The only exported symbol. */
SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void) {
    static const searchlight_extension_entry entry = {
        sizeof entry, SEARCHLIGHT_ABI_MAJOR, SEARCHLIGHT_ABI_MINOR, 0, "com.example.recipes",
        create,       destroy,               get_interface};
    return &entry;
}
