/* SPDX-License-Identifier: Apache-2.0 */
/* Reindexes in batches with client states, and reports the results. Also attempts forbidden
 * operations. */
#include <stdint.h>

#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

static const searchlight_host_batch *batches;
static searchlight_request current;

static void say(const char *what, searchlight_status status) {
    char text[128];
    snprintf(text, sizeof text, "%s: %d", what, (int)status);
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, text);
}

static void ended(void *context, searchlight_status status, const char *message) {
    (void)context;
    say("expected another state", status);
    fixture_requests->finish(fixture_host, current, status == SEARCHLIGHT_REFUSED ? SEARCHLIGHT_OK : SEARCHLIGHT_FAILED,
                             message);
}

static void state_read(void *context, searchlight_status status, const char *message, const void *state,
                       size_t length) {
    (void)context;
    (void)message;
    char text[128];
    snprintf(text, sizeof text, "state: %d %.*s", (int)status, (int)length, state == NULL ? "" : (const char *)state);
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, text);
    searchlight_batch *batch = batches->create(fixture_host);
    batches->delete_all(batch);
    batches->commit(fixture_host, "notes", batch, "late", 4, SEARCHLIGHT_EXPECT_STATE, "other", 5, ended, NULL);
    batches->release(batch);
}

static void committed(void *context, searchlight_status status, const char *message) {
    (void)context;
    (void)message;
    say("committed", status);
    batches->read_state(fixture_host, "notes", state_read, NULL);
}

static void no_state(void *context, searchlight_status status, const char *message, const void *state, size_t length) {
    (void)context;
    (void)message;
    (void)length;
    say(state == NULL ? "none" : "some", status);
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    current = request;
    batches = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_BATCH);
    batches->read_state(fixture_host, "notes", no_state, NULL);

    searchlight_batch *batch = batches->create(fixture_host);
    const char *names[] = {"gone"};
    batches->delete_items(batch, names, 1);
    for (int number = 1; number <= 3; number++) {
        char identifier[16];
        snprintf(identifier, sizeof identifier, "note-%d", number);
        searchlight_item *item = fixture_items->create(fixture_host, identifier, "fixture", "public.plain-text");
        fixture_items->set_string(item, "title", identifier);
        batches->index_items(batch, &item, 1);
        fixture_items->release(item);
    }
    batches->delete_domains(batch, names, 1);

    /* A change that cannot be sent is rejected immediately and leaves the batch unchanged. */
    char long_state[SEARCHLIGHT_CLIENT_STATE_MAX + 1] = {0};
    say("long state", batches->commit(fixture_host, "notes", batch, long_state, sizeof long_state,
                                      SEARCHLIGHT_EXPECT_ANY, NULL, 0, committed, NULL));
    say("bad expectation", batches->commit(fixture_host, "notes", batch, "", 0, 7, NULL, 0, committed, NULL));
    say("no name", batches->delete_items(batch, NULL, 1));
    say("no completion", batches->read_state(fixture_host, "notes", NULL, NULL));
    char *large = malloc(12 << 20);
    memset(large, 'x', (12 << 20) - 1);
    large[(12 << 20) - 1] = 0;
    searchlight_item *item = fixture_items->create(fixture_host, "large", NULL, NULL);
    fixture_items->set_string(item, "textContent", large);
    searchlight_item *items[] = {item, item};
    batches->index_items(batch, &item, 1);
    say("too large", batches->index_items(batch, items, 2));
    fixture_items->release(item);
    free(large);

    batches->commit(fixture_host, "notes", batch, "first", 5, SEARCHLIGHT_EXPECT_NONE, NULL, 0, committed, NULL);
    batches->release(batch);
}
