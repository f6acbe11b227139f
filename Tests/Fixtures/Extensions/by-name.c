/* SPDX-License-Identifier: Apache-2.0 */
/* The name of each item, and for a full reindex the file `mode` in its bundle, select the behaviour:
 *   crash…     prints its last words and aborts
 *   exit…      ends its process
 *   hang…      never returns, and only reacts to signals
 *   stubborn…  the same, and ignores the polite signal
 *   last…      works until it gets the polite signal, answers, and is then unusable
 *   wait…      works until its request is cancelled, then prints that it has stopped
 *   steps…     reports its progress, then does the work
 *   refuse…    rejects the request
 *   eat…       allocates memory until none is left, then aborts
 * All other items are donated and provided. */
#include <stdint.h>

#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place);
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_REINDEX_ITEMS reindex_items
#define FIXTURE_PROVIDE_DATA provide_data
#define FIXTURE_PROVIDE_FILE provide_file
#define FIXTURE_PREVIEW preview
#include "fixture.h"

static int begins(const char *name, const char *with) { return strncmp(name, with, strlen(with)) == 0; }

static void wait_until_cancelled(searchlight_request request) {
    const searchlight_host_cancel *cancel = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_CANCEL);
    if (!cancel) abort();
    while (!cancel->is_cancelled(fixture_host, request)) usleep(1000);
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_CANCELLED, "it was not wanted any more");
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, "stopped");
}

static _Atomic int is_leaving; /* lock-free, as a signal handler needs */
static void leave(int number) { is_leaving = number; }

static void say_progress(searchlight_request request) {
    const searchlight_host_progress *progress = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_PROGRESS);
    if (!progress) abort();
    for (uint64_t i = 0; i <= 100; i++) progress->report(fixture_host, request, i, 100);
}

/* Returns 1 if that was the answer. */
static int behave(const char *name, searchlight_request request) {
    if (begins(name, "crash")) {
        fprintf(stderr, "last words about %s\n", name);
        abort();
    }
    if (begins(name, "exit")) exit(7);
    if (begins(name, "eat")) {
        for (char *memory; (memory = malloc(1 << 20));) memset(memory, 1, 1 << 20);
        abort();
    }
    if (begins(name, "stubborn")) signal(SIGTERM, SIG_IGN);
    if (begins(name, "hang") || begins(name, "stubborn")) {
        fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, "hanging");
        for (;;) pause();
    }
    if (begins(name, "last")) {
        signal(SIGTERM, leave);
        fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, "waiting");
        while (!is_leaving) usleep(1000);
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_CANCELLED, "it leaves");
        return 1;
    }
    if (is_leaving) _exit(9);
    if (begins(name, "steps")) say_progress(request);
    if (begins(name, "refuse")) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "not today");
        return 1;
    }
    if (begins(name, "wait")) {
        fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, "waiting");
        wait_until_cancelled(request);
        return 1;
    }
    return 0;
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    char path[4096], mode[64] = "";
    snprintf(path, sizeof path, "%s/mode", fixture_host->bundle_path);
    FILE *file = fopen(path, "r");
    if (file) {
        if (!fgets(mode, sizeof mode, file)) mode[0] = 0;
        fclose(file);
    }
    if (behave(mode, request)) return;
    fixture_donate("one", "One", "text", fixture_acknowledge, (void *)(uintptr_t)request);
}

static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    (void)extension;
    for (size_t i = 0; i < count; i++)
        if (behave(identifiers[i], request)) return;
    for (size_t i = 0; i < count; i++) {
        int is_last = i + 1 == count;
        fixture_donate(identifiers[i], identifiers[i], "text", is_last ? fixture_acknowledge : NULL,
                       (void *)(uintptr_t)request);
    }
    if (count == 0) fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    (void)type;
    if (!behave(item, request)) fixture_requests->finish_with_data(fixture_host, request, item, strlen(item));
}

static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place) {
    (void)extension;
    (void)type;
    (void)in_place;
    if (!behave(item, request)) fixture_requests->finish(fixture_host, request, SEARCHLIGHT_UNSUPPORTED, "no files");
}

static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    (void)extension;
    (void)query;
    (void)content_path;
    if (!behave(item, request)) fixture_show(request, "text/plain", NULL, item, strlen(item));
}
