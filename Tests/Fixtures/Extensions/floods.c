/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: logs without limit, then works. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    static char message[100001];
    memset(message, 'x', sizeof message - 1);
    for (int i = 0; i < 300; i++) fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, message);
    for (int i = 0; i < 30000; i++) fputs("line\n", stderr);
    fixture_donate("one", "One", "text", fixture_acknowledge, (void *)(uintptr_t)request);
}
