/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A correct extension with three sheets. A file that includes this may define SUBJECT_... to break
 * one part. The extension serves every kind of request except pages, which not every extension
 * supports.
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "searchlight_extension.h"

#ifdef SUBJECT_COUNT
enum { sheet_count = SUBJECT_COUNT };
static char sheet_names[sheet_count][16];
static const char *sheets[sheet_count];
__attribute__((constructor)) static void name_sheets(void) {
    for (int i = 0; i < sheet_count; i++) {
        snprintf(sheet_names[i], sizeof sheet_names[i], "sheet-%d", i);
        sheets[i] = sheet_names[i];
    }
}
#else
enum { sheet_count = 3 };
static const char *const sheets[sheet_count] = {"alpha", "beta", "gamma"};
#endif

static const searchlight_host *host;
static const searchlight_host_request *requests;
static const searchlight_host_items *items;
static const searchlight_host_index *index_table;
static const searchlight_host_log *log_table;

static int find(const char *identifier) {
#ifdef SUBJECT_COUNT
    int number = strncmp(identifier, "sheet-", 6) == 0 ? atoi(identifier + 6) : -1;
    return number >= 0 && number < sheet_count && strcmp(identifier, sheets[number]) == 0 ? number : -1;
#endif
    for (int i = 0; i < sheet_count; i++) {
        if (strcmp(identifier, sheets[i]) == 0) return i;
    }
    return -1;
}

static inline void finish(searchlight_request request, searchlight_status status, const char *message) {
    requests->finish(host, request, status, message);
}

static inline void finish_text(searchlight_request request, const char *text) {
    requests->finish_with_data(host, request, text, strlen(text));
}

#ifndef SUBJECT_DONATED
static void donated(void *context, searchlight_status status, const char *message) {
    finish((searchlight_request)(uintptr_t)context, status, message);
}
#define SUBJECT_DONATED donated
#endif

#ifndef SUBJECT_TITLE
#define SUBJECT_TITLE(sheet) sheets[sheet]
#endif
#ifndef SUBJECT_INDEX
#define SUBJECT_INDEX NULL
#endif
#ifndef SUBJECT_IDENTIFIER
#define SUBJECT_IDENTIFIER(sheet) sheets[sheet]
#endif

static inline void donate(searchlight_request request, const int *chosen, size_t count) {
    static const char *const data_types[] = {"public.html", "public.utf8-plain-text"};
    static const char *const file_types[] = {"public.rtf"};
    searchlight_item *all[sheet_count] = {NULL};
    for (size_t i = 0; i < count; i++) {
        all[i] = items->create(host, SUBJECT_IDENTIFIER(chosen[i]), "sheets", "public.plain-text");
        items->set_string(all[i], "title", SUBJECT_TITLE(chosen[i]));
        items->set_string(all[i], "textContent", "ruled paper");
        items->set_strings(all[i], "providerDataTypeIdentifiers", data_types, 2);
        items->set_strings(all[i], "providerFileTypeIdentifiers", file_types, 1);
        items->set_expiration(all[i], INFINITY);
#ifdef SUBJECT_ATTRIBUTES
        SUBJECT_ATTRIBUTES(all[i]);
#endif
    }
    void *context = (void *)(uintptr_t)request;
#ifdef SUBJECT_COPIES
    index_table->index_items(host, SUBJECT_COPIES, all, count, NULL, NULL);
#endif
    searchlight_status status = index_table->index_items(host, SUBJECT_INDEX, all, count, SUBJECT_DONATED, context);
    if (status != SEARCHLIGHT_OK) SUBJECT_DONATED(context, status, "not sent");
    for (size_t i = 0; i < count; i++) items->release(all[i]);
}

#ifndef SUBJECT_REINDEX_ALL
static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    int all[sheet_count];
    for (int i = 0; i < sheet_count; i++) all[i] = i;
    index_table->delete_all(host, SUBJECT_INDEX, NULL, NULL);
#ifdef SUBJECT_COPIES
    index_table->delete_all(host, SUBJECT_COPIES, NULL, NULL);
#endif
#ifdef SUBJECT_DONATES
    donate(request, all, SUBJECT_DONATES);
#else
    donate(request, all, sheet_count);
#endif
}
#define SUBJECT_REINDEX_ALL reindex_all
#endif

