/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses all of revision 1 of the interface, as its header was when that was released: searchlight_extension_1.h beside this
 * file is a copy that is never changed, and neither is this file. Whatever a host becomes, it must serve what was built
 * from them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "searchlight_extension_1.h"

static const searchlight_host *host;
static const searchlight_host_request *requests;
static const searchlight_host_cancel *cancels;
static const searchlight_host_progress *progress;
static const searchlight_host_thread_check *threads;
static const searchlight_host_items *items;
static const searchlight_host_custom_keys *keys;
static const searchlight_host_index *index_table;
static const searchlight_host_batch *batches;
static const searchlight_host_log *logger;

static void say(const char *text) { logger->log(host, SEARCHLIGHT_LOG_INFO, text); }

static searchlight_item *item(const char *identifier, const char *title) {
    static const char *const types[] = {"public.utf8-plain-text"};
    searchlight_item *made = items->create(host, identifier, "kept.one", "public.plain-text");
    items->set_string(made, "title", title);
    items->set_strings(made, "providerDataTypeIdentifiers", types, 1);
    items->set_strings(made, "providerFileTypeIdentifiers", types, 1);
    items->set_integer(made, "pageCount", 3);
    items->set_number(made, "rankingHint", 1.5);
    items->set_boolean(made, "userCreated", 1);
    items->set_date(made, "contentCreationDate", 978307200.0);
    items->set_data(made, "thumbnailData", "\x89PNG", 4);
    items->set_expiration(made, 32503680000.0);
    items->set_string(made, "com_example_kept", "spiral");
    keys->set_traits(made, "com_example_kept", SEARCHLIGHT_KEY_SEARCHABLE | SEARCHLIGHT_KEY_SEARCHABLE_BY_DEFAULT);
    return made;
}

/* ---- paging ---- */

static searchlight_request current;

static void second_page_done(void *context, searchlight_status status, const char *message, const void *state,
                             size_t length) {
    (void)context;
    if (status != SEARCHLIGHT_OK || length != 4 || memcmp(state, "kept", 4) != 0)
        requests->finish(host, current, SEARCHLIGHT_FAILED, message != NULL ? message : "another client state");
    else
        requests->finish_page(host, current, NULL, 0);
}

static void committed(void *context, searchlight_status status, const char *message) {
    if (status != SEARCHLIGHT_OK)
        requests->finish(host, current, status, message);
    else
        batches->read_state(host, "named", second_page_done, context);
}

static void first_page_done(void *context, searchlight_status status, const char *message) {
    (void)context;
    if (status != SEARCHLIGHT_OK)
        requests->finish(host, current, status, message);
    else
        requests->finish_page(host, current, "second", 6);
}

static void reindex_page(searchlight_extension *extension, searchlight_request request, const searchlight_page *page) {
    static const char *const gone[] = {"gone"};
    searchlight_item *made = NULL;
    (void)extension;
    current = request;
    if (page->size < sizeof *page || cancels->is_cancelled(host, request)) abort();
    if (page->cursor == NULL) {
        say("first page");
        progress->report(host, request, 1, 2);
        made = item("alpha", "Alpha kept");
        index_table->delete_items(host, NULL, gone, 1, NULL, NULL);
        index_table->delete_domains(host, NULL, gone, 1, NULL, NULL);
        index_table->index_items(host, NULL, &made, 1, first_page_done, NULL);
    } else {
        searchlight_batch *batch = batches->create(host);
        if (page->cursor_length != 6 || memcmp(page->cursor, "second", 6) != 0) abort();
        say("second page");
        progress->report(host, request, 2, 2);
        made = item("beta", "Beta kept");
        batches->delete_items(batch, gone, 1);
        batches->delete_domains(batch, gone, 1);
        batches->index_items(batch, &made, 1);
        batches->commit(host, "named", batch, "kept", 4, SEARCHLIGHT_EXPECT_ANY, NULL, 0, committed, NULL);
        batches->release(batch);
    }
    items->release(made);
}

/* ---- the rest ---- */

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    requests->finish(host, request, SEARCHLIGHT_FAILED, "a host that knows pages asks for them");
}

static void acknowledge(void *context, searchlight_status status, const char *message) {
    requests->finish(host, (searchlight_request)(uintptr_t)context, status, message);
}

static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    (void)extension;
    index_table->delete_items(host, NULL, identifiers, count, acknowledge, (void *)(uintptr_t)request);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *identifier,
                         const char *type) {
    (void)extension;
    if (strcmp(identifier, "alpha") == 0)
        requests->finish_with_data(host, request, type, strlen(type));
    else
        requests->finish(host, request, SEARCHLIGHT_NOT_FOUND, "only alpha is kept");
}

static void provide_file(searchlight_extension *extension, searchlight_request request, const char *identifier,
                         const char *type, int32_t in_place) {
    char path[4096];
    (void)extension, (void)identifier, (void)type, (void)in_place;
    snprintf(path, sizeof path, "%s/Info.plist", host->bundle_path);
    requests->finish_with_file(host, request, path, 0);
}

