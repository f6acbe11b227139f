/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.request/1: the answers to requests. */
#ifndef SEARCHLIGHT_HOST_REQUEST_H
#define SEARCHLIGHT_HOST_REQUEST_H

#include "../basics.h"
#include "../host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A part of a preview to which its HTML refers as "cid:IDENTIFIER". */
typedef struct searchlight_attachment {
    uint32_t size;            /* sizeof(searchlight_attachment) */
    uint32_t reserved;        /* 0 */
    const char *identifier;   /* letters, digits, '-', '.' and '_'; at most 255 bytes */
    const char *content_type; /* a uniform type identifier, e.g. "public.png"; at most 255 bytes */
    const void *bytes;        /* nullable if length is 0 */
    size_t length;
} searchlight_attachment;

/* The displayed content of an item's preview. */
typedef struct searchlight_preview_reply {
    uint32_t size;             /* sizeof(searchlight_preview_reply) */
    uint32_t attachment_count; /* at most 256 */
    /* one of public.html, public.plain-text, public.utf8-plain-text, public.rtf, public.png,
     * public.jpeg, com.adobe.pdf */
    const char *content_type;
    const char *title; /* nullable: the item's title; at most 16 KiB, the rest is cut */
    const void *bytes; /* nullable if length is 0; at most 32 MiB including attachments */
    size_t length;
    double width; /* the intended size in points; 0 for none */
    double height;
    const searchlight_attachment *const *attachments; /* nullable if attachment_count is 0 */
} searchlight_preview_reply;

#define SEARCHLIGHT_CURSOR_MAX 4096 /* the maximum size of a cursor, in bytes */

/* Answers a request. Each of the finish functions gives the final answer. Call exactly one of them
 * for every request, from any thread, during the request function or later. */
#define SEARCHLIGHT_HOST_REQUEST "searchlight.request/1"
typedef struct searchlight_host_request {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Acknowledges a reindex (SEARCHLIGHT_OK, once the last donation is durable), or fails any
     * request.
     *
     * message: nullable; not read for SEARCHLIGHT_OK; at most 16 KiB, the rest is cut.
     * Time: at once. If a cancel handler runs on another thread, the function waits for it, at most
     * 1 s. [thread-safe] */
    void (*finish)(const searchlight_host *host, searchlight_request request, searchlight_status status,
                   const char *message);

    /* Fulfils a data promise.
     *
     * bytes: nullable if length is 0; copied before the function returns. So the worker needs
     * memory for two copies, within its memory limit.
     * Time: at once after the copy; otherwise as for finish. The receiver then gets the copy at its
     * own pace. [thread-safe] */
    void (*finish_with_data)(const searchlight_host *host, searchlight_request request, const void *bytes,
                             size_t length);

    /* Fulfils a file promise with a file or a folder. A folder must be one document to users (a
     * package, such as .rtfd). The file is opened before the function returns, with the rights of
     * the worker.
     *
     * path: absolute, at most 4095 bytes.
     * remove_after: not 0 if the file was created for this request and may be removed after
     * delivery.
     * A folder is read after the function returns, so create it in $TMPDIR, which is removed with
     * the worker. A folder may only contain files, folders, and links that lead to something
     * inside it.
     * Time: at once after the opening; otherwise as for finish. [thread-safe] */
    void (*finish_with_file)(const searchlight_host *host, searchlight_request request, const char *path,
                             int32_t remove_after);

    /* Answers a preview request. A reply that breaks a rule of its struct fails the request.
     *
     * reply: copied before the function returns, with everything that it points to: at most 32 MiB.
     * Time: at once after the copy; otherwise as for finish. [thread-safe] */
    void (*finish_with_preview)(const searchlight_host *host, searchlight_request request,
                                const searchlight_preview_reply *reply);

    /* Answers a request for a page: everything up to this point is durable.
     *
     * next_cursor: nullable; the start of the next page, at most SEARCHLIGHT_CURSOR_MAX bytes,
     * copied before the function returns; NULL after the last page. A longer cursor fails the
     * request.
     * Time: at once; otherwise as for finish. [thread-safe] */
    void (*finish_page)(const searchlight_host *host, searchlight_request request, const void *next_cursor,
                        size_t length);
} searchlight_host_request;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_REQUEST_H */
