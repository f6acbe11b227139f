/* SPDX-License-Identifier: Apache-2.0 */
/* A correct extension, or one with the fault that BREAK selects, for the validator's checks. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "searchlight_extension.h"

#define GOOD 0
#define EAGER 1          /* donates when it is created */
#define SILENT 2         /* never acknowledges a reindex of some items */
#define TWICE 3          /* acknowledges twice */
#define COUNTING 4       /* a different identifier each time */
#define VOLATILE 5       /* a different title each time */
#define FORGETFUL 6      /* acknowledges items that it does not donate */
#define GENEROUS 7       /* claims to have every item, even nonexistent ones */
#define LIAR 8           /* delivers text where it promised HTML */
#define BREAKING 9       /* does not keep its promises */
#define ANY_TYPE 10      /* delivers text for any type */
#define BAD_PREVIEW 11   /* shows bytes that are not a PNG image */
#define BAD_REFERENCE 12 /* refers to a missing attachment */
#define SHARED 13        /* keeps the current request in one shared variable */
#define LEAKING 14       /* leaks a megabyte in each request */
#define DESCRIPTORS 15   /* leaves descriptors open */
#define FRAGILE 16       /* crashes on identifiers that it did not create */
#define TALKATIVE 17     /* prints far too much */
#define DEADLOCK 18      /* waits indefinitely for a second concurrent request */
#define CRASHING 19      /* crashes in a preview */
#define SLOW_NOTICE 20   /* reacts slowly to throttle notices */
#define ENDLESS 21       /* ignores cancellation */
#define PAGED 22         /* well-behaved, with pages */
#define CIRCLING 23      /* its pages never end */
#define ABSENT 24        /* its cursors are empty; it keeps its position only in memory */
#define PRYING 25        /* reads a file that it must not read */
#define UNDEAD 26        /* starts a process */
#define SLOW_TO_LOAD 27  /* loads slowly */
#define PLANTING 28      /* puts a file where extensions are searched for */
#define SCRIPTED 29      /* shows a page with scripts and remote resources */
#define HOARDING 30      /* never deletes items that no longer exist */
#define LOCKED_OUT 31    /* cannot reindex without a file that its sandbox denies */
#define LINGERING 32     /* well-behaved; its calls continue briefly after the answer */
#define VAST 33          /* well-behaved, with very many items in pages */
#define HUGE 34          /* correct, with very many items; donates a sample on request */
#define CROWDED 35       /* correct, with very many items at once; ignores the requested sample */
#define WARMING 36       /* keeps 96 KiB in each of its first 50 requests */
#define MISSPELT 37      /* attributes with unknown names, and with values of other kinds */
#define UNWILLING 38     /* fails each reindex of some items */
#define NAMED 39         /* correct, with a named index only */
#define COPYING 40       /* deletes items that no longer exist from one of its two indexes */
#define DYING 41         /* crashes when it provides HTML */

#if BREAK == NAMED || BREAK == COPYING
#define SUBJECT_INDEX "sheets"
#endif
#if BREAK == COPYING
#define SUBJECT_COPIES "copies"
#endif

#if BREAK == EAGER || BREAK == PRYING || BREAK == UNDEAD || BREAK == SLOW_TO_LOAD || BREAK == PLANTING || \
    BREAK == LINGERING
static void begin(void);
#define SUBJECT_CREATE begin
#elif BREAK == SILENT
static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    (void)extension, (void)request, (void)identifiers, (void)count;
}
#define SUBJECT_REINDEX_ITEMS reindex_items
#elif BREAK == TWICE
static void donated(void *context, searchlight_status status, const char *message);
#define SUBJECT_DONATED donated
#elif BREAK == COUNTING
static const char *counted(int sheet);
#define SUBJECT_IDENTIFIER counted
#elif BREAK == VOLATILE
static const char *counted(int sheet);
#define SUBJECT_TITLE counted
#elif BREAK == FORGETFUL || BREAK == UNWILLING
static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count);
#define SUBJECT_REINDEX_ITEMS reindex_items
#elif BREAK == MISSPELT
static void misspell(searchlight_item *item);
#define SUBJECT_ATTRIBUTES misspell
#elif BREAK == GENEROUS || BREAK == LIAR || BREAK == BREAKING || BREAK == ANY_TYPE || BREAK == SHARED || \
    BREAK == LEAKING || BREAK == WARMING || BREAK == DESCRIPTORS || BREAK == FRAGILE || BREAK == TALKATIVE || \
    BREAK == DEADLOCK || BREAK == DYING
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
#define SUBJECT_PROVIDE_DATA provide_data
#elif BREAK == BAD_PREVIEW || BREAK == BAD_REFERENCE || BREAK == CRASHING || BREAK == SCRIPTED
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path);
#define SUBJECT_PREVIEW preview
#elif BREAK == SLOW_NOTICE || BREAK == PAGED || BREAK == CIRCLING || BREAK == ABSENT || BREAK == VAST
static const void *more(const char *identifier);
#define SUBJECT_INTERFACE more
#elif BREAK == ENDLESS || BREAK == HOARDING || BREAK == LOCKED_OUT
static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define SUBJECT_REINDEX_ALL reindex_all
#endif
#if BREAK == LINGERING
static const char *lingering_title(int sheet);
static void linger(searchlight_extension *extension, searchlight_request request);
#define SUBJECT_TITLE lingering_title
#define SUBJECT_REINDEX_ALL linger
#endif

