/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: donates bytes that are not an item record, malformed text, items at invalid addresses and
 * NULL; then one good item. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

static void report(void *context, searchlight_status status, const char *message) {
    fprintf(stderr, "%s: %d %s\n", (const char *)context, (int)status, message != NULL ? message : "");
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    static const uint8_t junk[] = {5, 0, 0, 0, 1, 2, 3};
    fixture_index->index_records(fixture_host, NULL, junk, sizeof junk, report, "junk");
    if (fixture_index->index_items(fixture_host, NULL, NULL, 3, NULL, NULL) == SEARCHLIGHT_INVALID_ARGUMENT)
        fputs("nowhere: refused\n", stderr);
    fixture_index->index_items(fixture_host, NULL, NULL, 0, report, "none");
    searchlight_item *item = fixture_items->create(fixture_host, "x", NULL, NULL);
    if (fixture_items->set_string(item, "title", "\xff\xfe") == SEARCHLIGHT_INVALID_ARGUMENT)
        fputs("malformed text: refused\n", stderr);
    fixture_items->release(item);
    fixture_donate("one", "One", "text", fixture_acknowledge, (void *)(uintptr_t)request);
}
