/* SPDX-License-Identifier: Apache-2.0 */
/* reindex.c: bookmarks become items: in pages, by identifier, and as slowly as the host wants them. */
#include "extension.h"

#include "sources.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What one donation holds at most, whatever a page may have. */
enum { MAX_ITEMS = 1000, MAX_BYTES = 8 << 20 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- Donations -------------------------------------------------------------------------------------------------- */

/* Items that are collected and then sent at once. */
struct donation {
    const searchlight_extension *extension;
    searchlight_item *items[MAX_ITEMS]; /* owned */
    size_t count, bytes;
    size_t budget;   /* items */
    double deadline; /* by `now` */
    bool is_full;    /* there are more than fit */
    bool has_failed; /* memory was short */
    char last[MAX_KEY + MAX_LOCAL + 2];
    char *domains[MAX_SOURCES]; /* owned; what is in these and not donated is deleted */
    size_t domain_count;
};

static bool collect(void *context, const struct entry *entry) {
    struct donation *donation = context;
    bool is_over = donation->count > 0 && (donation->bytes > MAX_BYTES || now() > donation->deadline);
    donation->is_full = donation->count >= donation->budget || is_over;
    if (donation->is_full) return false;
    searchlight_item *item = item_make(donation->extension, entry);
    if (item == NULL) {
        donation->has_failed = true;
        return false;
    }
    donation->items[donation->count++] = item;
    donation->bytes += 3 * strlen(entry->url) + strlen(entry->title) + strlen(entry->description) + strlen(entry->tags) +
                       4 * strlen(entry->folder) + 1000;
    snprintf(donation->last, sizeof donation->last, "%s", entry->identifier);
    return true;
}

static bool collect_domain(void *context, const char *key) {
    struct donation *donation = context;
    char domain[MAX_FOLDER];
    item_source_domain(key, domain, sizeof domain);
    if (donation->domain_count == MAX_SOURCES) return false;
    donation->domains[donation->domain_count] = strdup(domain);
    donation->has_failed = donation->domains[donation->domain_count] == NULL;
    if (!donation->has_failed) donation->domain_count++;
    return !donation->has_failed;
}

static void discard(struct donation *donation) {
    while (donation->domain_count > 0) free(donation->domains[--donation->domain_count]);
    while (donation->count > 0) donation->extension->items->release(donation->items[--donation->count]);
    free(donation);
}

/* What a donation or deletion is waited for with. */
struct receipt {
    pthread_mutex_t mutex;
    pthread_cond_t came;
    bool has_come;
    searchlight_status status;
    char message[MAX_PROBLEM];
};

static void receive(void *context, searchlight_status status, const char *message) {
    struct receipt *receipt = context;
    pthread_mutex_lock(&receipt->mutex);
    receipt->status = status;
    snprintf(receipt->message, sizeof receipt->message, "%s", message == NULL ? "the index did not take it" : message);
    receipt->has_come = true;
    pthread_cond_signal(&receipt->came);
    pthread_mutex_unlock(&receipt->mutex);
}

/* Waits until what was sent (`sent`: the status of sending) is durable. If false the request was failed. */
static bool settle(struct task *task, struct receipt *receipt, searchlight_status sent) {
    pthread_mutex_lock(&receipt->mutex);
    while (sent == SEARCHLIGHT_OK && !receipt->has_come) pthread_cond_wait(&receipt->came, &receipt->mutex);
    pthread_mutex_unlock(&receipt->mutex);
    if (sent != SEARCHLIGHT_OK) task_fail(task, sent, "the bookmarks could not be sent");
    else if (receipt->status != SEARCHLIGHT_OK) task_fail(task, receipt->status, "%s", receipt->message);
    return sent == SEARCHLIGHT_OK && receipt->status == SEARCHLIGHT_OK;
}
#define RECEIPT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, SEARCHLIGHT_OK, ""}

static bool donate(struct task *task, struct donation *donation) {
    struct receipt receipt = RECEIPT;
    const searchlight_extension *self = task->extension;
    if (donation->has_failed) {
        task_fail(task, SEARCHLIGHT_FAILED, "out of memory");
        return false;
    }
    if (donation->domain_count > 0) {
        /* At once, so that nothing of it is away in between. */
        searchlight_batch *batch = self->batch->create(self->host);
        const char *const *domains = (const char *const *)donation->domains;
        searchlight_status sent = batch == NULL ? SEARCHLIGHT_FAILED
                                                : self->batch->delete_domains(batch, domains, donation->domain_count);
        if (sent == SEARCHLIGHT_OK) sent = self->batch->index_items(batch, donation->items, donation->count);
        if (sent == SEARCHLIGHT_OK)
            sent = self->batch->commit(self->host, NULL, batch, NULL, 0, SEARCHLIGHT_EXPECT_ANY, NULL, 0, receive, &receipt);
        if (batch != NULL) self->batch->release(batch);
        return settle(task, &receipt, sent);
    }
    if (donation->count == 0) return true;
    return settle(task, &receipt,
                  self->index->index_items(self->host, NULL, donation->items, donation->count, receive, &receipt));
}

/* ---- Throttling ------------------------------------------------------------------------------------------------- */

static void did_throttle(searchlight_extension *self, const searchlight_throttle_notice *notice) {
    pthread_mutex_lock(&self->throttle_mutex);
    self->is_throttled = true;
    self->items_per_second = notice->items_per_second > 0 ? notice->items_per_second : 0;
    pthread_cond_broadcast(&self->throttle_changed);
    pthread_mutex_unlock(&self->throttle_mutex);
}

static void did_finish_throttle(searchlight_extension *self) {
    pthread_mutex_lock(&self->throttle_mutex);
    self->is_throttled = false;
    pthread_cond_broadcast(&self->throttle_changed);
    pthread_mutex_unlock(&self->throttle_mutex);
}

/* Waits as long as so many items take at the rate that is asked for now (none: as long as nothing is welcome). False if
 * nobody waits for the request any more. */
static bool pace(struct task *task, size_t items) {
    searchlight_extension *self = task->extension;
    double begin = now();
    bool goes_on = true;
    pthread_mutex_lock(&self->throttle_mutex);
    while (goes_on && self->is_throttled) {
        double rate = self->items_per_second, left = rate > 0 ? begin + (double)items / rate - now() : 0.25;
        if (left <= 0) break;
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)((left < 0.25 ? left : 0.25) * 1e9);
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&self->throttle_changed, &self->throttle_mutex, &until);
        pthread_mutex_unlock(&self->throttle_mutex);
        goes_on = task->work.goes_on(task->work.context, items, 0);
        pthread_mutex_lock(&self->throttle_mutex);
    }
    pthread_mutex_unlock(&self->throttle_mutex);
    return goes_on;
}

