/* SPDX-License-Identifier: Apache-2.0 */
/* donation.c: see donation.h. */
#include "donation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double donation_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- Donations ------------------------------------------------------------------------------- */

bool donation_collect(void *context, const struct entry *entry) {
    struct donation *donation = context;
    bool is_over = donation->count > 0 && (donation->bytes > MAX_BYTES || donation_now() > donation->deadline);
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

bool donation_collect_domain(void *context, const char *key) {
    struct donation *donation = context;
    char domain[MAX_FOLDER];
    item_source_domain(key, domain, sizeof domain);
    if (donation->domain_count == MAX_SOURCES) return false;
    donation->domains[donation->domain_count] = strdup(domain);
    donation->has_failed = donation->domains[donation->domain_count] == NULL;
    if (!donation->has_failed) donation->domain_count++;
    return !donation->has_failed;
}

struct donation *donation_create(struct task *task, size_t budget) {
    struct donation *donation = calloc(1, sizeof *donation);
    if (donation == NULL) task_fail(task, SEARCHLIGHT_FAILED, "out of memory");
    else *donation = (struct donation){.extension = task->extension, .budget = budget, .deadline = INFINITY};
    return donation;
}

void donation_discard(struct donation *donation) {
    while (donation->domain_count > 0) free(donation->domains[--donation->domain_count]);
    while (donation->count > 0) donation->extension->items->release(donation->items[--donation->count]);
    free(donation);
}

/* A wait for the acknowledgement of a donation or deletion. */
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
    snprintf(receipt->message, sizeof receipt->message, "%s", message == NULL ? "the index rejected the donation" : message);
    receipt->has_come = true;
    pthread_cond_signal(&receipt->came);
    pthread_mutex_unlock(&receipt->mutex);
}

/* Waits until the sent changes are durable. `sent` is the status of sending. On failure, fails the
 * request and returns false. */
static bool settle(struct task *task, struct receipt *receipt, searchlight_status sent) {
    pthread_mutex_lock(&receipt->mutex);
    while (sent == SEARCHLIGHT_OK && !receipt->has_come) pthread_cond_wait(&receipt->came, &receipt->mutex);
    pthread_mutex_unlock(&receipt->mutex);
    if (sent != SEARCHLIGHT_OK) task_fail(task, sent, "the bookmarks could not be sent");
    else if (receipt->status != SEARCHLIGHT_OK) task_fail(task, receipt->status, "%s", receipt->message);
    return sent == SEARCHLIGHT_OK && receipt->status == SEARCHLIGHT_OK;
}
#define RECEIPT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, SEARCHLIGHT_OK, ""}

bool donation_send(struct task *task, struct donation *donation) {
    struct receipt receipt = RECEIPT;
    const searchlight_extension *self = task->extension;
    if (donation->has_failed) {
        task_fail(task, SEARCHLIGHT_FAILED, "out of memory");
        return false;
    }
    if (donation->domain_count > 0) {
        /* In one batch, so that no item is temporarily missing. */
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

bool donation_delete(struct task *task, const char *const *identifiers, size_t count) {
    struct receipt receipt = RECEIPT;
    const searchlight_extension *self = task->extension;
    if (count == 0) return true;
    return settle(task, &receipt, self->index->delete_items(self->host, NULL, identifiers, count, receive, &receipt));
}

/* ---- Throttling ------------------------------------------------------------------------------ */

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

/* Waits for as long as `items` items take at the requested rate. At a rate of 0, waits until the
 * rate changes. Returns false if the request was cancelled. */
static bool pace(struct task *task, size_t items) {
    searchlight_extension *self = task->extension;
    double begin = donation_now();
    bool goes_on = true;
    pthread_mutex_lock(&self->throttle_mutex);
    while (goes_on && self->is_throttled) {
        double rate = self->items_per_second, left = rate > 0 ? begin + (double)items / rate - donation_now() : 0.25;
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

size_t donation_budget(searchlight_extension *self, size_t wanted) {
    pthread_mutex_lock(&self->throttle_mutex);
    double welcome = self->is_throttled ? self->items_per_second * 2 : MAX_ITEMS;
    pthread_mutex_unlock(&self->throttle_mutex);
    size_t most = welcome >= MAX_ITEMS ? MAX_ITEMS : welcome < 1 ? 1 : (size_t)welcome;
    return wanted == 0 || wanted > most ? most : wanted;
}

bool donation_pace(struct task *task, size_t items) {
    bool goes_on = pace(task, items);
    if (!goes_on) task_fail(task, SEARCHLIGHT_CANCELLED, "the reindex was cancelled");
    return goes_on;
}

const searchlight_extension_throttle throttle_interface = {sizeof throttle_interface, 0, did_throttle, did_finish_throttle};
