/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of the C test extensions: an entry whose parts a fixture replaces by defining
 * FIXTURE_... before it includes this header. The default parts are correct.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "searchlight_extension.h"

/* Set in create; fixtures have one object and need no other state. */
static const searchlight_host *fixture_host;
static const searchlight_host_request *fixture_requests;
static const searchlight_host_items *fixture_items;
static const searchlight_host_index *fixture_index;
static const searchlight_host_log *fixture_log;

static inline void fixture_connect(const searchlight_host *host) {
    fixture_host = host;
    fixture_requests = host->get_interface(host, SEARCHLIGHT_HOST_REQUEST);
    fixture_items = host->get_interface(host, SEARCHLIGHT_HOST_ITEMS);
    fixture_index = host->get_interface(host, SEARCHLIGHT_HOST_INDEX);
    fixture_log = host->get_interface(host, SEARCHLIGHT_HOST_LOG);
}

/*
 * The file in which a fixture leaves a mark for its next worker, or reads its instructions:
 * marks/BUNDLE.SUFFIX in the documents folder. The harness declares that folder for all fixtures.
 */
static inline void fixture_mark(char *path, size_t capacity, const char *suffix) {
    const char *name = strrchr(fixture_host->bundle_path, '/');
    snprintf(path, capacity, "%s/Documents/marks%s.%s", getenv("HOME"), name, suffix);
}

/* Donates one item with a title and a text. For completion and context, see the public header. */
static inline searchlight_status fixture_donate(const char *identifier, const char *title, const char *text,
                                                searchlight_completion completion, void *context) {
    searchlight_item *item = fixture_items->create(fixture_host, identifier, "fixture", "public.plain-text");
    const char *data_types[] = {"public.utf8-plain-text", "public.html"};
    fixture_items->set_string(item, "title", title);
    fixture_items->set_string(item, "textContent", text);
    fixture_items->set_strings(item, "providerDataTypeIdentifiers", data_types, 2);
    searchlight_status status = fixture_index->index_items(fixture_host, NULL, &item, 1, completion, context);
    fixture_items->release(item);
    return status;
}

/* A completion that acknowledges the request whose number is the context. */
static inline void fixture_acknowledge(void *context, searchlight_status status, const char *message) {
    fixture_requests->finish(fixture_host, (searchlight_request)(uintptr_t)context, status, message);
}

/* Answers a preview request without attachments. */
static inline void fixture_show(searchlight_request request, const char *content_type, const char *title,
                                const void *bytes, size_t length) {
    searchlight_preview_reply reply = {sizeof reply, 0, content_type, title, bytes, length, 0, 0, NULL};
    fixture_requests->finish_with_preview(fixture_host, request, &reply);
}

#ifndef FIXTURE_REINDEX_ALL
static void fixture_reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    fixture_donate("one", "One", "the first item", fixture_acknowledge, (void *)(uintptr_t)request);
}
#define FIXTURE_REINDEX_ALL fixture_reindex_all
#endif

#ifndef FIXTURE_REINDEX_ITEMS
static void fixture_reindex_items(searchlight_extension *extension, searchlight_request request,
                                  const char *const *identifiers, size_t count) {
    (void)extension;
    (void)identifiers;
    (void)count;
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}
#define FIXTURE_REINDEX_ITEMS fixture_reindex_items
#endif

#ifndef FIXTURE_PROVIDE_DATA
static void fixture_provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                                 const char *type) {
    (void)extension;
    (void)item;
    (void)type;
    fixture_requests->finish_with_data(fixture_host, request, "data", 4);
}
#define FIXTURE_PROVIDE_DATA fixture_provide_data
#endif

#ifndef FIXTURE_PROVIDE_FILE
static void fixture_provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                                 const char *type, int32_t in_place) {
    (void)extension;
    (void)item;
    (void)type;
    (void)in_place;
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_UNSUPPORTED, "no files");
}
#define FIXTURE_PROVIDE_FILE fixture_provide_file
#endif

#ifndef FIXTURE_CREATE
static searchlight_status fixture_create(const searchlight_host *host, searchlight_extension **extension, char *error,
                                         size_t error_capacity) {
    (void)error;
    (void)error_capacity;
    fixture_connect(host);
    *extension = NULL;
    return SEARCHLIGHT_OK;
}
#define FIXTURE_CREATE fixture_create
#endif

#ifndef FIXTURE_ABI_MAJOR
#define FIXTURE_ABI_MAJOR SEARCHLIGHT_ABI_MAJOR
#endif

#ifndef FIXTURE_IDENTIFIER
#define FIXTURE_IDENTIFIER NULL
#endif

/* Additional code for this function. */
#ifndef FIXTURE_AT_GET_INTERFACE
#define FIXTURE_AT_GET_INTERFACE (void)0
#endif
#ifndef FIXTURE_AT_ENTRY
#define FIXTURE_AT_ENTRY (void)0
#endif

static void fixture_destroy(searchlight_extension *extension) { (void)extension; }

static const void *fixture_get_interface(searchlight_extension *extension, const char *identifier) {
    static const searchlight_extension_reindex reindex_table = {sizeof(searchlight_extension_reindex), 0, FIXTURE_REINDEX_ALL,
                                                FIXTURE_REINDEX_ITEMS};
    static const searchlight_extension_promises promises_table = {sizeof(searchlight_extension_promises), 0, FIXTURE_PROVIDE_DATA,
                                                  FIXTURE_PROVIDE_FILE};
    (void)extension;
    FIXTURE_AT_GET_INTERFACE;
#ifdef FIXTURE_DID_THROTTLE
    static const searchlight_extension_throttle throttle_table = {sizeof(searchlight_extension_throttle), 0, FIXTURE_DID_THROTTLE,
                                                        FIXTURE_DID_FINISH_THROTTLE};
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_THROTTLE) == 0) return &throttle_table;
#endif
#ifdef FIXTURE_REINDEX_ENCRYPTED
    static const searchlight_extension_encrypted_items encrypted_table = {
        sizeof(searchlight_extension_encrypted_items), 0, FIXTURE_REINDEX_ENCRYPTED};
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_ENCRYPTED_ITEMS) == 0) return &encrypted_table;
#endif
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_REINDEX) == 0) return &reindex_table;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PROMISES) == 0) return &promises_table;
#ifdef FIXTURE_PREVIEW
    static const searchlight_extension_preview preview_table = {sizeof(searchlight_extension_preview), 0, FIXTURE_PREVIEW};
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PREVIEW) == 0) return &preview_table;
#endif
#ifdef FIXTURE_PAGE
    static const searchlight_extension_paging paging_table = {sizeof(searchlight_extension_paging), 0, FIXTURE_PAGE};
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PAGING) == 0) return &paging_table;
#endif
#ifdef FIXTURE_CHANGES
    static const searchlight_extension_changes changes_table = {sizeof(searchlight_extension_changes), 0, FIXTURE_CHANGES};
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_CHANGES) == 0) return &changes_table;
#endif
    return NULL;
}

SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void) {
    static const searchlight_extension_entry entry = {
        sizeof(searchlight_extension_entry), FIXTURE_ABI_MAJOR, SEARCHLIGHT_ABI_MINOR, 0, FIXTURE_IDENTIFIER,
        FIXTURE_CREATE, fixture_destroy, fixture_get_interface};
    FIXTURE_AT_ENTRY;
    return &entry;
}
#endif
