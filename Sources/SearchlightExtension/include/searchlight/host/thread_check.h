/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.thread-check/1: the kind of the calling thread. */
#ifndef SEARCHLIGHT_HOST_THREAD_CHECK_H
#define SEARCHLIGHT_HOST_THREAD_CHECK_H

#include "../basics.h"
#include "../host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Identifies the calling thread, for assertions. */
#define SEARCHLIGHT_HOST_THREAD_CHECK "searchlight.thread-check/1"
typedef struct searchlight_host_thread_check {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Returns 1 on a thread that runs the main queue, else 0. Time: at once. [thread-safe] */
    int32_t (*is_main_thread)(const searchlight_host *host);
    /* Returns 1 on the thread of the tag [load-thread], else 0. Time: at once. [thread-safe] */
    int32_t (*is_load_thread)(const searchlight_host *host);
    /* Returns 1 on a thread of the tag [request-thread], else 0. Time: at once. [thread-safe] */
    int32_t (*is_request_thread)(const searchlight_host *host);
} searchlight_host_thread_check;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_THREAD_CHECK_H */
