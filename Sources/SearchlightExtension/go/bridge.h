/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the package that Go cannot express: calls to the host's function pointers. bridge.c
 * contains the opposite direction, the tables of functions that the host calls.
 *
 * A Go object is passed to the host as a number, a cgo.Handle. C never keeps a Go pointer after a
 * call has returned.
 */
#ifndef SEARCHLIGHT_GO_BRIDGE_H
#define SEARCHLIGHT_GO_BRIDGE_H

#include <stdlib.h>

#include "searchlight_extension.h"
#include "searchlight/draft/content.h"

/* The host and its interfaces. All members after batch are nullable. */
typedef struct searchlight_go_host {
    const searchlight_host *host;
    const searchlight_host_request *request;
    const searchlight_host_items *items;
    const searchlight_host_batch *batch;
    const searchlight_host_custom_keys *keys;
    const searchlight_host_rename *rename;
    const searchlight_host_listing *listing;
    const searchlight_host_cancel *cancel;
    const searchlight_host_progress *progress;
    const searchlight_host_log *log;
    const searchlight_host_left_out *left_out;
    const searchlight_host_content *content;
    const searchlight_host_protection *protection;
} searchlight_go_host;

/* The completions in bridge.c, which call Go. */
void searchlight_go_completed(void *context, searchlight_status status, const char *message);
void searchlight_go_state_read(void *context, searchlight_status status, const char *message, const void *state,
                               size_t length);
void searchlight_go_listed(void *context, searchlight_status status, const char *message,
                           const char *const *identifiers, size_t count);

typedef const searchlight_go_host *searchlight_go_link;

static inline searchlight_go_host searchlight_go_connect(const searchlight_host *host) {
    searchlight_go_host link = {
        host,
        (const searchlight_host_request *)host->get_interface(host, SEARCHLIGHT_HOST_REQUEST),
        (const searchlight_host_items *)host->get_interface(host, SEARCHLIGHT_HOST_ITEMS),
        (const searchlight_host_batch *)host->get_interface(host, SEARCHLIGHT_HOST_BATCH),
        (const searchlight_host_custom_keys *)host->get_interface(host, SEARCHLIGHT_HOST_CUSTOM_KEYS),
        (const searchlight_host_rename *)host->get_interface(host, SEARCHLIGHT_HOST_RENAME),
        (const searchlight_host_listing *)host->get_interface(host, SEARCHLIGHT_HOST_LISTING),
        (const searchlight_host_cancel *)host->get_interface(host, SEARCHLIGHT_HOST_CANCEL),
        (const searchlight_host_progress *)host->get_interface(host, SEARCHLIGHT_HOST_PROGRESS),
        (const searchlight_host_log *)host->get_interface(host, SEARCHLIGHT_HOST_LOG),
        (const searchlight_host_left_out *)host->get_interface(host, SEARCHLIGHT_HOST_LEFT_OUT),
        (const searchlight_host_content *)host->get_interface(host, SEARCHLIGHT_HOST_CONTENT),
        (const searchlight_host_protection *)host->get_interface(host, SEARCHLIGHT_HOST_PROTECTION),
    };
    return link;
}

/* ---- Requests ------------------------------------------------------------------------------ */

static inline void searchlight_go_finish(searchlight_go_link link, uint64_t request, int32_t status,
                                         const char *message) {
    link->request->finish(link->host, request, status, message);
}
static inline void searchlight_go_finish_data(searchlight_go_link link, uint64_t request, const void *bytes,
                                              size_t length) {
    link->request->finish_with_data(link->host, request, bytes, length);
}
static inline void searchlight_go_finish_file(searchlight_go_link link, uint64_t request, const char *path,
                                              int32_t remove_after) {
    link->request->finish_with_file(link->host, request, path, remove_after);
}
/* The next four need content. */
static inline void searchlight_go_finish_descriptor(searchlight_go_link link, uint64_t request, int32_t descriptor,
                                                    const char *name) {
    link->content->finish_with_descriptor(link->host, request, descriptor, name);
}
static inline searchlight_stream *searchlight_go_stream(searchlight_go_link link, uint64_t request, uint64_t length) {
    return link->content->finish_with_stream(link->host, request, length);
}
static inline int32_t searchlight_go_write(searchlight_go_link link, searchlight_stream *stream, const void *bytes,
                                           size_t length) {
    return link->content->write(stream, bytes, length);
}
static inline void searchlight_go_end(searchlight_go_link link, searchlight_stream *stream) {
    link->content->end(stream);
}
static inline void searchlight_go_finish_preview(searchlight_go_link link, uint64_t request,
                                                 const searchlight_preview_reply *reply) {
    link->request->finish_with_preview(link->host, request, reply);
}
static inline void searchlight_go_finish_page(searchlight_go_link link, uint64_t request, const void *cursor,
                                              size_t length) {
    link->request->finish_page(link->host, request, cursor, length);
}
static inline int32_t searchlight_go_is_cancelled(searchlight_go_link link, uint64_t request) {
    return link->cancel == NULL ? 0 : link->cancel->is_cancelled(link->host, request);
}
static inline void searchlight_go_report(searchlight_go_link link, uint64_t request, uint64_t completed,
                                         uint64_t total) {
    if (link->progress != NULL) link->progress->report(link->host, request, completed, total);
}
static inline void searchlight_go_log(searchlight_go_link link, int32_t level, const char *message) {
    if (link->log != NULL) link->log->log(link->host, level, message);
}
static inline void searchlight_go_left_out(searchlight_go_link link, const char *name, const char *reason) {
    if (link->left_out != NULL) link->left_out->report(link->host, name, reason);
}
static inline int32_t searchlight_go_set_class(searchlight_go_link link, const char *index, int32_t protection_class) {
    if (link->protection == NULL) return SEARCHLIGHT_UNSUPPORTED;
    return link->protection->set_class(link->host, index, protection_class);
}