/* How many items a page may have, so that it does not last longer than a second or two at the rate that is asked for. */
static size_t budget(searchlight_extension *self, size_t wanted) {
    pthread_mutex_lock(&self->throttle_mutex);
    double welcome = self->is_throttled ? self->items_per_second * 2 : MAX_ITEMS;
    pthread_mutex_unlock(&self->throttle_mutex);
    size_t most = welcome >= MAX_ITEMS ? MAX_ITEMS : welcome < 1 ? 1 : (size_t)welcome;
    return wanted == 0 || wanted > most ? most : wanted;
}

/* ---- Requests --------------------------------------------------------------------------------------------------- */

/* Donates what comes behind `cursor`. NULL if the request was failed. To be discarded by the caller. `is_missing`: whether a
 * source could not be read. */
static struct donation *donate_page(struct task *task, const char *cursor, size_t items, double seconds, bool *is_missing) {
    searchlight_extension *self = task->extension;
    if (!pace(task, 0)) {
        task_fail(task, SEARCHLIGHT_CANCELLED, "the reindex was cancelled");
        return NULL;
    }
    struct donation *donation = calloc(1, sizeof *donation);
    if (donation == NULL) {
        task_fail(task, SEARCHLIGHT_FAILED, "out of memory");
        return NULL;
    }
    *donation = (struct donation){.extension = self, .budget = budget(self, items)};
    /* Later pages go on with what the first one saw, so that all are of one state. */
    if (!task_take_library(task, NULL, *cursor != 0)) {
        discard(donation);
        return NULL;
    }
    donation->deadline = now() + seconds;
    bool is_good = library_list(self->library, cursor, collect, donation);
    struct problem missing = {""};
    *is_missing = library_missing(self->library) != NULL;
    if (*is_missing) problem_set(&missing, "%s", library_missing(self->library));
    /* The end of this reindex will delete nothing; but if all that the other sources have is here, the rest of theirs can go. */
    if (is_good && *is_missing && *cursor == 0 && !donation->is_full && self->batch != NULL)
        is_good = library_sources(self->library, collect_domain, donation);
    library_unlock(self->library);
    if (!is_good) task_fail(task, SEARCHLIGHT_FAILED, "the list of bookmarks cannot be read");
    is_good = is_good && donate(task, donation);
    if (is_good && !pace(task, donation->count)) {
        is_good = false;
        task_fail(task, SEARCHLIGHT_CANCELLED, "the reindex was cancelled");
    }
    if (is_good && !donation->is_full && library_lock(self->library, &task->work)) {
        exported_keep(self);
        library_unlock(self->library);
    }
    /* What is behind the last page's end is deleted, and nobody knows what the missing source has. */
    if (is_good && *is_missing && !donation->is_full) {
        is_good = false;
        task_fail(task, SEARCHLIGHT_UNAVAILABLE, "%s; its bookmarks stay as they were, the others are up to date%s",
                  missing.text, donation->domain_count > 0 ? "" : ", but none was deleted");
    }
    if (is_good) return donation;
    discard(donation);
    return NULL;
}