static void cancelled(void *context, searchlight_request request) {
    (void)context;
    requests->finish(host, request, SEARCHLIGHT_CANCELLED, "stopped");
}

static void preview(searchlight_extension *extension, searchlight_request request, const char *identifier,
                    const char *query, const char *content_path) {
    static const char html[] = "<p>kept <img src=\"cid:dot\">";
    searchlight_attachment dot = {sizeof dot, 0, "dot", "public.png", "\x89PNG", 4};
    const searchlight_attachment *attachments[1];
    searchlight_preview_reply reply = {sizeof reply, 1,           "public.html", "Kept", html,
                                       sizeof html - 1, 100, 100,           NULL};
    (void)extension, (void)query, (void)content_path;
    if (!threads->is_request_thread(host) || threads->is_main_thread(host) || threads->is_load_thread(host)) abort();
    if (strcmp(identifier, "alpha") != 0) {
        say("waits");
        cancels->set_handler(host, request, cancelled, NULL);
        return;
    }
    attachments[0] = &dot;
    reply.attachments = attachments;
    requests->finish_with_preview(host, request, &reply);
}

static void did_throttle(searchlight_extension *extension, const searchlight_throttle_notice *notice) {
    (void)extension;
    if (notice->size >= sizeof *notice) say(notice->reason == SEARCHLIGHT_THROTTLE_BATTERY ? "battery" : "other");
}

static void did_finish_throttle(searchlight_extension *extension) {
    (void)extension;
    say("faster");
}

static searchlight_status create(const searchlight_host *given, searchlight_extension **extension, char *error,
                                 size_t error_capacity) {
    host = given;
    requests = host->get_interface(host, SEARCHLIGHT_HOST_REQUEST);
    cancels = host->get_interface(host, SEARCHLIGHT_HOST_CANCEL);
    progress = host->get_interface(host, SEARCHLIGHT_HOST_PROGRESS);
    threads = host->get_interface(host, SEARCHLIGHT_HOST_THREAD_CHECK);
    items = host->get_interface(host, SEARCHLIGHT_HOST_ITEMS);
    keys = host->get_interface(host, SEARCHLIGHT_HOST_CUSTOM_KEYS);
    index_table = host->get_interface(host, SEARCHLIGHT_HOST_INDEX);
    batches = host->get_interface(host, SEARCHLIGHT_HOST_BATCH);
    logger = host->get_interface(host, SEARCHLIGHT_HOST_LOG);
    if (!requests || !cancels || !progress || !threads || !items || !keys || !index_table || !batches || !logger) {
        snprintf(error, error_capacity, "an interface of revision 1 is gone");
        return SEARCHLIGHT_UNSUPPORTED;
    }
    if (host->size < sizeof *host || requests->size < sizeof *requests || cancels->size < sizeof *cancels ||
        progress->size < sizeof *progress || threads->size < sizeof *threads || items->size < sizeof *items ||
        keys->size < sizeof *keys || index_table->size < sizeof *index_table || batches->size < sizeof *batches ||
        logger->size < sizeof *logger) {
        snprintf(error, error_capacity, "an interface of revision 1 has become smaller");
        return SEARCHLIGHT_UNSUPPORTED;
    }
    if (!threads->is_load_thread(host) || threads->is_request_thread(host)) {
        snprintf(error, error_capacity, "this is not the thread that loads");
        return SEARCHLIGHT_FAILED;
    }
    *extension = NULL;
    return SEARCHLIGHT_OK;
}

static void destroy(searchlight_extension *extension) { (void)extension; }

static const void *get_interface(searchlight_extension *extension, const char *identifier) {
    static const searchlight_reindex reindex = {sizeof reindex, 0, reindex_all, reindex_items};
    static const searchlight_paging paging = {sizeof paging, 0, reindex_page};
    static const searchlight_promises promises = {sizeof promises, 0, provide_data, provide_file};
    static const searchlight_preview previews = {sizeof previews, 0, preview};
    static const searchlight_throttle throttle = {sizeof throttle, 0, did_throttle, did_finish_throttle};
    (void)extension;
    if (strcmp(identifier, SEARCHLIGHT_REINDEX) == 0) return &reindex;
    if (strcmp(identifier, SEARCHLIGHT_PAGING) == 0) return &paging;
    if (strcmp(identifier, SEARCHLIGHT_PROMISES) == 0) return &promises;
    if (strcmp(identifier, SEARCHLIGHT_PREVIEW) == 0) return &previews;
    if (strcmp(identifier, SEARCHLIGHT_THROTTLE) == 0) return &throttle;
    return NULL;
}

SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void) {
    static const searchlight_extension_entry entry = {
        sizeof entry, SEARCHLIGHT_ABI_MAJOR, SEARCHLIGHT_ABI_MINOR, 0, "com.example.everything",
        create,       destroy,               get_interface};
    return &entry;
}