/* ---- Items --------------------------------------------------------------------------------- */

static inline searchlight_item *searchlight_go_item(searchlight_go_link link, const char *identifier,
                                                    const char *domain, const char *type) {
    return link->items->create(link->host, identifier, domain, type);
}
static inline void searchlight_go_release_item(searchlight_go_link link, searchlight_item *item) {
    link->items->release(item);
}
static inline int32_t searchlight_go_set_string(searchlight_go_link link, searchlight_item *item, const char *name,
                                                const char *value) {
    return link->items->set_string(item, name, value);
}
static inline int32_t searchlight_go_set_strings(searchlight_go_link link, searchlight_item *item, const char *name,
                                                 char **values, size_t count) {
    return link->items->set_strings(item, name, (const char *const *)values, count);
}
static inline int32_t searchlight_go_set_integer(searchlight_go_link link, searchlight_item *item, const char *name,
                                                 int64_t value) {
    return link->items->set_integer(item, name, value);
}
static inline int32_t searchlight_go_set_number(searchlight_go_link link, searchlight_item *item, const char *name,
                                                double value) {
    return link->items->set_number(item, name, value);
}
static inline int32_t searchlight_go_set_boolean(searchlight_go_link link, searchlight_item *item, const char *name,
                                                 int32_t value) {
    return link->items->set_boolean(item, name, value);
}
static inline int32_t searchlight_go_set_date(searchlight_go_link link, searchlight_item *item, const char *name,
                                              double seconds) {
    return link->items->set_date(item, name, seconds);
}
static inline int32_t searchlight_go_set_data(searchlight_go_link link, searchlight_item *item, const char *name,
                                              const void *bytes, size_t length) {
    return link->items->set_data(item, name, bytes, length);
}
static inline int32_t searchlight_go_expire(searchlight_go_link link, searchlight_item *item, double seconds) {
    return link->items->set_expiration(item, seconds);
}
static inline int32_t searchlight_go_traits(searchlight_go_link link, searchlight_item *item, const char *name,
                                            uint32_t traits) {
    return link->keys == NULL ? SEARCHLIGHT_UNSUPPORTED : link->keys->set_traits(item, name, traits);
}

/* ---- Batches ------------------------------------------------------------------------------- */

static inline searchlight_batch *searchlight_go_batch(searchlight_go_link link) {
    return link->batch->create(link->host);
}
static inline void searchlight_go_release_batch(searchlight_go_link link, searchlight_batch *batch) {
    link->batch->release(batch);
}
static inline int32_t searchlight_go_add(searchlight_go_link link, searchlight_batch *batch, searchlight_item *item) {
    return link->batch->index_items(batch, &item, 1);
}
static inline int32_t searchlight_go_remove(searchlight_go_link link, searchlight_batch *batch, char **identifiers,
                                            size_t count) {
    return link->batch->delete_items(batch, (const char *const *)identifiers, count);
}
static inline int32_t searchlight_go_remove_domains(searchlight_go_link link, searchlight_batch *batch, char **domains,
                                                    size_t count) {
    return link->batch->delete_domains(batch, (const char *const *)domains, count);
}
static inline int32_t searchlight_go_remove_all(searchlight_go_link link, searchlight_batch *batch) {
    return link->batch->delete_all(batch);
}
static inline int32_t searchlight_go_rename(searchlight_go_link link, searchlight_batch *batch, char **identifiers,
                                            char **new_identifiers, size_t count) {
    if (link->rename == NULL) return SEARCHLIGHT_UNSUPPORTED;
    return link->rename->rename_in_batch(batch, (const char *const *)identifiers, (const char *const *)new_identifiers,
                                         count);
}
static inline int32_t searchlight_go_commit(searchlight_go_link link, searchlight_batch *batch, const char *index,
                                            const void *state, size_t state_length, int32_t expectation,
                                            const void *expected, size_t expected_length, uintptr_t context) {
    return link->batch->commit(link->host, index, batch, state, state_length, expectation, expected, expected_length,
                               searchlight_go_completed, (void *)context);
}
static inline int32_t searchlight_go_read_state(searchlight_go_link link, const char *index, uintptr_t context) {
    return link->batch->read_state(link->host, index, searchlight_go_state_read, (void *)context);
}
static inline int32_t searchlight_go_list(searchlight_go_link link, const char *index, const char *after,
                                          uint32_t limit, uintptr_t context) {
    if (link->listing == NULL) return SEARCHLIGHT_UNSUPPORTED;
    return link->listing->list_items(link->host, index, after, limit, searchlight_go_listed, (void *)context);
}

#endif /* SEARCHLIGHT_GO_BRIDGE_H */
