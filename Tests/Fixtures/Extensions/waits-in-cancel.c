/* SPDX-License-Identifier: Apache-2.0 */
/* Its cancel handler waits for a completion, which the host calls at the same time. */
#include <semaphore.h>

#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

static sem_t durable;

static void cancelled(void *context, searchlight_request request) {
    (void)context, (void)request;
    sem_wait(&durable);
}

static void donated(void *context, searchlight_status status, const char *message) {
    sem_post(&durable);
    fixture_acknowledge(context, status, message);
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    const searchlight_host_cancel *cancel = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_CANCEL);
    sem_init(&durable, 0, 0);
    cancel->set_handler(fixture_host, request, cancelled, NULL);
    fixture_donate("one", "One", "the first item", donated, (void *)(uintptr_t)request);
}
