/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.throttle/1: notices to slow down. */
#ifndef SEARCHLIGHT_EXTENSION_THROTTLE_H
#define SEARCHLIGHT_EXTENSION_THROTTLE_H

#include "../basics.h"
#include "../entry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The reason for a notice. Unlisted values are read as SEARCHLIGHT_THROTTLE_OTHER. */
typedef int32_t searchlight_throttle_reason;
SEARCHLIGHT_CONSTANTS(int32_t) {
    SEARCHLIGHT_THROTTLE_OTHER = 0,
    SEARCHLIGHT_THROTTLE_USER_ACTIVE = 1, /* the user is active */
    SEARCHLIGHT_THROTTLE_BATTERY = 2,     /* the battery is low, or power saving is on */
    SEARCHLIGHT_THROTTLE_PRESSURE = 3,    /* other processes need processors, memory or disks */
    SEARCHLIGHT_THROTTLE_REQUESTED = 4,   /* the user has requested it */
};

/* A notice that indexing is throttled. */
typedef struct searchlight_throttle_notice {
    uint32_t size; /* sizeof(searchlight_throttle_notice) of the host */
    searchlight_throttle_reason reason;
    double items_per_second; /* the welcome rate of donations; 0 for none at the moment */
} searchlight_throttle_notice;

/* Receives notices that indexing is throttled, and that throttling has ended. */
#define SEARCHLIGHT_EXTENSION_THROTTLE "searchlight.throttle/1"
typedef struct searchlight_extension_throttle {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Stop work that is not urgent within a quarter of a second. The worker may be frozen or ended
     * if it continues.
     *
     * notice: valid until the function returns.
     * Time limit: 5 s until it returns. [request-thread] */
    void (*did_throttle)(searchlight_extension *extension, const searchlight_throttle_notice *notice);
    /* Continue. May also be called without an earlier notice. Time limit: 5 s until it returns.
     * [request-thread] */
    void (*did_finish_throttle)(searchlight_extension *extension);
} searchlight_extension_throttle;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_EXTENSION_THROTTLE_H */