static void reindex_page(searchlight_extension *self, searchlight_request request, const searchlight_page *page) {
    struct task task;
    char cursor[SEARCHLIGHT_CURSOR_MAX + 1] = "";
    task_begin(&task, self, request);
    if (page->cursor != NULL && page->cursor_length < sizeof cursor) memcpy(cursor, page->cursor, page->cursor_length);
    bool is_first = *cursor == 0, is_missing;
    struct donation *donation = donate_page(&task, cursor, page->items, page->milliseconds / 1e3, &is_missing);
    /* A reindex that is going to fail does so in its first page: with a cursor, the next one would leave out what stands
     * before that of the source which can be read by then, and its end would delete it. */
    while (donation != NULL && is_first && is_missing && donation->is_full) {
        memcpy(cursor, donation->last, sizeof donation->last);
        discard(donation);
        donation = donate_page(&task, cursor, MAX_ITEMS, 60, &is_missing);
    }
    if (donation == NULL) return;
    if (donation->is_full) self->requests->finish_page(self->host, request, donation->last, strlen(donation->last));
    else self->requests->finish_page(self->host, request, NULL, 0);
    discard(donation);
}

/* For hosts without pages. */
static void reindex_all(searchlight_extension *self, searchlight_request request) {
    struct task task;
    char cursor[MAX_KEY + MAX_LOCAL + 2] = "";
    task_begin(&task, self, request);
    /* It can be found until the acknowledgement, and after it if it was donated again. */
    self->index->delete_all(self->host, NULL, NULL, NULL);
    for (bool has_more = true, is_missing; has_more;) {
        struct donation *donation = donate_page(&task, cursor, MAX_ITEMS, 60, &is_missing);
        if (donation == NULL) return;
        has_more = donation->is_full;
        memcpy(cursor, donation->last, sizeof cursor);
        discard(donation);
    }
    self->requests->finish(self->host, request, SEARCHLIGHT_OK, NULL);
}

/* Donates some of the named bookmarks, deletes those that there are not. If false the request was failed. */
static bool reindex_some(struct task *task, const char *const *identifiers, size_t count, bool *is_missing) {
    searchlight_extension *self = task->extension;
    struct receipt receipt = RECEIPT;
    const char *gone[MAX_ITEMS / 4];
    size_t gone_count = 0;
    struct donation *donation = calloc(1, sizeof *donation);
    if (donation == NULL) {
        task_fail(task, SEARCHLIGHT_FAILED, "out of memory");
        return false;
    }
    *donation = (struct donation){.extension = self, .budget = MAX_ITEMS, .deadline = INFINITY};
    if (!library_lock(self->library, &task->work)) {
        discard(donation);
        task_fail(task, SEARCHLIGHT_CANCELLED, "the reindex was cancelled");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!library_find(self->library, identifiers[i], true, collect, donation)) gone[gone_count++] = identifiers[i];
    *is_missing = library_missing(self->library) != NULL;
    library_unlock(self->library);
    size_t donated = donation->count;
    bool is_good = donate(task, donation);
    discard(donation);
    /* Of a source that cannot be read it is not known what is gone. */
    if (is_good && gone_count > 0 && !*is_missing)
        is_good = settle(task, &receipt, self->index->delete_items(self->host, NULL, gone, gone_count, receive, &receipt));
    if (is_good && !pace(task, donated)) {
        task_fail(task, SEARCHLIGHT_CANCELLED, "the reindex was cancelled");
        return false;
    }
    return is_good;
}

static void reindex_items(searchlight_extension *self, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    struct task task;
    bool is_missing = false;
    task_begin(&task, self, request);
    if (!pace(&task, 0)) {
        task_fail(&task, SEARCHLIGHT_CANCELLED, "the reindex was cancelled");
        return;
    }
    if (!task_take_library(&task, NULL, false)) return;
    library_unlock(self->library);
    for (size_t done = 0; done < count;) {
        size_t some = count - done < MAX_ITEMS / 4 ? count - done : MAX_ITEMS / 4;
        if (!reindex_some(&task, identifiers + done, some, &is_missing)) return;
        done += some;
        if (!task.work.goes_on(task.work.context, done, count)) {
            task_fail(&task, SEARCHLIGHT_CANCELLED, "the reindex was cancelled");
            return;
        }
    }
    if (is_missing) task_fail(&task, SEARCHLIGHT_UNAVAILABLE, "a file with bookmarks cannot be read now; it is tried again");
    else self->requests->finish(self->host, request, SEARCHLIGHT_OK, NULL);
}

const searchlight_reindex reindex_interface = {sizeof reindex_interface, 0, reindex_all, reindex_items};
const searchlight_paging paging_interface = {sizeof paging_interface, 0, reindex_page};
const searchlight_throttle throttle_interface = {sizeof throttle_interface, 0, did_throttle, did_finish_throttle};
