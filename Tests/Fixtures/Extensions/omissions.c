/* SPDX-License-Identifier: Apache-2.0 */
/* Donates an item with truncated text and a complete one, and reports what it leaves out. If items
 * are requested, it leaves out those whose names begin with "still". If the mark file "fails"
 * exists, a full reindex fails after that report. */
#include <stdint.h>

#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_REINDEX_ITEMS reindex_items
#include "fixture.h"

static void leave_out(const char *name, const char *reason) {
    const searchlight_host_left_out *left_out = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_LEFT_OUT);
    left_out->report(fixture_host, name, reason);
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    char mark[1024];
    fixture_mark(mark, sizeof mark, "fails");
    if (access(mark, F_OK) == 0) {
        leave_out("/nowhere", "said by a request that failed");
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "as it was told");
        return;
    }
    leave_out("still locked", "no permission to read it");
    leave_out("open soon", "no permission to read it");
    leave_out("huge\nname", "larger than \033[31m1 MiB");
    searchlight_item *item = fixture_items->create(fixture_host, "part", NULL, NULL);
    fixture_items->set_string(item, "title", "Cut short");
    fixture_items->set_integer(item, SEARCHLIGHT_MISSING_TEXT_BYTES, 4711);
    fixture_index->index_items(fixture_host, NULL, &item, 1, NULL, NULL);
    fixture_items->release(item);
    fixture_donate("whole", "Whole", "all of it", fixture_acknowledge, (void *)(uintptr_t)request);
}

static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    (void)extension;
    for (size_t i = 0; i < count; i++)
        if (strncmp(identifiers[i], "still", 5) == 0) leave_out(identifiers[i], "no permission to read it");
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}