#if BREAK == VAST || BREAK == HUGE || BREAK == CROWDED
#define SUBJECT_COUNT 20000
#endif
#if BREAK == HUGE
static size_t wanted_sheets(void);
#define SUBJECT_DONATES wanted_sheets()
#endif

#include "subject.h"

#if BREAK == HUGE
static size_t wanted_sheets(void) {
    const char *wanted = getenv("SEARCHLIGHT_SAMPLE_ITEMS");
    int count = wanted != NULL ? atoi(wanted) : 0;
    return count > 0 && count < sheet_count ? (size_t)count : sheet_count;
}
#endif

#if BREAK == EAGER
static void begin(void) {
    searchlight_item *item = items->create(host, "early", "sheets", "public.plain-text");
    index_table->index_items(host, NULL, &item, 1, NULL, NULL);
    items->release(item);
}
#elif BREAK == PRYING
static void begin(void) {
    char path[512];
    const char *home = getenv("HOME");
    snprintf(path, sizeof path, "%s/secret", home != NULL ? home : "");
    FILE *file = fopen(path, "r");
    if (file != NULL) fclose(file);
}
#elif BREAK == UNDEAD
static void begin(void) {
    if (fork() == 0) _exit(0);
}
#elif BREAK == SLOW_TO_LOAD
static void begin(void) { usleep(600000); }
#elif BREAK == LINGERING
static _Atomic int under_way, was_under_way;
static void begin(void) { was_under_way = under_way; }
static const char *lingering_title(int sheet) { return was_under_way ? "made while a call was under way" : sheets[sheet]; }
static void linger(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    static const int all[sheet_count] = {0, 1, 2};
    under_way++;
    index_table->delete_all(host, NULL, NULL, NULL);
    donate(request, all, sheet_count);
    usleep(1000 * 1000);
    under_way--;
}
#elif BREAK == PLANTING
static void begin(void) {
    char path[512];
    const char *home = getenv("HOME");
    snprintf(path, sizeof path, "%s/extensions/planted", home != NULL ? home : "");
    FILE *file = fopen(path, "w");
    if (file != NULL) fclose(file);
}
#elif BREAK == PAGED || BREAK == CIRCLING || BREAK == ABSENT
static void paged(void *context, searchlight_status status, const char *message) {
    uintptr_t packed = (uintptr_t)context;
    searchlight_request request = packed >> 8;
    unsigned char next = packed & 0xFF;
    if (status != SEARCHLIGHT_OK) {
        finish(request, status, message);
    } else if (next >= sheet_count && BREAK != CIRCLING) {
        requests->finish_page(host, request, NULL, 0);
    } else {
        next = BREAK == CIRCLING ? next % sheet_count : next;
        requests->finish_page(host, request, &next, 1);
    }
}
/* One item per page, since pages may be smaller than their budget. */
static void reindex_page(searchlight_extension *extension, searchlight_request request, const searchlight_page *page) {
    (void)extension;
    static int place;
    if (page->cursor == NULL) place = 0;
    int sheet = page->cursor == NULL ? 0 : BREAK == ABSENT ? place : *(const unsigned char *)page->cursor;
    if (sheet >= sheet_count) sheet = 0;
    place = sheet + 1;
    searchlight_item *item = items->create(host, sheets[sheet], "sheets", "public.plain-text");
    items->set_expiration(item, INFINITY);
    index_table->index_items(host, NULL, &item, 1, paged, (void *)(((uintptr_t)request << 8) | (uintptr_t)place));
    items->release(item);
}
static const void *more(const char *identifier) {
    static const searchlight_extension_paging paging = {sizeof paging, 0, reindex_page};
    return strcmp(identifier, SEARCHLIGHT_EXTENSION_PAGING) == 0 ? &paging : NULL;
}
#elif BREAK == VAST
typedef struct {
    searchlight_request request;
    int next;
} vast_page;
static void vast_donated(void *context, searchlight_status status, const char *message) {
    vast_page *page = context;
    if (status != SEARCHLIGHT_OK)
        finish(page->request, status, message);
    else
        requests->finish_page(host, page->request, page->next < sheet_count ? &page->next : NULL,
                              page->next < sheet_count ? sizeof page->next : 0);
    free(page);
}
static void reindex_page(searchlight_extension *extension, searchlight_request request, const searchlight_page *page) {
    (void)extension;
    int first = 0;
    if (page->cursor != NULL && page->cursor_length == sizeof first) memcpy(&first, page->cursor, sizeof first);
    int count = page->items < 1000 ? (int)page->items : 1000;
    if (count > sheet_count - first) count = sheet_count - first;
    searchlight_item *all[1000];
    for (int i = 0; i < count; i++) {
        all[i] = items->create(host, sheets[first + i], "sheets", "public.plain-text");
        items->set_expiration(all[i], INFINITY);
    }
    vast_page *done = malloc(sizeof *done);
    if (done == NULL) abort();
    *done = (vast_page){request, first + count};
    index_table->index_items(host, NULL, all, (size_t)count, vast_donated, done);
    for (int i = 0; i < count; i++) items->release(all[i]);
}
static const void *more(const char *identifier) {
    static const searchlight_extension_paging paging = {sizeof paging, 0, reindex_page};
    return strcmp(identifier, SEARCHLIGHT_EXTENSION_PAGING) == 0 ? &paging : NULL;
}
#elif BREAK == TWICE
static void donated(void *context, searchlight_status status, const char *message) {
    finish((searchlight_request)(uintptr_t)context, status, message);
    finish((searchlight_request)(uintptr_t)context, status, message);
}
#elif BREAK == COUNTING || BREAK == VOLATILE
static const char *counted(int sheet) {
    static char names[64][32];
    static int count;
    int place = count++ % 64;
    snprintf(names[place], sizeof names[place], "%s-%d-%d", sheets[sheet], (int)getpid(), count);
    return names[place];
}
#elif BREAK == FORGETFUL || BREAK == UNWILLING
static void reindex_items(searchlight_extension *extension, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    (void)extension, (void)identifiers, (void)count;
    finish(request, BREAK == FORGETFUL ? SEARCHLIGHT_OK : SEARCHLIGHT_UNAVAILABLE, "the sheets are locked");
}
#elif BREAK == MISSPELT
static void misspell(searchlight_item *item) {
    items->set_string(item, "keyword", "paper");
    items->set_string(item, "keywords", "paper");
    items->set_date(item, "contentCreationDate", 1.7e12); /* milliseconds */
    items->set_string(item, "com_example_subject_mood", "calm");
}
#elif BREAK == BAD_PREVIEW || BREAK == BAD_REFERENCE || BREAK == CRASHING || BREAK == SCRIPTED
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    (void)extension, (void)query, (void)content_path;
    if (find(item) < 0) {
        finish(request, SEARCHLIGHT_NOT_FOUND, "no such sheet");
        return;
    }
    if (BREAK == CRASHING) abort();
    if (BREAK == BAD_PREVIEW) {
        show(request, "public.png", "not a picture");
        return;
    }
    if (BREAK == SCRIPTED) {
        show(request, "public.html", "<p onclick='a()'>x<script>a()</script><script src='/b'></script>"
                                     "<link rel=stylesheet href='https://example.org/x.css'>");
        return;
    }
    show(request, "public.html", "<img src=\"cid:missing\"><img src='https://example.org/x.png'>");
}
#elif BREAK == SLOW_NOTICE
static void did_throttle(searchlight_extension *extension, const searchlight_throttle_notice *notice) {
    (void)extension, (void)notice;
    usleep(900 * 1000);
}
static void did_finish(searchlight_extension *extension) { (void)extension; }
static const void *more(const char *identifier) {
    static const searchlight_extension_throttle throttle = {sizeof throttle, 0, did_throttle, did_finish};
    return strcmp(identifier, SEARCHLIGHT_EXTENSION_THROTTLE) == 0 ? &throttle : NULL;
}
#elif BREAK == ENDLESS
static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    const searchlight_host_cancel *cancel = host->get_interface(host, SEARCHLIGHT_HOST_CANCEL);
    /* After the cancellation it never returns. Only the end of the process stops it. */
    for (int i = 0; i < 50 || cancel->is_cancelled(host, request); i++) {
        log_table->log(host, SEARCHLIGHT_LOG_INFO, "at it");
        usleep(100 * 1000);
    }
    static const int all[sheet_count] = {0, 1, 2};
    donate(request, all, sheet_count);
}
#elif BREAK == HOARDING
static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    static const int all[sheet_count] = {0, 1, 2};
    donate(request, all, sheet_count);
}
#elif BREAK == LOCKED_OUT
static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    char path[512];
    const char *home = getenv("HOME");
    snprintf(path, sizeof path, "%s/secret", home != NULL ? home : "");
    FILE *file = fopen(path, "r");
    if (file != NULL) fclose(file);
    finish(request, file != NULL ? SEARCHLIGHT_OK : SEARCHLIGHT_FAILED, "the sheets cannot be read");
}
#endif

