/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extension for the benchmarks. It serves promises of 1 KiB immediately, and previews from the
 * file "page" in its bundle, which it reads once. A reindex donates the batches of records in the
 * file "records" in its bundle. Each batch consists of a four-byte length, least significant byte
 * first, and its records.
 */
#include "searchlight_extension.h"

#include <sys/stat.h>

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PREVIEW preview
#define FIXTURE_PROVIDE_DATA provide_data
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

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    static const char bytes[1024];
    (void)extension;
    (void)item;
    (void)type;
    fixture_requests->finish_with_data(fixture_host, request, bytes, sizeof bytes);
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
