/* SPDX-License-Identifier: Apache-2.0 */
/* extension.h: the extension object that all requests share. */
#ifndef EXTENSION_H
#define EXTENSION_H

#include <pthread.h>

#include "library.h"
#include "searchlight_extension.h"

/* The object of a worker, which is a separate process. After its creation, only the throttle and
 * the recalled state change. */
struct searchlight_extension {
    const searchlight_host *host;
    const searchlight_host_request *requests;
    const searchlight_host_items *items;
    const searchlight_host_index *index;
    const searchlight_host_batch *batch; /* NULL if the host lacks the interface */
    const searchlight_host_cancel *cancel;
    const searchlight_host_progress *progress;
    const searchlight_host_log *log;
    const searchlight_host_custom_keys *keys; /* NULL if the host lacks the interface */
    const searchlight_host_listing *listing; /* NULL if the host lacks the interface */
    const searchlight_host_left_out *left_out; /* NULL if the host lacks the interface */
    struct library *library;
    /* The cached result of library_exported, valid if is_recalled is true. The library's lock
     * guards both. */
    struct exported recalled;
    bool is_recalled;

    pthread_mutex_t throttle_mutex; /* guards the rest */
    pthread_cond_t throttle_changed;
    bool is_throttled;
    double items_per_second; /* the rate while throttled; 0: no items */
};

/* A request as work: reports progress and checks for cancellation. */
struct task {
    searchlight_extension *extension;
    searchlight_request request;
    struct work work;
};
void task_begin(struct task *task, searchlight_extension *extension, searchlight_request request);
/* Fails the request. */
void task_fail(const struct task *task, searchlight_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Locks and updates the library for a request about one identifier or, if NULL, all bookmarks. With
 * `as_it_is`, a filled library is not updated. On failure, fails the request and returns false;
 * otherwise, call library_unlock afterwards. */
bool task_take_library(struct task *task, const char *identifier, bool as_it_is);

/* Loads what earlier workers knew about exported files from the host, or stores the current
 * knowledge there. Call these between lock and unlock. They wait for the host. */
void exported_recall(searchlight_extension *self);
void exported_keep(searchlight_extension *self);

/* Reports everything that the library leaves out. Call it between lock and unlock. Returns false
 * if the library cannot be read. */
bool omissions_report(const searchlight_extension *self);

/* Makes the next file change compare all bookmarks with the index again. Call this before and after
 * other donations. It waits for the host. */
void changes_forget(const searchlight_extension *self);

/* The promised types of each bookmark, best first. */
extern const char *const promised_data[3];
extern const char *const promised_files[2];

/* Writes the domain of all items from a source, derived from the source's key. */
void item_source_domain(const char *key, char *out, size_t capacity);
/* Creates the item for a bookmark, which the caller releases. Returns NULL if memory runs out. */
searchlight_item *item_make(const searchlight_extension *extension, const struct entry *entry);

/* The interfaces that the host calls: reindex.c, changes.c, donation.c, answers.c. */
extern const searchlight_extension_reindex reindex_interface;
extern const searchlight_extension_paging paging_interface;
extern const searchlight_extension_changes changes_interface;
extern const searchlight_extension_throttle throttle_interface;
extern const searchlight_extension_promises promises_interface;
extern const searchlight_extension_preview preview_interface;

#endif