#if BREAK == SHARED || BREAK == DEADLOCK
/* On a separate thread, so that requests also overlap on a machine with one processor. */
static void later(searchlight_request request, void *(*answer)(void *)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, answer, (void *)(uintptr_t)request) != 0) abort();
    pthread_detach(thread);
}
#endif
#if BREAK == SHARED
static _Atomic searchlight_request shared_request;
static _Atomic int shared_sheet;
static void *shared_answer(void *context) {
    searchlight_request request = (searchlight_request)(uintptr_t)context;
    for (int i = 0; i < 100 && shared_request == request; i++) usleep(1000);
    char text[64];
    snprintf(text, sizeof text, "<p>%d</p>", shared_request == request ? shared_sheet : 9);
    finish_text(request, text);
    return NULL;
}
#elif BREAK == DEADLOCK
static volatile int under_way;
static void *deadlock_answer(void *context) {
    usleep(100 * 1000);
    __sync_fetch_and_sub(&under_way, 1);
    finish_text((searchlight_request)(uintptr_t)context, "<p>x</p>");
    return NULL;
}
#endif

#if (BREAK >= GENEROUS && BREAK <= DEADLOCK && BREAK != BAD_PREVIEW && BREAK != BAD_REFERENCE) || BREAK == WARMING || \
    BREAK == DYING
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    int isHTML = strcmp(type, "public.html") == 0;
    int isText = strcmp(type, "public.utf8-plain-text") == 0;
