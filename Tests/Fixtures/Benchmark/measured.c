/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extension for the benchmarks. It serves promises of 1 KiB immediately, and promises of 100 MiB
 * by the item's name: "bytes", "descriptor", "stream" and "file". It serves previews from the file
 * "page" in its bundle, which it reads once. A reindex donates the batches of records in the
 * file "records" in its bundle. Each batch consists of a four-byte length, least significant byte
 * first, and its records.
 */
#include "searchlight/draft/content.h"
#include "searchlight_extension.h"

#include <fcntl.h>
#include <sys/stat.h>

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place);
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PREVIEW preview
#define FIXTURE_PROVIDE_DATA provide_data
#define FIXTURE_PROVIDE_FILE provide_file
#include "../Extensions/fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    char path[4096];
    snprintf(path, sizeof path, "%s/records", fixture_host->bundle_path);
    FILE *file = fopen(path, "rb");
    struct stat status = {0};
    if (file != NULL) fstat(fileno(file), &status);
    uint8_t length[4];
    uint8_t *batch = malloc(32u << 20);
    int is_whole = 0;
    while (!is_whole && file != NULL && fread(length, 1, 4, file) == 4) {
        size_t count = (size_t)length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
        if (count > 32u << 20 || fread(batch, 1, count, file) != count) break;
        is_whole = ftell(file) == status.st_size;
        /* Donations are stored in order, so when the last one is durable, all are. */
        if (fixture_index->index_records(fixture_host, NULL, batch, count, is_whole ? fixture_acknowledge : NULL,
                                         (void *)(uintptr_t)request) != SEARCHLIGHT_OK) {
            is_whole = 0;
            break;
        }
    }
    if (file != NULL) fclose(file);
    free(batch);
    if (!is_whole) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "the records are not whole, or could not be sent");
    }
}

/* The content of large promises: these bytes, repeated. */
enum { piece = 1 << 20, pieces = 100 };
static char bytes[piece];

/* Writes the content to a file. Returns 0 if that failed. */
static int fill(int file) {
    for (int i = 0; i < pieces; i++)
        if (write(file, bytes, piece) != piece) return 0;
    return 1;
}

static void fail(searchlight_request request) {
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "the content could not be made");
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    (void)type;
    const searchlight_host_content *content = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_CONTENT);
    if (strcmp(item, "bytes") == 0) {
        char *whole = malloc((size_t)piece * pieces);
        for (size_t i = 0; whole != NULL && i < pieces; i++) memcpy(whole + i * piece, bytes, piece);
        if (whole != NULL)
            fixture_requests->finish_with_data(fixture_host, request, whole, (size_t)piece * pieces);
        else
            fail(request);
        free(whole);
    } else if (strcmp(item, "descriptor") == 0) {
        int file = open(getenv("TMPDIR"), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (file >= 0 && fill(file))
            content->finish_with_descriptor(fixture_host, request, file, NULL);
        else
            fail(request);
        if (file >= 0) close(file);
    } else if (strcmp(item, "stream") == 0) {
        searchlight_stream *stream = content->finish_with_stream(fixture_host, request, (uint64_t)piece * pieces);
        if (stream == NULL) return fail(request);
        for (int i = 0; i < pieces; i++)
            if (content->write(stream, bytes, piece) != SEARCHLIGHT_OK) break;
        content->end(stream);
    } else {
        fixture_requests->finish_with_data(fixture_host, request, bytes, 1024);
    }
}

static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place) {
    (void)extension;
    (void)item;
    (void)type;
    (void)in_place;
    char path[4096];
    snprintf(path, sizeof path, "%s/content", getenv("TMPDIR"));
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0 && fill(file))
        fixture_requests->finish_with_file(fixture_host, request, path, 1);
    else
        fail(request);
    if (file >= 0) close(file);
}

static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    static char page[1u << 20];
    static size_t length;
    (void)extension;
    (void)item;
    (void)query;
    (void)content_path;
    if (length == 0) {
        char path[4096];
        snprintf(path, sizeof path, "%s/page", fixture_host->bundle_path);
        FILE *file = fopen(path, "rb");
        if (file != NULL) {
            length = fread(page, 1, sizeof page, file);
            fclose(file);
        }
    }
    fixture_show(request, "public.html", "A note", page, length);
}
