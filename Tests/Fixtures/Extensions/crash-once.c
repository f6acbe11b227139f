/* SPDX-License-Identifier: Apache-2.0 */
/* Crashes in the middle of the first reindex; the second works. A mark file records the crash. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

static void crash(void *context, searchlight_status status, const char *message) {
    (void)context;
    (void)status;
    (void)message;
    fputs("the first reindex ends here\n", stderr);
    abort();
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    char marker[4096];
    fixture_mark(marker, sizeof marker, "crashed");
    if (access(marker, F_OK) != 0) {
        fclose(fopen(marker, "w"));
        fixture_donate("half", "Half", "donated before the crash", crash, NULL);
        return;
    }
    fixture_index->delete_all(fixture_host, NULL, NULL, NULL);
    fixture_donate("one", "One", "text", NULL, NULL);
    fixture_donate("two", "Two", "text", fixture_acknowledge, (void *)(uintptr_t)request);
}
