/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records its requests and acknowledgements, one line each, before it makes them: "asked BUNDLE
 * all", "asked BUNDLE items NAME...", and the same with "ack". If compiled with JOBS_IN_PAGES, it
 * serves full reindexes in pages.
 */
#include "searchlight_extension.h"

#include <fcntl.h>

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_REINDEX_ITEMS reindex_items
#ifdef JOBS_IN_PAGES
static void page(searchlight_extension *extension, searchlight_request request, const searchlight_page *page);
#define FIXTURE_PAGE page
#endif
#include "fixture.h"

#define ITEMS 4
#define PAGES 3

/* In one write and durable, so that each written line is complete, whenever the process is
 * killed. */
static void record(const char *what, const char *rest) {
    char path[4096], bundle[256];
    snprintf(path, sizeof path, "%s/Documents/marks/jobs.log", getenv("HOME"));
    const char *name = strrchr(fixture_host->bundle_path, '/') + 1;
    snprintf(bundle, sizeof bundle, "%.*s", (int)(strlen(name) - strlen(".searchext")), name);
    size_t capacity = strlen(what) + strlen(bundle) + strlen(rest) + 4;
    char *line = malloc(capacity);
    int length = snprintf(line, capacity, "%s %s %s\n", what, bundle, rest);
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || write(file, line, (size_t)length) != length || fsync(file) != 0) abort();
    close(file);
    free(line);
}

struct answer {
    searchlight_request request;
    int next;
    char rest[];
};

static struct answer *answer(searchlight_request request, int next, const char *rest) {
    struct answer *made = malloc(sizeof *made + strlen(rest) + 1);
    made->request = request;
    made->next = next;
    strcpy(made->rest, rest);
    return made;
}

static void done(void *context, searchlight_status status, const char *message) {
    struct answer *answer = context;
    if (status != SEARCHLIGHT_OK) {
        fixture_requests->finish(fixture_host, answer->request, status, message);
    } else if (answer->next >= 0 && answer->next < PAGES) {
        char cursor[16];
        snprintf(cursor, sizeof cursor, "%d", answer->next);
        fixture_requests->finish_page(fixture_host, answer->request, cursor, strlen(cursor));
    } else {
        record("ack", answer->rest);
        if (answer->next >= 0) {
            fixture_requests->finish_page(fixture_host, answer->request, NULL, 0);
        } else {
            fixture_requests->finish(fixture_host, answer->request, SEARCHLIGHT_OK, NULL);
        }
    }
    free(answer);
}

static void donate(int page, struct answer *answer) {
    for (int item = 0; item < ITEMS; item++) {
        char identifier[32];
        snprintf(identifier, sizeof identifier, "base-%d-%d", page, item);
        fixture_donate(identifier, identifier, "job", item + 1 < ITEMS ? NULL : done, item + 1 < ITEMS ? NULL : answer);
    }
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    record("asked", "all");
    donate(0, answer(request, -1, "all"));
}

static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    (void)extension;
    size_t capacity = sizeof "items";
    for (size_t i = 0; i < count; i++) capacity += strlen(identifiers[i]) + 1;
    char *rest = malloc(capacity);
    strcpy(rest, "items");
    for (size_t i = 0; i < count; i++) strcat(strcat(rest, " "), identifiers[i]);
    record("asked", rest);
    struct answer *last = answer(request, -1, rest);
    free(rest);
    for (size_t i = 0; i < count; i++)
        fixture_donate(identifiers[i], identifiers[i], "job", i + 1 < count ? NULL : done, i + 1 < count ? NULL : last);
}

#ifdef JOBS_IN_PAGES
static void page(searchlight_extension *extension, searchlight_request request, const searchlight_page *page) {
    (void)extension;
    int number = page->cursor == NULL ? 0 : ((const char *)page->cursor)[0] - '0';
    if (number == 0) record("asked", "all");
    donate(number, answer(request, number + 1, "all"));
}
#endif
