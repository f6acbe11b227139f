/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searchlight.content-draft/1: descriptors and streams as the content of promises.
 *
 * This is a draft: a later host may lack it, so be ready to answer with finish_with_data or
 * finish_with_file. searchlight_extension.h does not include it.
 *
 *     content                                     answer
 *     up to some megabytes, in memory             finish_with_data
 *     a file with a name                          finish_with_file
 *     a file without a name, or opened already    finish_with_descriptor
 *     of a known length, made piece by piece      finish_with_stream: no memory, no disk
 *     of an unknown length                        write it to an unnamed file in $TMPDIR (O_TMPFILE),
 *                                                 then finish_with_descriptor
 */
#ifndef SEARCHLIGHT_DRAFT_CONTENT_H
#define SEARCHLIGHT_DRAFT_CONTENT_H

#include "../basics.h"
#include "../host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A stream that the extension fills, and owns until it ends it. Used by one thread at a time. */
typedef struct searchlight_stream searchlight_stream;

#define SEARCHLIGHT_STREAMS_MAX 16 /* the maximum number of streams of a worker at a time */

/* Answers data and file promises whose content is large. The two functions whose names begin with
 * "finish" are further finish functions of searchlight.request. */
#define SEARCHLIGHT_HOST_CONTENT "searchlight.content-draft/1"
typedef struct searchlight_host_content {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Fulfils a promise with an open file: a data promise with the bytes of a regular file from its
     * start, a file promise with a regular file or a folder, as finish_with_file does. Anything
     * else, such as a pipe, fails the request.
     *
     * descriptor: open for reading; duplicated before the function returns, so the caller may close
     * it. Its position changes. If the size of the file changes before the delivery, the receiver
     * gets an error.
     * name: nullable; the proposed name of a file promise's file, one path component of at most 255
     * bytes; not read for a data promise.
     * Time: at once; otherwise as for finish. [thread-safe] */
    void (*finish_with_descriptor)(const searchlight_host *host, searchlight_request request, int32_t descriptor,
                                   const char *name);

    /* Fulfils a data promise with a stream, and returns the stream. The caller then writes exactly
     * length bytes, and ends the stream in each case. The host keeps the worker until the stream
     * ends, at most 10 min. At most 10 s may pass without a new byte. Time in which the receiver
     * blocks the stream does not count for these 10 s.
     *
     * length: the number of bytes. The receiver checks it.
     * Returns NULL if the worker has SEARCHLIGHT_STREAMS_MAX streams, or no descriptor is free. The
     * request is not answered then. Also returns NULL if the request has already been answered.
     * Time: at once; otherwise as for finish. [thread-safe] */
    searchlight_stream *(*finish_with_stream)(const searchlight_host *host, searchlight_request request,
                                              uint64_t length);
    /* Writes the next bytes of a stream. Pieces of 64 KiB to 1 MiB cost least.
     *
     * bytes: nullable if length is 0; read before the function returns.
     * Returns SEARCHLIGHT_OK, or
     * SEARCHLIGHT_TOO_LARGE if the stream would exceed its length; nothing is written then;
     * SEARCHLIGHT_CANCELLED if the receiver has gone; end the stream then;
     * SEARCHLIGHT_INVALID_ARGUMENT for a stream that was ended.
     * Time: may block until the receiver has read the bytes, at most 10 min. A write is not a sign
     * of life of other requests. [thread-safe; one thread per stream] */
    searchlight_status (*write)(searchlight_stream *stream, const void *bytes, size_t length);
    /* Ends and releases a stream. If bytes are missing, the receiver gets an error, and no file
     * appears. stream: nullable. Time: at once. [thread-safe; one thread per stream] */
    void (*end)(searchlight_stream *stream);
} searchlight_host_content;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_DRAFT_CONTENT_H */
