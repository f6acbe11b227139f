/* SPDX-License-Identifier: Apache-2.0 */
/* donation.h: items that are collected, sent and waited for, as slowly as the host wants them. */
#ifndef DONATION_H
#define DONATION_H

#include "extension.h"
#include "sources.h"

/* What one donation holds at most, whatever a page may have. */
enum { MAX_ITEMS = 1000, MAX_BYTES = 8 << 20 };

/* Seconds of a clock that only goes forward. */
double donation_now(void);

/* Items that are collected and then sent at once. */
struct donation {
    const searchlight_extension *extension;
    searchlight_item *items[MAX_ITEMS]; /* owned */
    size_t count, bytes;
    size_t budget;   /* items */
    double deadline; /* by donation_now */
    bool is_full;    /* there are more than fit */
    bool has_failed; /* memory was short */
    char last[MAX_KEY + MAX_LOCAL + 2];
    char *domains[MAX_SOURCES]; /* owned; items of these domains that are not donated are deleted */
    size_t domain_count;
};

/* An empty donation, which the caller discards; NULL if memory is short, and the request was failed then. */
struct donation *donation_create(struct task *task, size_t budget);
void donation_discard(struct donation *donation);

/* Both take a donation as their context: a bookmark, and the key of a source whose other bookmarks are to go. */
bool donation_collect(void *donation, const struct entry *entry);
bool donation_collect_domain(void *donation, const char *key);

/* Each waits until what was sent is durable. If false the request was failed. */
bool donation_send(struct task *task, struct donation *donation);
bool donation_delete(struct task *task, const char *const *identifiers, size_t count);

/* Waits as long as so many items take at the rate that is asked for now (none: as long as nothing is welcome). If false nobody
 * waits for the request any more, and it was failed. */
bool donation_pace(struct task *task, size_t items);

/* How many items a page may have, so that it does not last longer than a second or two at the rate that is asked for. */
size_t donation_budget(searchlight_extension *self, size_t wanted);

#endif
