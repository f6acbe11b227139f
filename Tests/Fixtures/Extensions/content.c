/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large content of promises. The identifier of an item is KIND-BYTES: stream and memory (data), unnamed (data and a
 * file), or what goes wrong: short (half of a stream), long (twice as much), pipe, closed (a descriptor), twice (two
 * answers), many (too many streams). A paced stream has half of its bytes until the test makes the mark "whole".
 */
#include "searchlight_extension.h"
#include "searchlight/draft/content.h"

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place);
static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PROVIDE_DATA provide_data
#define FIXTURE_PROVIDE_FILE provide_file
#include "fixture.h"

#include <fcntl.h>
#include <pthread.h>

static const char *const kinds[] = {"stream-0",  "stream-10",      "stream-300000000", "memory-300000000",
                                    "unnamed-0", "unnamed-200000", "short-200000",     "long-100",
                                    "pipe-1",    "closed-1",       "twice-10",         "many-10",
                                    "paced-200000"};
enum { piece = 256 << 10 };

static const searchlight_host_content *content(void) {
    return fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_CONTENT);
}

static void say(const char *what, searchlight_status status) {
    char line[64];
    snprintf(line, sizeof line, "%s %d", what, (int)status);
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, line);
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    const char *types[] = {"public.plain-text"};
    size_t count = sizeof kinds / sizeof *kinds;
    searchlight_item *all[sizeof kinds / sizeof *kinds];
    (void)extension;
    for (size_t i = 0; i < count; i++) {
        all[i] = fixture_items->create(fixture_host, kinds[i], "content", "public.text");
        fixture_items->set_string(all[i], "title", kinds[i]);
        fixture_items->set_strings(all[i],
                                   strncmp(kinds[i], "unnamed", 7) == 0 ? "providerFileTypeIdentifiers"
                                                                        : "providerDataTypeIdentifiers",
                                   types, 1);
    }
    fixture_index->index_items(fixture_host, NULL, all, count, fixture_acknowledge, (void *)(uintptr_t)request);
    for (size_t i = 0; i < count; i++) fixture_items->release(all[i]);
}

/* Writes bytes, each of which is the lowest byte of its position divided by 1000. */
static searchlight_status fill(searchlight_stream *stream, size_t from, size_t to) {
    static __thread unsigned char bytes[piece];
    while (from < to) {
        size_t count = to - from < piece ? to - from : piece;
        for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)((from + i) / 1000);
        searchlight_status status = content()->write(stream, bytes, count);
        if (status != SEARCHLIGHT_OK) return status;
        from += count;
    }
    return SEARCHLIGHT_OK;
}

struct paced {
    searchlight_stream *stream;
    size_t length;
};

static void *finish_paced(void *context) {
    struct paced *paced = context;
    char marker[4096];
    fixture_mark(marker, sizeof marker, "whole");
    while (access(marker, F_OK) != 0) usleep(1000);
    say("paced", fill(paced->stream, paced->length / 2, paced->length));
    content()->end(paced->stream);
    free(paced);
    return NULL;
}

/* Returns a file without a name, from which nothing was read. */
static int unnamed(size_t length) {
    int file = open(getenv("TMPDIR"), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    for (size_t i = 0; file >= 0 && i < length; i++) {
        unsigned char byte = (unsigned char)(i / 1000);
        if (write(file, &byte, 1) != 1) return -1;
    }
    return file;
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    size_t length = strtoul(strchr(item, '-') + 1, NULL, 10);
    (void)extension, (void)type;
    if (content() == NULL) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_UNSUPPORTED, "this host has no streams");
    } else if (strncmp(item, "memory", 6) == 0) {
        char *bytes = calloc(1, length);
        if (bytes == NULL)
            fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "out of memory");
        else
            fixture_requests->finish_with_data(fixture_host, request, bytes, length);
        free(bytes);
    } else if (strncmp(item, "unnamed", 7) == 0) {
        int file = unnamed(length);
        content()->finish_with_descriptor(fixture_host, request, file, NULL);
        close(file);
    } else if (strncmp(item, "pipe", 4) == 0) {
        int ends[2];
        if (pipe(ends) != 0) abort();
        content()->finish_with_descriptor(fixture_host, request, ends[0], NULL);
        close(ends[0]), close(ends[1]);
    } else if (strncmp(item, "closed", 6) == 0) {
        content()->finish_with_descriptor(fixture_host, request, 999999, NULL);
    } else if (strncmp(item, "many", 4) == 0) {
        searchlight_stream *all[SEARCHLIGHT_STREAMS_MAX + 1] = {content()->finish_with_stream(fixture_host, request, length)};
        say("many", all[0] == NULL ? SEARCHLIGHT_FAILED : fill(all[0], 0, length));
        /* The request is answered, so there is no second stream. */
        all[1] = content()->finish_with_stream(fixture_host, request, length);
        say("second", all[1] == NULL ? SEARCHLIGHT_FAILED : SEARCHLIGHT_OK);
        content()->end(all[0]);
    } else {
        searchlight_stream *stream = content()->finish_with_stream(fixture_host, request, length);
        if (strncmp(item, "paced", 5) == 0) {
            struct paced *paced = malloc(sizeof *paced);
            pthread_t thread;
            *paced = (struct paced){stream, length};
            say("half", fill(stream, 0, length / 2));
            pthread_create(&thread, NULL, finish_paced, paced);
            pthread_detach(thread);
            return;
        }
        say("filled", fill(stream, 0, strncmp(item, "short", 5) == 0 ? length / 2 : length));
        if (strncmp(item, "long", 4) == 0) say("long", fill(stream, length, 2 * length));
        if (strncmp(item, "twice", 5) == 0)
            fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "a second answer");
        content()->end(stream);
    }
}

static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place) {
    int file = unnamed(strtoul(strchr(item, '-') + 1, NULL, 10));
    (void)extension, (void)type, (void)in_place;
    content()->finish_with_descriptor(fixture_host, request, file, "from nowhere.txt");
    close(file);
}
