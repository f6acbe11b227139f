/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Works correctly, in a verifiable way: each reindex adds one batch, which becomes durable together
 * with its number as the client state of the index "ledger". Batch N has the items "N-0" to
 * "N-(ITEMS - 1)", and the item "last", whose pageCount is N.
 */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PROVIDE_DATA provide_data
#define FIXTURE_PREVIEW preview
#include "fixture.h"

#define ITEMS 5
#define INDEX "ledger"

static const searchlight_host_batch *batches(void) {
    return fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_BATCH);
}

static searchlight_item *item(const char *identifier, unsigned number) {
    static const char *const types[] = {"public.html"};
    searchlight_item *made = fixture_items->create(fixture_host, identifier, NULL, "public.plain-text");
    fixture_items->set_string(made, "title", identifier);
    fixture_items->set_integer(made, "pageCount", (int64_t)number);
    fixture_items->set_strings(made, "providerDataTypeIdentifiers", types, 1);
    return made;
}

static void add(void *context, searchlight_status status, const char *message, const void *state, size_t length) {
    searchlight_request request = (searchlight_request)(uintptr_t)context;
    char before[24] = "0", after[24];
    if (status != SEARCHLIGHT_OK || length >= sizeof before) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, message);
        return;
    }
    if (state != NULL) {
        memcpy(before, state, length);
        before[length] = 0;
    }
    unsigned number = (unsigned)strtoul(before, NULL, 10) + 1;
    snprintf(after, sizeof after, "%u", number);
    searchlight_batch *batch = batches()->create(fixture_host);
    searchlight_item *items[ITEMS + 1];
    for (int i = 0; i < ITEMS; i++) {
        char identifier[32];
        snprintf(identifier, sizeof identifier, "%u-%d", number, i);
        items[i] = item(identifier, number);
    }
    items[ITEMS] = item("last", number);
    batches()->index_items(batch, items, ITEMS + 1);
    for (int i = 0; i <= ITEMS; i++) fixture_items->release(items[i]);
    status = batches()->commit(fixture_host, INDEX, batch, after, strlen(after),
                               state == NULL ? SEARCHLIGHT_EXPECT_NONE : SEARCHLIGHT_EXPECT_STATE, before,
                               state == NULL ? 0 : strlen(before), fixture_acknowledge, context);
    batches()->release(batch);
    if (status != SEARCHLIGHT_OK) fixture_requests->finish(fixture_host, request, status, "the batch was not sent");
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    batches()->read_state(fixture_host, INDEX, add, (void *)(uintptr_t)request);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    (void)type;
    fixture_requests->finish_with_data(fixture_host, request, item, strlen(item));
}

static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    (void)extension;
    (void)query;
    (void)content_path;
    fixture_show(request, "public.plain-text", item, item, strlen(item));
}
