/* SPDX-License-Identifier: Apache-2.0 */
/* Donates 1,250 items and one to another index, deletes one, and then prints the content of the
 * index, page by page. */
#include <stdint.h>

#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

enum { ITEMS = 1250 };
static const searchlight_host_listing *listing;
static searchlight_request current;

static void say(const char *what, long number) {
    char text[256];
    snprintf(text, sizeof text, "%s: %ld", what, number);
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, text);
}

static void listed(void *context, searchlight_status status, const char *message, const char *const *names, size_t count) {
    (void)context;
    int is_sorted = 1;
    for (size_t i = 1; i < count; i++) is_sorted &= strcmp(names[i - 1], names[i]) < 0;
    say(is_sorted ? "listed" : "not sorted", (long)count);
    if (count > 0) {
        say(names[0], 0);
        say(names[count - 1], 1);
    }
    if (status != SEARCHLIGHT_OK || count < SEARCHLIGHT_LISTING_MAX) {
        fixture_requests->finish(fixture_host, current, status, message);
        return;
    }
    listing->list_items(fixture_host, NULL, names[count - 1], SEARCHLIGHT_LISTING_MAX, listed, NULL);
}

static void listed_other(void *context, searchlight_status status, const char *message, const char *const *names,
                         size_t count) {
    (void)context, (void)message, (void)names;
    say("in the other", status == SEARCHLIGHT_OK ? (long)count : -1);
    listing->list_items(fixture_host, NULL, NULL, SEARCHLIGHT_LISTING_MAX, listed, NULL);
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    current = request;
    listing = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_LISTING);
    searchlight_item **items = malloc(ITEMS * sizeof *items);
    for (int i = 0; i < ITEMS; i++) {
        char name[32];
        snprintf(name, sizeof name, "item-%04d", i);
        items[i] = fixture_items->create(fixture_host, name, NULL, "public.plain-text");
        fixture_items->set_string(items[i], "title", name);
    }
    fixture_index->index_items(fixture_host, NULL, items, ITEMS, NULL, NULL);
    fixture_index->index_items(fixture_host, "other", items, 1, NULL, NULL);
    for (int i = 0; i < ITEMS; i++) fixture_items->release(items[i]);
    free(items);
    const char *gone = "item-0000";
    fixture_index->delete_items(fixture_host, NULL, &gone, 1, NULL, NULL);
    say("no completion", listing->list_items(fixture_host, NULL, NULL, 1, NULL, NULL));
    say("too many", listing->list_items(fixture_host, NULL, NULL, SEARCHLIGHT_LISTING_MAX + 1, listed, NULL));
    say("no text", listing->list_items(fixture_host, NULL, "\xFF", 1, listed, NULL));
    listing->list_items(fixture_host, "other", "", 10, listed_other, NULL);
}
