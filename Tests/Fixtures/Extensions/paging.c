/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Five pages of ten items each. The cursor is the number of the next page as text. The mark "do"
 * contains a fault, and the page P in which it occurs:
 *
 *   more P       one item more, "stale"
 *   early P      never ends, before it has donated anything
 *   late P       never ends, after it has donated everything
 *   die P        is killed after it has donated everything, the first time
 *   refuse P     rejects the cursor
 *   same P       ends with the cursor of its start
 *   endless P    continues without end from there, and donates nothing
 *   long P       ends with a cursor that is too long
 *   wrong P      acknowledges like a full reindex without pages
 *   locked P     leaves out a file
 */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void page(searchlight_extension *extension, searchlight_request request, const searchlight_page *page);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PAGE page
#include "fixture.h"

#define PAGES 5
#define ITEMS 10

static int happens(const char *what, int number) {
    char path[4096], word[32];
    int wanted = -1, found = 0;
    fixture_mark(path, sizeof path, "do");
    FILE *file = fopen(path, "r");
    while (file != NULL && fscanf(file, "%31s %d", word, &wanted) == 2)
        found |= strcmp(word, what) == 0 && wanted == number;
    if (file != NULL) fclose(file);
    return found;
}

static void say(const char *what, int number) {
    char text[64];
    snprintf(text, sizeof text, "%s %d", what, number);
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, text);
}

static void stop(int number) {
    say("stopped in", number);
    for (;;) pause();
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "it is to be asked in pages");
}

static void end(searchlight_request request, int number) {
    char cursor[SEARCHLIGHT_CURSOR_MAX + 1] = {0};
    snprintf(cursor, sizeof cursor, "%d", happens("same", number) ? number : number + 1);
    if (happens("wrong", number)) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
    } else if (happens("long", number)) {
        fixture_requests->finish_page(fixture_host, request, cursor, sizeof cursor);
    } else if (number + 1 < PAGES) {
        fixture_requests->finish_page(fixture_host, request, cursor, strlen(cursor));
    } else {
        fixture_requests->finish_page(fixture_host, request, NULL, 0);
    }
}

static struct {
    searchlight_request request;
    int number;
} current;

static void donated(void *context, searchlight_status status, const char *message) {
    (void)context;
    if (status != SEARCHLIGHT_OK) {
        fixture_requests->finish(fixture_host, current.request, status, message);
        return;
    }
    if (happens("late", current.number)) stop(current.number);
    if (happens("die", current.number)) {
        char path[4096];
        fixture_mark(path, sizeof path, "do");
        unlink(path);
        raise(SIGKILL);
    }
    end(current.request, current.number);
}

static void page(searchlight_extension *extension, searchlight_request request, const searchlight_page *page) {
    (void)extension;
    char text[32] = {0};
    memcpy(text, page->cursor == NULL ? "0" : page->cursor,
           page->cursor == NULL ? 1 : page->cursor_length < sizeof text ? page->cursor_length : sizeof text - 1);
    int number = atoi(text);
    current.request = request;
    current.number = number;
    say("page", number);
    if (page->items == 0 || page->milliseconds == 0 || page->memory_limit == 0) abort();
    if (happens("early", number)) stop(number);
    if (happens("refuse", number)) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_NOT_FOUND, "there is no such page");
        return;
    }
    if (happens("endless", 0) && number >= PAGES - 1) {
        snprintf(text, sizeof text, "%d", number + 1);
        fixture_requests->finish_page(fixture_host, request, text, strlen(text));
        return;
    }
    if (happens("locked", number)) {
        const searchlight_host_left_out *left_out = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_LEFT_OUT);
        snprintf(text, sizeof text, "file %d", number);
        left_out->report(fixture_host, text, "locked");
    }
    for (int item = 0; item < ITEMS; item++) {
        char identifier[32];
        snprintf(identifier, sizeof identifier, "%d-%d", number, item);
        fixture_donate(identifier, identifier, "paged", item + 1 < ITEMS ? NULL : donated, NULL);
        if (item == 0 && happens("more", number)) fixture_donate("stale", "Stale", "paged", NULL, NULL);
    }
}
