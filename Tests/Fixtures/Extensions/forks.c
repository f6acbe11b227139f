/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: starts a process that keeps everything it inherited, then crashes. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    (void)request;
    pid_t child = fork();
    if (child == 0) {
        for (;;) pause();
    }
    fprintf(stderr, "child %d\n", (int)child);
    raise(SIGSEGV);
}
