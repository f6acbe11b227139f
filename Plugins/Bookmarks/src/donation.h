/* SPDX-License-Identifier: Apache-2.0 */
/* donation.h: collects items, sends them at the rate that the host requests, and waits until they
 * are durable. */
#ifndef DONATION_H
#define DONATION_H

#include "extension.h"
#include "sources.h"

/* The limits of one donation, whatever the page size. */
enum { MAX_ITEMS = 1000, MAX_BYTES = 8 << 20 };

/* Returns the seconds of a monotonic clock. */
double donation_now(void);

/* Items that are collected and then sent together. */
struct donation {
    const searchlight_extension *extension;
    searchlight_item *items[MAX_ITEMS]; /* owned */
    size_t count, bytes;
    size_t budget;   /* items */
    double deadline; /* in donation_now time */
    bool is_full;    /* there are more items than fit */
    bool has_failed; /* out of memory */
    char last[MAX_KEY + MAX_LOCAL + 2];
    char *domains[MAX_SOURCES]; /* owned; other items in these domains are deleted */
    size_t domain_count;
};

/* Creates an empty donation, which the caller discards. Returns NULL if memory is short, and has
 * failed the request then. */
struct donation *donation_create(struct task *task, size_t budget);
void donation_discard(struct donation *donation);

/* Both functions have a donation as their context. One collects a bookmark. The other collects the
 * key of a source, whose other items are deleted. */
bool donation_collect(void *donation, const struct entry *entry);
bool donation_collect_domain(void *donation, const char *key);

/* Both wait until the sent changes are durable. If they return false, they have failed the
 * request. */
bool donation_send(struct task *task, struct donation *donation);
bool donation_delete(struct task *task, const char *const *identifiers, size_t count);

/* Waits for the time that `items` items take at the requested rate. At a rate of 0, waits until the
 * rate changes. If it returns false, the request was cancelled and has failed. */
bool donation_pace(struct task *task, size_t items);

/* Returns the maximum number of items in a page. At the requested rate, a page then takes at most a
 * second or two. */
size_t donation_budget(searchlight_extension *self, size_t wanted);

#endif