#ifndef SUBJECT_REINDEX_ITEMS
static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    (void)extension;
    int chosen[sheet_count];
    char seen[sheet_count] = {0};
    size_t found = 0;
    for (size_t j = 0; j < count; j++) {
        int i = find(identifiers[j]);
        if (i < 0 && *identifiers[j] != 0) index_table->delete_items(host, SUBJECT_INDEX, &identifiers[j], 1, NULL, NULL);
        if (i < 0 || seen[i]++) continue;
        chosen[found++] = i;
    }
    if (found > 0) {
        donate(request, chosen, found);
    } else {
        finish(request, SEARCHLIGHT_OK, NULL);
    }
}
#define SUBJECT_REINDEX_ITEMS reindex_items
#endif

#ifndef SUBJECT_PROVIDE_DATA
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    char text[64];
    int sheet = find(item);
    if (sheet < 0) {
        finish(request, SEARCHLIGHT_NOT_FOUND, "no such sheet");
        return;
    }
    if (strcmp(type, "public.html") == 0) {
        snprintf(text, sizeof text, "<p>%s</p>", sheets[sheet]);
    } else if (strcmp(type, "public.utf8-plain-text") == 0) {
        snprintf(text, sizeof text, "%s", sheets[sheet]);
    } else {
        finish(request, SEARCHLIGHT_UNSUPPORTED, "sheets are text");
        return;
    }
    finish_text(request, text);
}
#define SUBJECT_PROVIDE_DATA provide_data
#endif

#ifndef SUBJECT_PROVIDE_FILE
static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place) {
    (void)extension;
    if (find(item) < 0) {
        finish(request, SEARCHLIGHT_NOT_FOUND, "no such sheet");
        return;
    }
    if (in_place || strcmp(type, "public.rtf") != 0) {
        finish(request, SEARCHLIGHT_UNSUPPORTED, "sheets are RTF");
        return;
    }
    const char *folder = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/sheet-XXXXXX.rtf", folder != NULL ? folder : "/tmp");
    int descriptor = mkstemps(path, 4);
    if (descriptor < 0) {
        finish(request, SEARCHLIGHT_FAILED, "no temporary file");
        return;
    }
    FILE *file = fdopen(descriptor, "w");
    fprintf(file, "{\\rtf1 %s}", item);
    fclose(file);
    requests->finish_with_file(host, request, path, 1);
}
#define SUBJECT_PROVIDE_FILE provide_file
#endif

static inline void show(searchlight_request request, const char *type, const char *text) {
    searchlight_preview_reply reply = {sizeof reply, 0, type, NULL, text, strlen(text), 0, 0, NULL};
    requests->finish_with_preview(host, request, &reply);
}

#ifndef SUBJECT_PREVIEW
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    (void)extension, (void)query, (void)content_path;
    if (find(item) < 0) {
        finish(request, SEARCHLIGHT_NOT_FOUND, "no such sheet");
        return;
    }
    show(request, "public.html", "<p>A sheet</p>");
}
#define SUBJECT_PREVIEW preview
#endif

static searchlight_status create(const searchlight_host *given, searchlight_extension **extension, char *error,
                                 size_t error_capacity) {
    (void)error, (void)error_capacity;
    host = given;
    requests = host->get_interface(host, SEARCHLIGHT_HOST_REQUEST);
    items = host->get_interface(host, SEARCHLIGHT_HOST_ITEMS);
    index_table = host->get_interface(host, SEARCHLIGHT_HOST_INDEX);
    log_table = host->get_interface(host, SEARCHLIGHT_HOST_LOG);
    *extension = NULL;
#ifdef SUBJECT_CREATE
    SUBJECT_CREATE();
#endif
    return SEARCHLIGHT_OK;
}

static void destroy(searchlight_extension *extension) { (void)extension; }

static const void *get_interface(searchlight_extension *extension, const char *identifier) {
    static const searchlight_extension_reindex reindex = {sizeof reindex, 0, SUBJECT_REINDEX_ALL, SUBJECT_REINDEX_ITEMS};
    static const searchlight_extension_promises promises = {sizeof promises, 0, SUBJECT_PROVIDE_DATA, SUBJECT_PROVIDE_FILE};
    static const searchlight_extension_preview previews = {sizeof previews, 0, SUBJECT_PREVIEW};
    (void)extension;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_REINDEX) == 0) return &reindex;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PROMISES) == 0) return &promises;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PREVIEW) == 0) return &previews;
#ifdef SUBJECT_INTERFACE
    return SUBJECT_INTERFACE(identifier);
#else
    return NULL;
#endif
}

SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void) {
    static const searchlight_extension_entry entry = {
        sizeof entry, SEARCHLIGHT_ABI_MAJOR, SEARCHLIGHT_ABI_MINOR, 0, NULL, create, destroy, get_interface};
    return &entry;
}
#endif
