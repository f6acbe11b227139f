/* SPDX-License-Identifier: Apache-2.0 */
/* extension.h: the extension's own object, which its requests share. */
#ifndef EXTENSION_H
#define EXTENSION_H

#include <pthread.h>

#include "library.h"
#include "searchlight_extension.h"

/* One for each worker, which is a process of its own. Everything but the throttle and what is recalled stays as it is after
 * creation. */
struct searchlight_extension {
    const searchlight_host *host;
    const searchlight_host_request *requests;
    const searchlight_host_items *items;
    const searchlight_host_index *index;
    const searchlight_host_batch *batch; /* NULL: a host without */
    const searchlight_host_cancel *cancel;
    const searchlight_host_progress *progress;
    const searchlight_host_log *log;
    const searchlight_host_custom_keys *keys; /* NULL: a host without */
    const searchlight_host_listing *listing; /* NULL: a host without */
    struct library *library;
    /* Guarded by the library's lock: what the host has of library_exported, and whether that is known. */
    struct exported recalled;
    bool is_recalled;

    pthread_mutex_t throttle_mutex; /* guards the rest */
    pthread_cond_t throttle_changed;
    bool is_throttled;
    double items_per_second; /* while it is throttled; 0: none */
};

/* A request as work: reports how far it is, and asks whether it was cancelled. */
struct task {
    searchlight_extension *extension;
    searchlight_request request;
    struct work work;
};
void task_begin(struct task *task, searchlight_extension *extension, searchlight_request request);
/* Fails the request. */
void task_fail(const struct task *task, searchlight_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes the library up to date for a request, about one identifier or (NULL) all; `as_it_is`: or as it was filled before.
 * If false the request was failed; if true, library_unlock is to be called. */
bool task_take_library(struct task *task, const char *identifier, bool as_it_is);

/* Has the library know what it knew in earlier workers, and the host keep what it knows now. Between its lock and unlock;
 * they wait for the host. */
void exported_recall(searchlight_extension *self);
void exported_keep(searchlight_extension *self);

/* Has the next change of a file compare all bookmarks with the index again. To be called around other donations; waits for the
 * host. */
void changes_forget(const searchlight_extension *self);

/* The types that each bookmark can be had as, best first. */
extern const char *const promised_data[3];
extern const char *const promised_files[2];

/* The domain in which all items of a source are, by the source's key. */
void item_source_domain(const char *key, char *out, size_t capacity);
/* The item of a bookmark, which the caller releases; NULL if memory is short. */
searchlight_item *item_make(const searchlight_extension *extension, const struct entry *entry);

/* What the host calls: reindex.c, changes.c, donation.c, answers.c. */
extern const searchlight_reindex reindex_interface;
extern const searchlight_paging paging_interface;
extern const searchlight_changes changes_interface;
extern const searchlight_throttle throttle_interface;
extern const searchlight_promises promises_interface;
extern const searchlight_preview preview_interface;

#endif
