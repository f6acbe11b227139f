/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.cancel/1: the cancellation of requests. */
#ifndef SEARCHLIGHT_HOST_CANCEL_H
#define SEARCHLIGHT_HOST_CANCEL_H

#include "../basics.h"
#include "../host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called when a request is cancelled. context: nullable; as passed. Time limit: 2 s, until
 * the request must be finished. [host-thread] */
typedef void (*searchlight_cancel_handler)(void *context, searchlight_request request);

/* Reports that a request was cancelled. The host ends a worker that has not finished the request
 * 2 s later. */
#define SEARCHLIGHT_HOST_CANCEL "searchlight.cancel/1"
typedef struct searchlight_host_cancel {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Returns 1 once the host no longer waits for the answer, even after the answer, else 0. Long
     * work should call this repeatedly, and finish the request with SEARCHLIGHT_CANCELLED.
     *
     * Time: at once. [thread-safe] */
    int32_t (*is_cancelled)(const searchlight_host *host, searchlight_request request);

    /* Sets a handler that is called once, when the request is cancelled. It is called at once if
     * the request already is cancelled, and never after it was finished. Replaces an earlier
     * handler.
     *
     * handler: nullable; NULL removes it.
     * context: nullable; only passed to the handler.
     * Time: at once. If an earlier handler runs on another thread, the function waits for it, at
     * most 1 s. [thread-safe] */
    void (*set_handler)(const searchlight_host *host, searchlight_request request, searchlight_cancel_handler handler,
                        void *context);
} searchlight_host_cancel;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_CANCEL_H */
