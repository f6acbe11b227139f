/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: breaks every rule in the header that a host can check, and then works. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PROVIDE_DATA provide_data
#include "fixture.h"

#include <pthread.h>

static _Atomic int was_refused;

/* Writes to an item while another thread also writes to it. */
static void *write_too(void *item) {
    for (int round = 0; round < 20000000 && !was_refused; round++)
        if (fixture_items->set_integer(item, "pageCount", round) != SEARCHLIGHT_OK) was_refused = 1;
    return NULL;
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    searchlight_item *released = fixture_items->create(fixture_host, "released", NULL, NULL);
    fixture_items->release(released);
    fixture_items->set_string(released, "title", "after its end");
    fixture_items->release(released);

    searchlight_item *item = fixture_items->create(fixture_host, "shared", NULL, NULL);
    fixture_items->set_string(item, "title", "\xff\xfe");
    fixture_items->set_string((searchlight_item *)&request, "title", "no item at all");
    pthread_t thread;
    if (pthread_create(&thread, NULL, write_too, item) == 0) {
        write_too(item);
        pthread_join(thread, NULL);
    }
    fixture_items->release(item);
    fixture_index->index_items(fixture_host, NULL, NULL, 3, NULL, NULL);
    fixture_requests->finish(fixture_host, 4711, SEARCHLIGHT_OK, NULL);
    fixture_donate("one", "One", "text", fixture_acknowledge, (void *)(uintptr_t)request);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension, (void)item, (void)type;
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}
