/* SPDX-License-Identifier: Apache-2.0 */
/* donation.h: collects items, sends them at the rate that the host requests, and waits until they
 * are durable. */
#ifndef DONATION_H
#define DONATION_H

#include "extension.h"
#include "sources.h"

/* The limits for one donation, regardless of the page size. */
enum { MAX_ITEMS = 1000, MAX_BYTES = 8 << 20 };

/* Returns the time in seconds on a monotonic clock. */
double donation_now(void);

/* Items that are collected and then sent together. */
struct donation {
    const searchlight_extension *extension;
    searchlight_item *items[MAX_ITEMS]; /* owned */
    size_t count, bytes;
    size_t budget;   /* items */
    double deadline; /* on the donation_now clock */
    bool is_full;    /* there are more items than fit */
    bool has_failed; /* out of memory */
    char last[MAX_KEY + MAX_LOCAL + 2];
    char *domains[MAX_SOURCES]; /* owned; other items in these domains will be deleted */
    size_t domain_count;
};

/* Creates an empty donation, which the caller must discard. If memory runs out, fails the request
 * and returns NULL. */
struct donation *donation_create(struct task *task, size_t budget);
void donation_discard(struct donation *donation);

/* Both functions take a donation as their context. One collects a bookmark, the other the key of a
 * source whose remaining items will be deleted. */
bool donation_collect(void *donation, const struct entry *entry);
bool donation_collect_domain(void *donation, const char *key);

/* Both functions wait until the sent changes are durable. If they fail, they fail the request and
 * return false. */
bool donation_send(struct task *task, struct donation *donation);
bool donation_delete(struct task *task, const char *const *identifiers, size_t count);

/* Waits for as long as `items` items take at the requested rate. At a rate of 0, waits until the
 * rate changes. If the request was cancelled, fails it and returns false. */
bool donation_pace(struct task *task, size_t items);

/* Returns the maximum number of items in a page, so that a page takes at most a second or two at
 * the requested rate. */
size_t donation_budget(searchlight_extension *self, size_t wanted);

#endif
