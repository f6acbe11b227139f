/* SPDX-License-Identifier: Apache-2.0 */
/* Fulfils every promise incorrectly. WAY is one of the functions below. */
#include "searchlight_extension.h"

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place);
#define FIXTURE_PROVIDE_DATA provide_data
#define FIXTURE_PROVIDE_FILE provide_file
#include "../fixture.h"

#include "faults.h"

#define WAY_FUNCTION FAULT_FUNCTION

static void data(searchlight_request request, const void *bytes, size_t length) {
    fixture_requests->finish_with_data(fixture_host, request, bytes, length);
}

static void file(searchlight_request request, const char *path) {
    fixture_requests->finish_with_file(fixture_host, request, path, 0);
}

/* ---- Lies about lengths ----------------------------------------------------------------------------------------- */

WAY_FUNCTION negative_length(searchlight_request request) { data(request, "data", SIZE_MAX); }
WAY_FUNCTION bytes_of_nowhere(searchlight_request request) { data(request, NULL, 1000); }
WAY_FUNCTION more_than_there_is(searchlight_request request) { data(request, "data", (size_t)1 << 40); }
/* Reads just beyond its own memory: an unreadable page follows. */
WAY_FUNCTION a_page_too_much(searchlight_request request) {
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE) != 0) abort();
    data(request, pages, 8192);
}
WAY_FUNCTION returned_memory(searchlight_request request) {
    char *pages = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) abort();
    munmap(pages, 1 << 20);
    data(request, pages, 1 << 20);
}
/* The content is then undefined, but the memory is still mapped. */
WAY_FUNCTION freed_memory(searchlight_request request) {
    char *volatile memory = malloc(100);
    memset(memory, 'x', 100);
    free(memory);
    data(request, memory, 100);
}

/* ---- Too much, and too little ----------------------------------------------------------------------------------- */

WAY_FUNCTION a_gibibyte(searchlight_request request) {
    size_t length = (size_t)1 << 30;
    char *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_TOO_LARGE, "no gibibyte to be had");
        return;
    }
    data(request, bytes, length);
}
WAY_FUNCTION nothing(searchlight_request request) { data(request, NULL, 0); }
WAY_FUNCTION twice(searchlight_request request) {
    data(request, "first", 5);
    data(request, "second", 6);
}
/* The bytes are followed by an acknowledgement, as if a reindex had been requested. */
WAY_FUNCTION another_kind(searchlight_request request) {
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}
static void *many(void *context) {
    data((searchlight_request)(uintptr_t)context, "data", 4);
    return NULL;
}
/* Eight threads answer at the same time. */
WAY_FUNCTION all_at_once(searchlight_request request) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, many, (void *)(uintptr_t)request);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
}

/* ---- Files that are none ---------------------------------------------------------------------------------------- */

/* A separate target to write to. */
static void place(char *path, const char *name) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, 4096, "%s/searchlight-%d-%s", folder != NULL ? folder : "/tmp", (int)getpid(), name);
}

WAY_FUNCTION relative_path(searchlight_request request) { file(request, "etc/hostname"); }
WAY_FUNCTION empty_path(searchlight_request request) { file(request, ""); }
WAY_FUNCTION no_path(searchlight_request request) { file(request, NULL); }
WAY_FUNCTION malformed_path(searchlight_request request) { file(request, "/\xff\xfe"); }
WAY_FUNCTION missing_file(searchlight_request request) { file(request, "/nowhere/at/all"); }
WAY_FUNCTION folder(searchlight_request request) { file(request, fixture_host->bundle_path); }
WAY_FUNCTION device(searchlight_request request) { file(request, "/dev/zero"); }
WAY_FUNCTION endless_path(searchlight_request request) {
    char *path = malloc(1 << 20);
    memset(path, '/', (1 << 20) - 1);
    path[(1 << 20) - 1] = 0;
    file(request, path);
    free(path);
}
/* The pipe has no writer. */
WAY_FUNCTION fifo(searchlight_request request) {
    char path[4096];
    place(path, "fifo");
    if (mkfifo(path, 0600) != 0) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "no place for a pipe");
        return;
    }
    fixture_requests->finish_with_file(fixture_host, request, path, 1);
    unlink(path);
}
WAY_FUNCTION deleted_file(searchlight_request request) {
    char path[4096];
    place(path, "deleted");
    int opened = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (opened >= 0) close(opened);
    unlink(path);
    file(request, path);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    (void)item;
    (void)type;
    WAY(request);
}

static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place) {
    (void)extension;
    (void)item;
    (void)type;
    (void)in_place;
    WAY(request);
}
