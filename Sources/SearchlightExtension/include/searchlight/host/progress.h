/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.progress/1: the progress of requests. */
#ifndef SEARCHLIGHT_HOST_PROGRESS_H
#define SEARCHLIGHT_HOST_PROGRESS_H

#include "../basics.h"
#include "../host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reports the progress of a request. It is a sign of life, and a waiting user sees it. */
#define SEARCHLIGHT_HOST_PROGRESS "searchlight.progress/1"
typedef struct searchlight_host_progress {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Reports completed of total units of the extension's choice; total is 0 if it is not known.
     * May be called at any rate; the host gets a few reports a second. Ignored after the answer.
     *
     * Time: at once. [thread-safe] */
    void (*report)(const searchlight_host *host, searchlight_request request, uint64_t completed, uint64_t total);
} searchlight_host_progress;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_PROGRESS_H */
