/* SPDX-License-Identifier: Apache-2.0 */
/* An extension with faults that only a sanitizer finds: a data race between two threads, and a read
 * of freed memory. */
#include <pthread.h>

#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

static long counter;
static void *count(void *unused) {
    for (int i = 0; i < 100000; i++) counter++;
    return unused;
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    pthread_t thread;
    if (pthread_create(&thread, NULL, count, NULL) != 0) abort();
    count(NULL);
    pthread_join(thread, NULL);
    volatile char *text = malloc(16);
    if (text == NULL) abort();
    free((void *)text);
    fixture_requests->finish(fixture_host, request, text[3] == counter ? SEARCHLIGHT_OK : SEARCHLIGHT_FAILED, NULL);
}
