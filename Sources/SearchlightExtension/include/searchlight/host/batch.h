/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.batch/1: batches of changes with a client state. */
#ifndef SEARCHLIGHT_HOST_BATCH_H
#define SEARCHLIGHT_HOST_BATCH_H

#include "../basics.h"
#include "../host.h"
#include "index.h"
#include "items.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SEARCHLIGHT_CLIENT_STATE_MAX 250 /* the maximum size of a client state, in bytes */

/* The expected client state. If the stored client state differs, the batch is refused. */
typedef int32_t searchlight_expectation;
SEARCHLIGHT_CONSTANTS(int32_t) {
    SEARCHLIGHT_EXPECT_ANY = 0,   /* any client state */
    SEARCHLIGHT_EXPECT_NONE = 1,  /* no client state */
    SEARCHLIGHT_EXPECT_STATE = 2, /* the given client state */
};

/* A batch that the extension builds and owns until it is released. Used by one thread at a time. */
typedef struct searchlight_batch searchlight_batch;

/* Called once with the client state.
 *
 * context: nullable; as passed. message: nullable, valid during the call. state: nullable,
 * NULL if there is none; otherwise length bytes (0 to SEARCHLIGHT_CLIENT_STATE_MAX), valid during
 * the call. Time limit: only the limit of the request. [host-thread] */
typedef void (*searchlight_state_completion)(void *context, searchlight_status status, const char *message,
                                             const void *state, size_t length);

/* Batches: changes that become durable together with a client state of the extension, or not at
 * all. A client state records the extension's progress, such as the version of its data. The host
 * keeps the last client state of each named index. The default index has none.
 *
 * A batch has at most 32 MiB. A function that would exceed it returns SEARCHLIGHT_TOO_LARGE, and
 * leaves the batch unchanged. */
#define SEARCHLIGHT_HOST_BATCH "searchlight.batch/1"
typedef struct searchlight_host_batch {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Creates an empty batch, which the caller owns. Its changes are only in memory until it is
     * committed. Returns NULL if 1,048,576 batches are not released. Time: at once.
     * [thread-safe] */
    searchlight_batch *(*create)(const searchlight_host *host);
    /* Adds items to the end of the batch. items: nullable if count is 0. Time: at once.
     * [one thread at a time] */
    searchlight_status (*index_items)(searchlight_batch *batch, searchlight_item *const *items, size_t count);
    /* Adds the deletion of items. identifiers: nullable if count is 0. Time: at once.
     * [one thread at a time] */
    searchlight_status (*delete_items)(searchlight_batch *batch, const char *const *identifiers, size_t count);
    /* Adds the deletion of domains with their subdomains. domains: nullable if count is 0. Time: at
     * once. [one thread at a time] */
    searchlight_status (*delete_domains)(searchlight_batch *batch, const char *const *domains, size_t count);
    /* Adds the deletion of all items. Time: at once. [one thread at a time] */
    searchlight_status (*delete_all)(searchlight_batch *batch);
    /* Releases a batch. Allowed while a commit is in progress. batch: nullable. Time: at once.
     * [thread-safe] */
    void (*release)(searchlight_batch *batch);

    /* Makes all changes durable together with the client state, if the stored client state
     * matches the expectation. The caller still owns the batch and must release it.
     *
     * index_name: nullable, the default index, which keeps no client state; at most 4096 bytes.
     * batch: copied before the function returns.
     * state: nullable if state_length is 0; at most SEARCHLIGHT_CLIENT_STATE_MAX bytes.
     * expected: for SEARCHLIGHT_EXPECT_STATE the client state; otherwise nullable and not read.
     * completion, context: nullable. If the stored client state differs, nothing is changed, and
     * completion receives SEARCHLIGHT_REFUSED.
     * Returns SEARCHLIGHT_OK if the request was sent; only then is completion called. Otherwise
     * SEARCHLIGHT_INVALID_ARGUMENT, even for an expectation without a constant, or
     * SEARCHLIGHT_TOO_LARGE for a client state or a name beyond its bound.
     * Time: may block the caller while 8 requests are in progress. [thread-safe] */
    searchlight_status (*commit)(const searchlight_host *host, const char *index_name, const searchlight_batch *batch,
                                 const void *state, size_t state_length, searchlight_expectation expectation,
                                 const void *expected, size_t expected_length, searchlight_completion completion,
                                 void *context);
    /* Commits encoded changes like a batch.
     *
     * index_name, state, expected, completion, context: as for commit.
     * changes: nullable if length is 0; in the format of docs/ITEM-RECORD.md, at most 32 MiB.
     * Time: may block the caller while 8 requests are in progress. [thread-safe] */
    searchlight_status (*commit_changes)(const searchlight_host *host, const char *index_name, const uint8_t *changes,
                                         size_t length, const void *state, size_t state_length,
                                         searchlight_expectation expectation, const void *expected,
                                         size_t expected_length, searchlight_completion completion, void *context);
    /* Reads the client state of the last durable batch, after everything that was sent before is
     * durable.
     *
     * index_name: nullable. completion: never NULL. context: nullable.
     * Returns the same as commit.
     * Time: may block the caller while 8 requests are in progress. [thread-safe] */
    searchlight_status (*read_state)(const searchlight_host *host, const char *index_name,
                                     searchlight_state_completion completion, void *context);
} searchlight_host_batch;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_BATCH_H */
