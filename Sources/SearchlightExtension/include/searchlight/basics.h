/* SPDX-License-Identifier: Apache-2.0 */
/* Version, statuses and requests. The rules for all functions are in searchlight_extension.h. */
#ifndef SEARCHLIGHT_BASICS_H
#define SEARCHLIGHT_BASICS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An extension and a host are compatible if their major numbers are equal. */
#define SEARCHLIGHT_ABI_MAJOR 1u
#define SEARCHLIGHT_ABI_MINOR 0u

#if defined(__GNUC__)
#define SEARCHLIGHT_EXPORT __attribute__((visibility("default")))
#else
#define SEARCHLIGHT_EXPORT
#endif

/* Declares the constants of a type. Values cross the boundary as the type, which has a fixed width.
 * So an enumeration that grows changes no size, and a value without a constant is still valid. */
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define SEARCHLIGHT_CONSTANTS(type) enum : type
#elif defined(__clang__)
#define SEARCHLIGHT_CONSTANTS(type) __extension__ enum : type
#else
#define SEARCHLIGHT_CONSTANTS(type) enum
#endif

/* An outcome. Every outcome is a status and, unless it is SEARCHLIGHT_OK, a message with the
 * attempt, the failure and the remedy. Unlisted values are read as SEARCHLIGHT_FAILED. */
typedef int32_t searchlight_status;
SEARCHLIGHT_CONSTANTS(int32_t) {
    SEARCHLIGHT_OK = 0,
    SEARCHLIGHT_FAILED = 1,           /* any other failure, explained in the message */
    SEARCHLIGHT_UNSUPPORTED = 2,      /* the extension does not serve this type or request */
    SEARCHLIGHT_NOT_FOUND = 3,        /* no such item */
    SEARCHLIGHT_CANCELLED = 4,        /* the request was cancelled */
    SEARCHLIGHT_INVALID_ARGUMENT = 5, /* malformed text, NULL where forbidden, wrong size */
    SEARCHLIGHT_UNAVAILABLE = 6,      /* the host or the index is not reachable now; retry later */
    SEARCHLIGHT_TOO_LARGE = 7,        /* over a limit that the message names */
    SEARCHLIGHT_REFUSED = 8,          /* understood, but not allowed */
};

/* A request in progress. The number is never reused in the same worker, so a second or late answer
 * is harmless: it is ignored and logged. */
typedef uint64_t searchlight_request;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_BASICS_H */
