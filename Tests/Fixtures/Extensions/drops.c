/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items that can be dropped in every way. The requested item selects the behaviour. Its identifier
 * is KIND-BYTES, where KIND is data, file, package or original, or the failure: crash, once
 * (crashes once), refuse, gone, fail, unsafe, slow. An item of the kind "steps" is data that waits
 * for a test: for the mark "half" before it reports half of its progress, and for "whole" before it
 * finishes.
 */
#include "searchlight_extension.h"

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place);
static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PROVIDE_DATA provide_data
#define FIXTURE_PROVIDE_FILE provide_file
#include "fixture.h"

#include <pthread.h>
#include <sys/stat.h>

static const char *const items[] = {
    "data-10",      "data-3000000", "file-0",  "file-70000", "package-5000", "original-400",
    "crash-1",      "refuse-1",     "gone-1",  "fail-1",     "unsafe-1",     "slow-1",       "once-1",
    "steps-10",
};

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    const char *data[] = {"public.utf8-plain-text"}, *file[] = {"public.rtf", "com.apple.rtfd"}, *place[] = {"public.data"};
    size_t count = sizeof items / sizeof *items;
    searchlight_item *all[sizeof items / sizeof *items];
    for (size_t i = 0; i < count; i++) {
        all[i] = fixture_items->create(fixture_host, items[i], "drops", "public.text");
        fixture_items->set_string(all[i], "title", items[i]);
        fixture_items->set_strings(all[i], "providerDataTypeIdentifiers", data, 1);
        fixture_items->set_strings(all[i], "providerFileTypeIdentifiers", file, 2);
        fixture_items->set_strings(all[i], "providerInPlaceFileTypeIdentifiers", place, 1);
    }
    fixture_index->index_items(fixture_host, NULL, all, count, fixture_acknowledge, (void *)(uintptr_t)request);
    for (size_t i = 0; i < count; i++) fixture_items->release(all[i]);
}

static void *answer_late(void *request) {
    const searchlight_host_cancel *cancel = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_CANCEL);
    searchlight_request number = (searchlight_request)(uintptr_t)request;
    for (int i = 0; i < 200 && !cancel->is_cancelled(fixture_host, number); i++) usleep(1000);
    fixture_requests->finish(fixture_host, number, SEARCHLIGHT_CANCELLED, "it took too long");
    return NULL;
}

/* Waits until a test has created a mark. */
static void await_mark(const char *suffix) {
    char marker[4096];
    fixture_mark(marker, sizeof marker, suffix);
    /* Prints a line now and then, so that the host does not consider the extension hung. */
    for (int i = 1; access(marker, F_OK) != 0; i++) {
        usleep(1000);
        if (i % 1000 == 0 && puts("waiting") >= 0) fflush(stdout);
    }
}

/* Returns true for an item with a fault, after causing the fault. */
static int goes_wrong(searchlight_request request, const char *item) {
    char marker[4096];
    fixture_mark(marker, sizeof marker, "crashed");
    if (strncmp(item, "crash", 5) == 0) abort();
    if (strncmp(item, "once", 4) == 0 && access(marker, F_OK) != 0) {
        fclose(fopen(marker, "w"));
        abort();
    }
    if (strncmp(item, "refuse", 6) == 0) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_REFUSED, "not for you");
    } else if (strncmp(item, "gone", 4) == 0) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_NOT_FOUND, "it was deleted");
    } else if (strncmp(item, "fail", 4) == 0) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "it did not work");
    } else if (strncmp(item, "slow", 4) == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, answer_late, (void *)(uintptr_t)request);
        pthread_detach(thread);
    } else {
        return 0;
    }
    return 1;
}

static size_t length_of(const char *item) { return strtoul(strchr(item, '-') + 1, NULL, 10); }

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    (void)type;
    if (goes_wrong(request, item)) return;
    if (strncmp(item, "steps", 5) == 0) {
        const searchlight_host_progress *progress =
            fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_PROGRESS);
        await_mark("half");
        progress->report(fixture_host, request, 2, 4);
        await_mark("whole");
    }
    size_t length = length_of(item);
    char *bytes = malloc(length + 1);
    memset(bytes, 'd', length);
    fixture_requests->finish_with_data(fixture_host, request, bytes, length);
    free(bytes);
}

static void write_file(const char *path, size_t length) {
    FILE *file = fopen(path, "w");
    for (size_t i = 0; file != NULL && i < length; i++) putc('f', file);
    if (file != NULL) fclose(file);
}

static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place) {
    (void)extension;
    if (goes_wrong(request, item)) return;
    char path[4096], inside[4200];
    if (in_place) {
        fixture_mark(path, sizeof path, "original");
        write_file(path, length_of(item));
        fixture_requests->finish_with_file(fixture_host, request, path, 0);
        return;
    }
    snprintf(path, sizeof path, "%s/drop-XXXXXX", getenv("TMPDIR"));
    if (strcmp(type, "com.apple.rtfd") != 0) {
        close(mkstemp(path));
        write_file(path, length_of(item));
        fixture_requests->finish_with_file(fixture_host, request, path, 1);
        return;
    }
    if (mkdtemp(path) == NULL) abort();
    snprintf(inside, sizeof inside, "%s/TXT.rtf", path);
    write_file(inside, length_of(item));
    snprintf(inside, sizeof inside, "%s/images", path);
    mkdir(inside, 0700);
    snprintf(inside, sizeof inside, "%s/images/link", path);
    if (symlink(strncmp(item, "unsafe", 6) == 0 ? "/etc/passwd" : "../TXT.rtf", inside) != 0) abort();
    fixture_requests->finish_with_file(fixture_host, request, path, 1);
}
