/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Works without end after a request for a full reindex. With COOPERATIVE, it pauses while it is
 * throttled; otherwise it ignores the notices. Prints "working", and for each notice "told" with
 * the time (CLOCK_MONOTONIC, nanoseconds).
 */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void did_throttle(searchlight_extension *extension, const searchlight_throttle_notice *notice);
static void did_finish_throttle(searchlight_extension *extension);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_DID_THROTTLE did_throttle
#define FIXTURE_DID_FINISH_THROTTLE did_finish_throttle
#include "../Extensions/fixture.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_throttled;

static void set(int throttled) {
    pthread_mutex_lock(&mutex);
    is_throttled = throttled;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void did_throttle(searchlight_extension *extension, const searchlight_throttle_notice *notice) {
    struct timespec now;
    char text[64];
    (void)extension;
    (void)notice;
    clock_gettime(CLOCK_MONOTONIC, &now);
    set(1);
    snprintf(text, sizeof text, "told %lld", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, text);
}

static void did_finish_throttle(searchlight_extension *extension) {
    (void)extension;
    set(0);
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    (void)request;
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, "working");
    for (;;) {
        for (volatile int turns = 0; turns < 100000; turns++) {}
#ifdef COOPERATIVE
        pthread_mutex_lock(&mutex);
        while (is_throttled) pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
#endif
    }
}
