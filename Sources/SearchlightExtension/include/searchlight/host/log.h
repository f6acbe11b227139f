/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.log/1: log messages. */
#ifndef SEARCHLIGHT_HOST_LOG_H
#define SEARCHLIGHT_HOST_LOG_H

#include "../basics.h"
#include "../host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The severity of a log message. */
typedef int32_t searchlight_log_level;
SEARCHLIGHT_CONSTANTS(int32_t) {
    SEARCHLIGHT_LOG_INFO = 1,
    SEARCHLIGHT_LOG_WARNING = 2, /* some content was left out */
    SEARCHLIGHT_LOG_ERROR = 3,   /* an operation failed */
};

/* Logs a message for the maintainer of the extension. The output on stderr is logged too. */
#define SEARCHLIGHT_HOST_LOG "searchlight.log/1"
typedef struct searchlight_host_log {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Logs a message. A level without a constant is read as the nearest.
     *
     * message: at most 16 KiB, the rest is cut.
     * Time: at once. [thread-safe] */
    void (*log)(const searchlight_host *host, searchlight_log_level level, const char *message);
} searchlight_host_log;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_LOG_H */