#if BREAK == GENEROUS
    (void)item;
    if (!isHTML && !isText) {
        finish(request, SEARCHLIGHT_UNSUPPORTED, "sheets are text");
        return;
    }
    finish_text(request, "<p>anything</p>");
#elif BREAK == ANY_TYPE
    if (find(item) < 0) {
        finish(request, SEARCHLIGHT_NOT_FOUND, "no such sheet");
        return;
    }
    (void)isText;
    finish_text(request, isHTML ? "<p>x</p>" : "x");
#else
#if BREAK == FRAGILE
    if (find(item) < 0 && strncmp(item, "searchlight-validation", 22) != 0) abort();
#endif
    if (find(item) < 0) {
        finish(request, SEARCHLIGHT_NOT_FOUND, "no such sheet");
        return;
    }
    if (!isHTML && !isText) {
        finish(request, SEARCHLIGHT_UNSUPPORTED, "sheets are text");
        return;
    }
#if BREAK == DYING
    if (isHTML) abort();
    finish_text(request, "x");
#elif BREAK == LIAR
    finish_text(request, "no markup");
#elif BREAK == BREAKING
    finish(request, SEARCHLIGHT_NOT_FOUND, "it was torn out");
#elif BREAK == SHARED
    shared_request = request;
    shared_sheet = find(item);
    later(request, shared_answer);
#elif BREAK == LEAKING
    char *kept = malloc(1 << 20);
    memset(kept, *item, 1 << 20);
    finish_text(request, kept[1] ? "<p>x</p>" : "");
#elif BREAK == WARMING
    static int kept;
    if (kept++ < 50) {
        char *cache = malloc(96 << 10);
        if (cache) memset(cache, *item, 96 << 10);
    }
    finish_text(request, "<p>x</p>");
#elif BREAK == DESCRIPTORS
    if (dup(1) < 0) {
        finish(request, SEARCHLIGHT_FAILED, "no descriptor");
        return;
    }
    finish_text(request, "<p>x</p>");
#elif BREAK == TALKATIVE
    for (int i = 0; i < 900; i++) log_table->log(host, SEARCHLIGHT_LOG_INFO, "still here");
    finish_text(request, "<p>x</p>");
#elif BREAK == DEADLOCK
    if (__sync_fetch_and_add(&under_way, 1) > 0) return; /* never answered */
    later(request, deadlock_answer);
#else
    finish_text(request, "<p>x</p>");
#endif
#endif
}
#endif
