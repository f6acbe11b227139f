/* SPDX-License-Identifier: Apache-2.0 */
/* Answers a reindex incorrectly (WAY is one of the functions below). Its only item is good. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PROVIDE_DATA provide_data
#include "../fixture.h"

#include <dlfcn.h>
#include <setjmp.h>

#include "faults.h"

#define WAY_FUNCTION FAULT_FUNCTION


static void finish(searchlight_request request, searchlight_status status, const char *message) {
    fixture_requests->finish(fixture_host, request, status, message);
}

static void donate_and_acknowledge(searchlight_request request) {
    fixture_donate("one", "One", "text", fixture_acknowledge, (void *)(uintptr_t)request);
}

WAY_FUNCTION before_it_is_durable(searchlight_request request) {
    fixture_donate("one", "One", "text", NULL, NULL);
    finish(request, SEARCHLIGHT_OK, NULL);
}

WAY_FUNCTION without_donating(searchlight_request request) { finish(request, SEARCHLIGHT_OK, NULL); }

WAY_FUNCTION unknown_numbers(searchlight_request request) {
    for (searchlight_request number = 100; number < 200; number++) {
        finish(number, SEARCHLIGHT_OK, NULL);
        fixture_requests->finish_with_data(fixture_host, number, "x", 1);
        fixture_requests->finish_with_file(fixture_host, number, "/etc/hostname", 0);
        fixture_requests->finish_page(fixture_host, number, "x", 1);
        fixture_show(number, "public.html", NULL, "x", 1);
    }
    finish(0, SEARCHLIGHT_OK, NULL);
    finish(UINT64_MAX, SEARCHLIGHT_OK, NULL);
    donate_and_acknowledge(request);
}

/* The number of the next request, before that request exists. */
WAY_FUNCTION next_number(searchlight_request request) {
    finish(request + 1, SEARCHLIGHT_OK, NULL);
    donate_and_acknowledge(request);
}

static __attribute__((unused)) void answer_often(void *context, searchlight_status status, const char *message) {
    fixture_acknowledge(context, status, message);
    for (int count = 0; count < 500; count++) {
        finish((searchlight_request)(uintptr_t)context, SEARCHLIGHT_FAILED, "too late");
    }
}
/* Continues to answer after the answer. */
WAY_FUNCTION after_the_end(searchlight_request request) {
    fixture_donate("one", "One", "text", answer_often, (void *)(uintptr_t)request);
}

static __attribute__((unused)) void *donate_late(void *unused) {
    (void)unused;
    for (int count = 0; count < 200; count++) {
        char name[32];
        snprintf(name, sizeof name, "late-%d", count);
        fixture_donate(name, name, "text", NULL, NULL);
    }
    for (;;) pause();
}
/* A thread continues to donate after the answer. */
WAY_FUNCTION thread_left_behind(searchlight_request request) {
    pthread_t thread;
    donate_and_acknowledge(request);
    pthread_create(&thread, NULL, donate_late, NULL);
    pthread_detach(thread);
}

static __attribute__((unused)) void *answer(void *context) {
    donate_and_acknowledge((searchlight_request)(uintptr_t)context);
    return NULL;
}
/* Correct but error-prone: from a separate thread, long after the callback returned. */
WAY_FUNCTION from_another_thread(searchlight_request request) {
    pthread_t thread;
    pthread_create(&thread, NULL, answer, (void *)(uintptr_t)request);
    pthread_detach(thread);
}

WAY_FUNCTION unknown_status(searchlight_request request) { finish(request, 12345, "a status of its own"); }
WAY_FUNCTION negative_status(searchlight_request request) { finish(request, INT32_MIN, "less than nothing"); }
WAY_FUNCTION without_reason(searchlight_request request) { finish(request, SEARCHLIGHT_FAILED, NULL); }
WAY_FUNCTION malformed_reason(searchlight_request request) { finish(request, SEARCHLIGHT_REFUSED, "\xff\xfe\xfd"); }
WAY_FUNCTION escaping_reason(searchlight_request request) {
    finish(request, SEARCHLIGHT_FAILED, "\x1b[2J\x1b]0;owned\x07\nsearchlight: all is well");
}

WAY_FUNCTION endless_reason(searchlight_request request) {
    size_t length = 40u << 20;
    char *text = malloc(length + 1);
    memset(text, 'x', length);
    text[length] = 0;
    finish(request, SEARCHLIGHT_FAILED, text);
    free(text);
}

WAY_FUNCTION with_a_page(searchlight_request request) {
    fixture_requests->finish_page(fixture_host, request, "next", 4);
}
WAY_FUNCTION with_a_preview(searchlight_request request) { fixture_show(request, "public.html", NULL, "x", 1); }
WAY_FUNCTION with_a_file(searchlight_request request) {
    fixture_requests->finish_with_file(fixture_host, request, "/etc/hostname", 0);
}

WAY_FUNCTION nobody_as_host(searchlight_request request) {
    fixture_requests->finish(NULL, request, SEARCHLIGHT_OK, NULL);
    fixture_requests->finish_with_data(NULL, request, "x", 1);
    fixture_requests->finish_with_preview(fixture_host, request, NULL);
}

static jmp_buf elsewhere;
static __attribute__((unused)) void *jump(void *unused) {
    (void)unused;
    longjmp(elsewhere, 1);
}
/* Jumps onto another thread's stack. */
WAY_FUNCTION longjmp_away(searchlight_request request) {
    (void)request;
    pthread_t thread;
    if (setjmp(elsewhere) != 0) return;
    pthread_create(&thread, NULL, jump, NULL);
    for (;;) pause();
}

WAY_FUNCTION dlclose_itself(searchlight_request request) {
    Dl_info info;
    if (dladdr((void *)(uintptr_t)&fixture_donate, &info) == 0) abort();
    void *handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    for (int count = 0; handle != NULL && count < 4; count++) dlclose(handle);
    donate_and_acknowledge(request);
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    WAY(request);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    (void)item;
    (void)type;
    finish(request, SEARCHLIGHT_OK, NULL);
}
