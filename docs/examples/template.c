/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A complete Searchlight extension in C (C99, C11 or C++17) as a starting point. It reindexes with
 * progress and cancellation, fulfils a promise and renders a preview. Replace the list of things
 * and their texts.
 *
 *   cc -shared -fPIC $(pkg-config --cflags searchlight-extension) template.c -o com.example.template.searchext/template.so
 */
#include <stdio.h>
#include <string.h>

#include "searchlight_extension.h"

struct searchlight_extension {
    const searchlight_host *host;
    const searchlight_host_request *requests;
    const searchlight_host_items *items;
    const searchlight_host_index *index;
    const searchlight_host_cancel *cancel;
    const searchlight_host_progress *progress;
};
static struct searchlight_extension self; /* a worker loads one extension, so one object is enough */

static const char *const things[][3] = {
    /* identifier, title, text */
    {"tea", "Tea", "Pour boiling water over the leaves; wait for four minutes."},
    {"toast", "Toast", "Bread, heat, butter: in this order."},
};
enum { thing_count = sizeof things / sizeof things[0] };

static const char *const *find(const char *identifier) {
    for (size_t i = 0; i < thing_count; i++)
        if (strcmp(things[i][0], identifier) == 0) return things[i];
    return NULL;
}

/* Acknowledges a reindex once all items are durable, or fails it. The context is the request's
 * number. */
static void donated(void *context, searchlight_status status, const char *message) {
    self.requests->finish(self.host, (searchlight_request)(size_t)context, status, message);
}

/* Returns the item of a thing, which the caller releases; NULL if the host refuses a part. */
static searchlight_item *item_of(const char *const *thing) {
    static const char *const promised[] = {"public.utf8-plain-text"};
    searchlight_item *item = self.items->create(self.host, thing[0], "kitchen", "public.plain-text");
    if (item != NULL && self.items->set_string(item, "title", thing[1]) == SEARCHLIGHT_OK &&
        self.items->set_string(item, "textContent", thing[2]) == SEARCHLIGHT_OK &&
        self.items->set_strings(item, "providerDataTypeIdentifiers", promised, 1) == SEARCHLIGHT_OK)
        return item;
    self.items->release(item);
    return NULL;
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    searchlight_item *items[thing_count];
    size_t count = 0;
    void *context = (void *)(size_t)request;
    searchlight_status status = SEARCHLIGHT_OK;
    (void)extension;
    while (count < thing_count && status == SEARCHLIGHT_OK) {
        items[count] = item_of(things[count]);
        if (items[count] == NULL)
            status = SEARCHLIGHT_FAILED;
        else if (self.cancel->is_cancelled(self.host, request))
            status = SEARCHLIGHT_CANCELLED;
        if (items[count] != NULL) count++;
        self.progress->report(self.host, request, count, thing_count);
    }
    /* The acknowledgement deletes items that are not donated again. Until then, searches find
     * all. */
    if (status == SEARCHLIGHT_OK) status = self.index->delete_all(self.host, NULL, NULL, NULL);
    if (status == SEARCHLIGHT_OK) status = self.index->index_items(self.host, NULL, items, count, donated, context);
    if (status != SEARCHLIGHT_OK) donated(context, status, "the donation was not sent");
    while (count > 0) self.items->release(items[--count]);
}

/* Donates all items, because there are few. With more, donate the named items, and delete those
 * that are gone. */
static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    (void)identifiers, (void)count;
    reindex_all(extension, request);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    const char *const *thing = find(item);
    (void)extension;
    if (strcmp(type, "public.utf8-plain-text") != 0)
        self.requests->finish(self.host, request, SEARCHLIGHT_UNSUPPORTED, "only plain text is promised");
    else if (thing == NULL)
        self.requests->finish(self.host, request, SEARCHLIGHT_NOT_FOUND, "there is no such thing");
    else
        self.requests->finish_with_data(self.host, request, thing[2], strlen(thing[2]));
}

static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place) {
    (void)extension, (void)item, (void)type, (void)in_place;
    self.requests->finish(self.host, request, SEARCHLIGHT_UNSUPPORTED, "no files are promised");
}

static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    const char *const *thing = find(item);
    char html[1024];
    searchlight_preview_reply reply = {sizeof reply, 0, "public.html", NULL, html, 0, 0, 0, NULL};
    (void)extension, (void)query, (void)content_path;
    if (thing == NULL) {
        self.requests->finish(self.host, request, SEARCHLIGHT_NOT_FOUND, "there is no such thing");
        return;
    }
    snprintf(html, sizeof html, "<h1>%s</h1><p>%s", thing[1], thing[2]); /* escape texts of others */
    reply.length = strlen(html);
    self.requests->finish_with_preview(self.host, request, &reply);
}

static searchlight_status create(const searchlight_host *host, searchlight_extension **extension, char *error,
                                 size_t error_capacity) {
    self.host = host;
    self.requests = (const searchlight_host_request *)host->get_interface(host, SEARCHLIGHT_HOST_REQUEST);
    self.items = (const searchlight_host_items *)host->get_interface(host, SEARCHLIGHT_HOST_ITEMS);
    self.index = (const searchlight_host_index *)host->get_interface(host, SEARCHLIGHT_HOST_INDEX);
    self.cancel = (const searchlight_host_cancel *)host->get_interface(host, SEARCHLIGHT_HOST_CANCEL);
    self.progress = (const searchlight_host_progress *)host->get_interface(host, SEARCHLIGHT_HOST_PROGRESS);
    if (!self.requests || !self.items || !self.index || !self.cancel || !self.progress) {
        snprintf(error, error_capacity, "this host is too old");
        return SEARCHLIGHT_UNSUPPORTED;
    }
    *extension = &self;
    return SEARCHLIGHT_OK;
}

static void destroy(searchlight_extension *extension) { (void)extension; }

static const void *get_interface(searchlight_extension *extension, const char *identifier) {
    static const searchlight_extension_reindex reindex = {sizeof reindex, 0, reindex_all, reindex_items};
    static const searchlight_extension_promises promises = {sizeof promises, 0, provide_data, provide_file};
    static const searchlight_extension_preview previews = {sizeof previews, 0, preview};
    (void)extension;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_REINDEX) == 0) return &reindex;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PROMISES) == 0) return &promises;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PREVIEW) == 0) return &previews;
    return NULL;
}

/* The only exported symbol. */
#ifdef __cplusplus
extern "C"
#endif
SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void) {
    static const searchlight_extension_entry entry = {
        sizeof entry, SEARCHLIGHT_ABI_MAJOR, SEARCHLIGHT_ABI_MINOR, 0, "com.example.template",
        create,       destroy,               get_interface};
    return &entry;
}
