/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Broken in one place: FAULT is a function in faults.h, PLACE one of the places below. Everywhere
 * else it works: one item "one", promises, a preview of "page".
 */
#include "searchlight_extension.h"

#include "faults.h"

enum {
    IN_CONSTRUCTOR, IN_ENTRY, IN_CREATE, IN_GET_INTERFACE, IN_REINDEX_ALL, IN_REINDEX_ITEMS, IN_REINDEX_PAGE,
    IN_PROVIDE_DATA, IN_PROVIDE_FILE, IN_PREVIEW, IN_DID_THROTTLE, IN_DID_FINISH_THROTTLE, IN_COMPLETION,
    IN_STATE_COMPLETION, IN_CANCEL_HANDLER, IN_THREAD
};
#define AT(place)                                                                                                      \
    do {                                                                                                               \
        if (PLACE == place) FAULT();                                                                                   \
    } while (0)

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void reindex_items(searchlight_extension *extension, searchlight_request request,
                          const char *const *identifiers, size_t count);
static void reindex_page(searchlight_extension *extension, searchlight_request request, const searchlight_page *page);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place);
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path);
static void did_throttle(searchlight_extension *extension, const searchlight_throttle_notice *notice);
static void did_finish_throttle(searchlight_extension *extension);
static searchlight_status create(const searchlight_host *host, searchlight_extension **extension, char *error,
                                 size_t error_capacity);
static void at_get_interface(void);
#define FIXTURE_CREATE create
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_REINDEX_ITEMS reindex_items
#define FIXTURE_PROVIDE_DATA provide_data
#define FIXTURE_PROVIDE_FILE provide_file
#define FIXTURE_PREVIEW preview
#define FIXTURE_DID_THROTTLE did_throttle
#define FIXTURE_DID_FINISH_THROTTLE did_finish_throttle
#define FIXTURE_AT_GET_INTERFACE at_get_interface()
#define FIXTURE_AT_ENTRY AT(IN_ENTRY)
#ifdef PAGED
#define FIXTURE_PAGE reindex_page
#endif
#include "../fixture.h"

__attribute__((constructor)) static void constructor(void) { AT(IN_CONSTRUCTOR); }

static void at_get_interface(void) { AT(IN_GET_INTERFACE); }

static searchlight_status create(const searchlight_host *host, searchlight_extension **extension, char *error,
                                 size_t error_capacity) {
    (void)extension;
    (void)error;
    (void)error_capacity;
    fixture_connect(host);
    AT(IN_CREATE);
    return SEARCHLIGHT_OK;
}

static void donated(void *context, searchlight_status status, const char *message) {
    AT(IN_COMPLETION);
    fixture_acknowledge(context, status, message);
}

static void state_read(void *context, searchlight_status status, const char *message, const void *state,
                       size_t length) {
    (void)state;
    (void)length;
    AT(IN_STATE_COMPLETION);
    fixture_acknowledge(context, status, message);
}

static void *thread(void *request) {
    AT(IN_THREAD);
    fixture_donate("one", "One", "the first item", fixture_acknowledge, request);
    return NULL;
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    void *context = (void *)(uintptr_t)request;
    (void)extension;
    AT(IN_REINDEX_ALL);
    if (PLACE == IN_THREAD) {
        pthread_t other;
        pthread_create(&other, NULL, thread, context);
        pthread_detach(other);
        return;
    }
    fixture_donate("one", "One", "the first item", PLACE == IN_STATE_COMPLETION ? NULL : donated, context);
    if (PLACE == IN_STATE_COMPLETION) {
        const searchlight_host_batch *batches = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_BATCH);
        batches->read_state(fixture_host, "named", state_read, context);
    }
}

static void reindex_items(searchlight_extension *extension, searchlight_request request,
                          const char *const *identifiers, size_t count) {
    (void)extension;
    (void)identifiers;
    (void)count;
    AT(IN_REINDEX_ITEMS);
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}

#ifdef PAGED
static void page_donated(void *context, searchlight_status status, const char *message) {
    AT(IN_COMPLETION);
    if (status != SEARCHLIGHT_OK) {
        fixture_acknowledge(context, status, message);
    } else {
        fixture_requests->finish_page(fixture_host, (searchlight_request)(uintptr_t)context, NULL, 0);
    }
}
#endif

/* The first page is good; the fault is in the second. */
static __attribute__((unused)) void reindex_page(searchlight_extension *extension, searchlight_request request,
                                                 const searchlight_page *page) {
    (void)extension;
    (void)request;
    (void)page;
#ifdef PAGED
    if (page->cursor != NULL) {
        AT(IN_REINDEX_PAGE);
        fixture_donate("two", "Two", "the second item", page_donated, (void *)(uintptr_t)request);
        return;
    }
    /* Durable before the next page is requested, because donations are stored in order. */
    fixture_donate("one", "One", "the first item", NULL, NULL);
    fixture_requests->finish_page(fixture_host, request, "2", 1);
#endif
}

static void cancelled(void *context, searchlight_request request) {
    (void)context;
    AT(IN_CANCEL_HANDLER);
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_CANCELLED, "cancelled");
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    (void)item;
    (void)type;
    AT(IN_PROVIDE_DATA);
    if (PLACE == IN_CANCEL_HANDLER) {
        const searchlight_host_cancel *cancel = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_CANCEL);
        if (cancel != NULL) cancel->set_handler(fixture_host, request, cancelled, NULL);
        fputs("asked\n", stderr);
        return;
    }
    fixture_requests->finish_with_data(fixture_host, request, "data", 4);
}

static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place) {
    (void)extension;
    (void)item;
    (void)type;
    (void)in_place;
    AT(IN_PROVIDE_FILE);
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_UNSUPPORTED, "no files");
}

static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    (void)extension;
    (void)item;
    (void)query;
    (void)content_path;
    AT(IN_PREVIEW);
    fixture_show(request, "public.plain-text", "A page", "page", 4);
}

static void did_throttle(searchlight_extension *extension, const searchlight_throttle_notice *notice) {
    (void)extension;
    (void)notice;
    AT(IN_DID_THROTTLE);
}

static void did_finish_throttle(searchlight_extension *extension) {
    (void)extension;
    AT(IN_DID_FINISH_THROTTLE);
}
