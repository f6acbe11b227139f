/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searchlight_extension.h: the interface between a Searchlight extension and its host.
 *
 * An extension is a shared library in a bundle directory (NAME.searchext). The host loads it in a
 * separate worker process and calls it to reindex items, to fulfil promises and to render previews.
 * This header is the complete contract for C, C++, Rust, Zig, Go and other languages. Swift
 * extensions that use CoreSpotlight do not need it.
 *
 * Rules for all functions:
 *
 *     Text       is UTF-8 and NUL-terminated. Messages longer than 16 KiB are truncated.
 *     NULL       nothing is NULL unless it is marked "nullable", except that an array of 0 elements
 *                and bytes of length 0 may also be NULL. The host reports a forbidden NULL, a
 *                malformed text or a released object as misuse, and reads nothing. A function that
 *                returns a status then returns SEARCHLIGHT_INVALID_ARGUMENT, one that returns a
 *                pointer returns NULL, and one without a result does nothing.
 *     Bounds     a donation or a batch has at most 32 MiB, an item at most 16 MiB and 1024
 *                attributes; otherwise the status is SEARCHLIGHT_TOO_LARGE. An identifier, a domain
 *                or an index name has at most 4096 bytes.
 *     Time       functions of the host return immediately, unless marked "may block". The host
 *                terminates a worker whose functions exceed their time limits. A donation, a
 *                deletion, a log message, a printed line and a progress report are signs of life.
 *                A request needs the first one within 5 s, and each further one within 10 s.
 *     Ownership  pointers passed to a function are valid until it returns, unless its comment says
 *                otherwise.
 *     Threads    each function has one of these tags:
 *                  [request-thread]  called on a worker thread, but never on the main thread,
 *                                    which runs the main queue. Several requests may run at once.
 *                  [thread-safe]     callable from any thread at any time while the extension
 *                                    exists.
 *                  [load-thread]     called on the thread that loads the extension before any
 *                                    request.
 *     Growth     structs start with their size; read a field only if it lies within that size. New
 *                features come as new interfaces or new revisions, fetched by the identifier
 *                "name/revision"; a struct never changes.
 *     Forbidden  throwing C++ exceptions, or unwinding, through any of these functions; calling
 *                dlclose on the extension.
 */
#ifndef SEARCHLIGHT_EXTENSION_H
#define SEARCHLIGHT_EXTENSION_H

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

/* The name of the only symbol that a native extension exports; see
 * searchlight_extension_entry_function. */
#define SEARCHLIGHT_ENTRY_SYMBOL "searchlight_extension_entry_point"

/* ---- Outcomes ------------------------------------------------------------------------------ */

/* Every outcome consists of a status and, unless it is SEARCHLIGHT_OK, a message that states what
 * was attempted, what failed and how to fix it. Unlisted values are treated as
 * SEARCHLIGHT_FAILED. */
typedef int32_t searchlight_status;
#define SEARCHLIGHT_OK 0
#define SEARCHLIGHT_FAILED 1           /* any other failure, explained in the message */
#define SEARCHLIGHT_UNSUPPORTED 2      /* the extension does not support this type or request */
#define SEARCHLIGHT_NOT_FOUND 3        /* no such item */
#define SEARCHLIGHT_CANCELLED 4        /* the request was cancelled */
#define SEARCHLIGHT_INVALID_ARGUMENT 5 /* malformed text, NULL where forbidden, wrong size */
#define SEARCHLIGHT_UNAVAILABLE 6      /* host or index currently unreachable; retry later */
#define SEARCHLIGHT_TOO_LARGE 7        /* a limit, named in the message, was exceeded */
#define SEARCHLIGHT_REFUSED 8          /* understood, but not allowed */

/* A request in progress. The number is never reused within a worker, so a second or late answer is
 * harmless: it is ignored and logged. */
typedef uint64_t searchlight_request;

/* ---- Host side: functions that the extension may call -------------------------------------- */

/* Passed to the extension when it is created; valid until the extension's destroy function
 * returns. */
typedef struct searchlight_host {
    uint32_t size;      /* sizeof(searchlight_host) of the host */
    uint32_t abi_major; /* SEARCHLIGHT_ABI_MAJOR of the host */
    uint32_t abi_minor;
    uint32_t reserved;             /* 0 */
    void *context;                 /* private to the host; do not use */
    const char *bundle_identifier; /* e.g. "com.example.journal", from the manifest */
    const char *bundle_path;       /* absolute path of the .searchext directory */
    const char *principal_class;   /* nullable; NSExtensionPrincipalClass of the manifest, e.g. "Journal.Handler" */

    /* Returns the host interface with this identifier, or NULL if the host has none. The result
     * remains valid as long as the host struct. [thread-safe] */
    const void *(*get_interface)(const struct searchlight_host *host, const char *identifier);
} searchlight_host;

/* A part of a preview, referenced in its HTML as "cid:IDENTIFIER". */
typedef struct searchlight_attachment {
    uint32_t size;
    uint32_t reserved;        /* 0 */
    const char *identifier;   /* letters, digits, '-', '.' and '_'; at most 255 bytes */
    const char *content_type; /* a uniform type identifier, e.g. "public.png" */
    const void *bytes;        /* nullable if length is 0 */
    size_t length;
} searchlight_attachment;

/* The displayed content of an item's preview. */
typedef struct searchlight_preview_reply {
    uint32_t size;
    uint32_t attachment_count; /* at most 256 */
    /* one of public.html, public.plain-text, public.utf8-plain-text, public.rtf, public.png,
     * public.jpeg, com.adobe.pdf */
    const char *content_type;
    const char *title; /* nullable: the item's title */
    const void *bytes; /* nullable if length is 0; at most 32 MiB including attachments */
    size_t length;
    double width; /* the intended size in points; 0 for none */
    double height;
    const searchlight_attachment *const *attachments; /* nullable if attachment_count is 0 */
} searchlight_preview_reply;

#define SEARCHLIGHT_CURSOR_MAX 4096 /* the maximum size of a cursor, in bytes */

/* Answers a request. Each finish function gives the final answer. Call exactly one of them for each
 * request, from any thread, during the request function or later. */
#define SEARCHLIGHT_HOST_REQUEST "searchlight.request/1"
typedef struct searchlight_host_request {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Acknowledges a reindex (SEARCHLIGHT_OK, once the last donation is durable), or fails any
     * request. message: nullable, at most 16 KiB; not read for SEARCHLIGHT_OK. [thread-safe] */
    void (*finish)(const searchlight_host *host, searchlight_request request, searchlight_status status,
                   const char *message);

    /* Fulfils a data promise. bytes: nullable if length is 0; copied before the function returns,
     * so their size is limited by the worker's memory. Use a file for large data. [thread-safe] */
    void (*finish_with_data)(const searchlight_host *host, searchlight_request request, const void *bytes,
                             size_t length);

    /* Fulfils a file promise with the absolute path of a file or a folder. A folder must appear to
     * users as a single document (a package, such as .rtfd). The file is opened before the function
     * returns.
     *
     * path: at most 4095 bytes. remove_after: not 0 if the file was created for this request and
     * may be removed after delivery. A folder is read after the function returns, so create it in
     * $TMPDIR, which is removed when the worker ends. A folder may contain only files, folders, and
     * links to something inside it. [thread-safe] */
    void (*finish_with_file)(const searchlight_host *host, searchlight_request request, const char *path,
                             int32_t remove_after);

    /* Answers a preview request. The reply and everything it points to, at most 32 MiB, are copied
     * before the function returns. A reply that violates a rule of its struct causes the request to
     * fail. [thread-safe] */
    void (*finish_with_preview)(const searchlight_host *host, searchlight_request request,
                                const searchlight_preview_reply *reply);

    /* Answers a request for a page, which confirms that everything up to this point is durable.
     * next_cursor: nullable; the start of the next page, at most SEARCHLIGHT_CURSOR_MAX bytes,
     * copied before the function returns; NULL after the last page. A longer cursor causes the
     * request to fail. [thread-safe] */
    void (*finish_page)(const searchlight_host *host, searchlight_request request, const void *next_cursor,
                        size_t length);
} searchlight_host_request;

/* Reports that a request was cancelled. After a grace period, the host terminates a worker that
 * continues anyway. */
#define SEARCHLIGHT_HOST_CANCEL "searchlight.cancel/1"
typedef void (*searchlight_cancel_handler)(void *context, searchlight_request request);
typedef struct searchlight_host_cancel {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Returns 1 once the host is no longer waiting for the answer, including after the request was
     * answered; otherwise 0. Long-running work should call this repeatedly, and finish a cancelled
     * request with SEARCHLIGHT_CANCELLED. [thread-safe] */
    int32_t (*is_cancelled)(const searchlight_host *host, searchlight_request request);

    /* Sets a handler that is called once, on a host thread, when the request is cancelled. If the
     * request is already cancelled, the handler is called immediately; after the request was
     * finished, it is never called. Replaces an earlier handler. handler: nullable; NULL removes
     * it. context: nullable; passed to the handler and not otherwise used. [thread-safe] */
    void (*set_handler)(const searchlight_host *host, searchlight_request request, searchlight_cancel_handler handler,
                        void *context);
} searchlight_host_cancel;

/* Reports the progress of a request. A report counts as a sign of life, and is shown to a waiting
 * user. */
#define SEARCHLIGHT_HOST_PROGRESS "searchlight.progress/1"
typedef struct searchlight_host_progress {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Reports how many units, of the extension's choice, are completed out of a total; total is 0
     * if it is not known. May be called at any rate; the host receives only a few reports per
     * second. [thread-safe] */
    void (*report)(const searchlight_host *host, searchlight_request request, uint64_t completed, uint64_t total);
} searchlight_host_progress;

/* Identifies the calling thread, for use in assertions. The functions return 1 or 0. All
 * [thread-safe] */
#define SEARCHLIGHT_HOST_THREAD_CHECK "searchlight.thread-check/1"
typedef struct searchlight_host_thread_check {
    uint32_t size;
    uint32_t reserved; /* 0 */
    int32_t (*is_main_thread)(const searchlight_host *host);
    int32_t (*is_load_thread)(const searchlight_host *host);
    int32_t (*is_request_thread)(const searchlight_host *host);
} searchlight_host_thread_check;

/* Builds items to donate. All [thread-safe; one thread per item]. Attributes have the names and
 * units of CSSearchableItemAttributeSet ("title", "textContent", ...): "fileSize" is in
 * megabytes of 1,000,000 bytes, "duration" in seconds. */
#define SEARCHLIGHT_HOST_ITEMS "searchlight.items/1"
typedef struct searchlight_item searchlight_item;
typedef struct searchlight_host_items {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Creates an item. The caller owns it and must release it. unique_identifier: 1 to 4096 bytes.
     * domain_identifier: nullable, dotted ("account.mailbox"). content_type: nullable, a uniform
     * type identifier. Returns NULL for an invalid argument, or if 1,048,576 items have not been
     * released. */
    searchlight_item *(*create)(const searchlight_host *host, const char *unique_identifier,
                                const char *domain_identifier, const char *content_type);
    /* Each setter copies the value and replaces any previous value of the attribute. The size of an
     * item is checked when it is added to a donation or a batch. */
    searchlight_status (*set_string)(searchlight_item *item, const char *name, const char *value);
    searchlight_status (*set_strings)(searchlight_item *item, const char *name, const char *const *values,
                                      size_t count);
    searchlight_status (*set_integer)(searchlight_item *item, const char *name, int64_t value);
    searchlight_status (*set_number)(searchlight_item *item, const char *name, double value);
    searchlight_status (*set_boolean)(searchlight_item *item, const char *name, int32_t value);
    /* seconds since 1970-01-01 UTC */
    searchlight_status (*set_date)(searchlight_item *item, const char *name, double unix_seconds);
    /* bytes: nullable if length is 0 */
    searchlight_status (*set_data)(searchlight_item *item, const char *name, const void *bytes, size_t length);
    /* seconds since 1970-01-01 UTC; INFINITY for never; not NaN. The default is one month after the
     * donation. */
    searchlight_status (*set_expiration)(searchlight_item *item, double unix_seconds);
    /* Releases an item. item: nullable. A donation or a batch keeps its own copy. */
    void (*release)(searchlight_item *item);
} searchlight_host_items;

/* Sets the search traits of custom attributes (CSCustomAttributeKey). Without traits, an attribute
 * is found only by queries that name it. */
#define SEARCHLIGHT_HOST_CUSTOM_KEYS "searchlight.custom-keys/1"
#define SEARCHLIGHT_KEY_SEARCHABLE 1u            /* found by searches; otherwise only stored */
#define SEARCHLIGHT_KEY_SEARCHABLE_BY_DEFAULT 2u /* also by queries that name no attribute */
#define SEARCHLIGHT_KEY_UNIQUE 4u                /* many items share a few values; no effect yet */
#define SEARCHLIGHT_KEY_MULTI_VALUED 8u          /* the value is an array; no effect yet */
typedef struct searchlight_host_custom_keys {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Sets the traits of an attribute, before or after its value. traits is a sum of
     * SEARCHLIGHT_KEY_... Traits belong to the value and have no effect without one. Returns
     * SEARCHLIGHT_INVALID_ARGUMENT for other bits or an invalid name. A name consists of ASCII
     * letters, digits and '_', has at most 4096 bytes, and does not start with "kMD". [thread-safe;
     * one thread per item] */
    searchlight_status (*set_traits)(searchlight_item *item, const char *name, uint32_t traits);
} searchlight_host_custom_keys;

/* Called once, on a host thread, when a donation or deletion is durable or has failed. Completions
 * run one at a time, so a completion that waits delays the others. context: as passed by the
 * caller. message: nullable, valid during the call. */
typedef void (*searchlight_completion)(void *context, searchlight_status status, const char *message);

/* Donates to the index of the extension's bundle, and deletes from it. index_name: nullable; NULL
 * for the default index. completion and context: nullable. A count of 0 is allowed; more than 32
 * MiB result in SEARCHLIGHT_TOO_LARGE. All [thread-safe]; they may block the caller while 8
 * requests are in progress. The returned status is SEARCHLIGHT_OK if the request was sent; only
 * then is completion called. Arguments are copied before the function returns. */
#define SEARCHLIGHT_HOST_INDEX "searchlight.index/1"
typedef struct searchlight_host_index {
    uint32_t size;
    uint32_t reserved; /* 0 */

    searchlight_status (*index_items)(const searchlight_host *host, const char *index_name,
                                      searchlight_item *const *items, size_t count, searchlight_completion completion,
                                      void *context);
    /* The same with encoded items: a batch of at least one item record, in the format of
     * docs/ITEM-RECORD.md. */
    searchlight_status (*index_records)(const searchlight_host *host, const char *index_name, const uint8_t *batch,
                                        size_t length, searchlight_completion completion, void *context);
    /* Deletes items. Identifiers that are not in the index are ignored. */
    searchlight_status (*delete_items)(const searchlight_host *host, const char *index_name,
                                       const char *const *identifiers, size_t count, searchlight_completion completion,
                                       void *context);
    /* Deletes each domain with its subdomains: "a" removes "a" and "a.b", but not "ab". */
    searchlight_status (*delete_domains)(const searchlight_host *host, const char *index_name,
                                         const char *const *domains, size_t count, searchlight_completion completion,
                                         void *context);
    /* Deletes all items of the index. During a full reindex, they can still be found until it
     * ends. */
    searchlight_status (*delete_all)(const searchlight_host *host, const char *index_name,
                                     searchlight_completion completion, void *context);
} searchlight_host_index;

/* Batches: changes that become durable together with a client state of the extension, or not at
 * all. A client state records the extension's progress, such as the version of its data. The host
 * keeps the last client state of each named index. The default index does not have one. */
#define SEARCHLIGHT_HOST_BATCH "searchlight.batch/1"
#define SEARCHLIGHT_CLIENT_STATE_MAX 250 /* the maximum size of a client state, in bytes */
#define SEARCHLIGHT_EXPECT_ANY 0         /* any client state */
#define SEARCHLIGHT_EXPECT_NONE 1        /* no client state */
#define SEARCHLIGHT_EXPECT_STATE 2       /* the given client state */
/* A batch that the extension builds, and owns until it releases it. Use it on one thread at a
 * time. */
typedef struct searchlight_batch searchlight_batch;

/* Called once, on a host thread, with the client state. state: nullable, NULL if there is none;
 * otherwise length bytes (0 to SEARCHLIGHT_CLIENT_STATE_MAX), valid during the call. message:
 * nullable. */
typedef void (*searchlight_state_completion)(void *context, searchlight_status status, const char *message,
                                             const void *state, size_t length);

typedef struct searchlight_host_batch {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Creates an empty batch, which the caller owns. Its changes are kept only in memory until it
     * is committed. Returns NULL if 1,048,576 batches have not been released. [thread-safe] */
    searchlight_batch *(*create)(const searchlight_host *host);
    /* Adds items to the end of the batch. This and the next three functions return
     * SEARCHLIGHT_TOO_LARGE, and leave the batch unchanged, if it would exceed 32 MiB. A count of 0
     * is allowed. [one thread at a time] */
    searchlight_status (*index_items)(searchlight_batch *batch, searchlight_item *const *items, size_t count);
    /* Adds the deletion of items. [one thread at a time] */
    searchlight_status (*delete_items)(searchlight_batch *batch, const char *const *identifiers, size_t count);
    /* Adds the deletion of domains with their subdomains. [one thread at a time] */
    searchlight_status (*delete_domains)(searchlight_batch *batch, const char *const *domains, size_t count);
    /* Adds the deletion of all items. [one thread at a time] */
    searchlight_status (*delete_all)(searchlight_batch *batch);
    /* Releases a batch. batch: nullable. Allowed while a commit is in progress. [thread-safe] */
    void (*release)(searchlight_batch *batch);

    /* Makes all changes durable together with the client state, if the stored client state is as
     * expected. The caller still owns the batch and must release it.
     *
     * index_name, completion and context: nullable. state: nullable if state_length is 0; at
     * most SEARCHLIGHT_CLIENT_STATE_MAX bytes. expectation: SEARCHLIGHT_EXPECT_...; expected:
     * the client state for SEARCHLIGHT_EXPECT_STATE, otherwise nullable. If the stored client
     * state differs, nothing is changed, and completion receives SEARCHLIGHT_REFUSED. Returns
     * SEARCHLIGHT_OK if the request was sent; only then is completion called. May block the
     * caller while 8 requests are in progress. [thread-safe] */
    searchlight_status (*commit)(const searchlight_host *host, const char *index_name, const searchlight_batch *batch,
                                 const void *state, size_t state_length, int32_t expectation, const void *expected,
                                 size_t expected_length, searchlight_completion completion, void *context);
    /* The same with encoded changes in the format of docs/ITEM-RECORD.md, at most 32 MiB. May block
     * in the same way. [thread-safe] */
    searchlight_status (*commit_changes)(const searchlight_host *host, const char *index_name, const uint8_t *changes,
                                         size_t length, const void *state, size_t state_length, int32_t expectation,
                                         const void *expected, size_t expected_length,
                                         searchlight_completion completion, void *context);
    /* Reads the client state of the last durable batch, after everything that was sent before is
     * durable. index_name and context: nullable; completion is not. The returned status is the same
     * as for commit. May block in the same way. [thread-safe] */
    searchlight_status (*read_state)(const searchlight_host *host, const char *index_name,
                                     searchlight_state_completion completion, void *context);
} searchlight_host_batch;

/* Changes the identifiers of items. A renamed item keeps its dates, its text, its domain and its
 * internal number, with which its usage history is associated. Use this interface if identifiers
 * contain a location, such as a path. If the attributes of an item have changed as well, donate it
 * again after renaming it.
 *
 *   - new_identifiers[i] is the new identifier of the item identifiers[i]. All renames in a call
 *     are made at once, so two items can swap identifiers.
 *   - An existing item that already has one of the new identifiers is replaced, along with its
 *     number, unless the same call renames it.
 *   - An item that is not in the index is skipped.
 *   - Items that depend on a renamed item (relatedUniqueIdentifier) then depend on its new
 *     identifier.
 *
 * Hosts of version 0.1 lack this interface: delete and donate instead. */
#define SEARCHLIGHT_HOST_RENAME "searchlight.rename/1"
typedef struct searchlight_host_rename {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Renames items in the index of the extension's bundle; either all are renamed or none.
     * index_name and completion are as in searchlight_host_index.
     *
     * Returns SEARCHLIGHT_INVALID_ARGUMENT if a new identifier is empty or longer than 4096 bytes,
     * or if an old or a new identifier occurs twice. Returns SEARCHLIGHT_TOO_LARGE for more than
     * 524,287 items or 32 MiB. In these cases, nothing is renamed. May block the caller while 8
     * requests are in progress. [thread-safe] */
    searchlight_status (*rename_items)(const searchlight_host *host, const char *index_name,
                                       const char *const *identifiers, const char *const *new_identifiers, size_t count,
                                       searchlight_completion completion, void *context);
    /* The same, as a change appended to a batch of searchlight.batch. Returns
     * SEARCHLIGHT_TOO_LARGE, and leaves the batch unchanged, like the functions of
     * searchlight.batch. [one thread at a time] */
    searchlight_status (*rename_in_batch)(searchlight_batch *batch, const char *const *identifiers,
                                          const char *const *new_identifiers, size_t count);
} searchlight_host_rename;

/* Lists the extension's own items, so that it can delete those that no longer exist at their
 * source. */
#define SEARCHLIGHT_HOST_LISTING "searchlight.listing/1"
/* Called once, on a host thread, with identifiers sorted by their bytes, valid during the call. A
 * page with fewer identifiers than requested is the last one. message: nullable. identifiers:
 * nullable if count is 0. */
typedef void (*searchlight_listing_completion)(void *context, searchlight_status status, const char *message,
                                               const char *const *identifiers, size_t count);
typedef struct searchlight_host_listing {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Lists the items of an index (NULL: the default index) after everything that was sent before
     * is durable. after: nullable; the last identifier of the previous page. limit: the number of
     * identifiers, at most SEARCHLIGHT_LISTING_MAX. context: nullable; completion is not. The
     * returned status is SEARCHLIGHT_OK if the request was sent; only then is completion called.
     * May block the caller while 8 requests are in progress. [thread-safe] */
    searchlight_status (*list_items)(const searchlight_host *host, const char *index_name, const char *after,
                                     uint32_t limit, searchlight_listing_completion completion, void *context);
} searchlight_host_listing;
#define SEARCHLIGHT_LISTING_MAX 1000u

/* Logs a message for the maintainer of the extension. Output to stderr is also logged. */
#define SEARCHLIGHT_HOST_LOG "searchlight.log/1"
#define SEARCHLIGHT_LOG_INFO 1
#define SEARCHLIGHT_LOG_WARNING 2
#define SEARCHLIGHT_LOG_ERROR 3
typedef struct searchlight_host_log {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* level: SEARCHLIGHT_LOG_...; other values are treated as the nearest one. message: at most 16
     * KiB. [thread-safe] */
    void (*log)(const searchlight_host *host, int32_t level, const char *message);
} searchlight_host_log;

/* Reports content that the extension omits from the index. “searchlight status” and “searchlight
 * reindex” show the number of these reports for each reason. Reports during a full reindex replace
 * all earlier reports. Reports during a request for particular items or files replace the earlier
 * reports about them. Hosts of version 0.1 lack this interface: write a log message instead. */
#define SEARCHLIGHT_HOST_LEFT_OUT "searchlight.left-out/1"
typedef struct searchlight_host_left_out {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* name: the identifier of the missing item, or another name such as a path. reason: a short
     * phrase that is the same for all content of a kind, such as "no permission to read it". The
     * host truncates name to 4096 bytes and reason to 200 bytes. Call this function before the
     * request is finished. [thread-safe] */
    void (*report)(const searchlight_host *host, const char *name, const char *reason);
} searchlight_host_left_out;

/* An integer attribute of items whose text is only partly indexed: the number of bytes omitted. */
#define SEARCHLIGHT_MISSING_TEXT_BYTES "com_searchlight_missingTextBytes"

/* ---- Extension side: functions that the host calls ----------------------------------------- */

/* The extension's own object. The host passes it back and does not otherwise use it. */
typedef struct searchlight_extension searchlight_extension;

/* Donates items again. */
#define SEARCHLIGHT_REINDEX "searchlight.reindex/1"
typedef struct searchlight_reindex {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Donates all items, then finishes the request. The host repeats a request that was not
     * finished (crash, time limit). Items that are not donated remain in the index, so call
     * delete_all first. The deleted items can still be found until the request is finished. Limit:
     * 30 min. [request-thread] */
    void (*reindex_all)(searchlight_extension *extension, searchlight_request request);
    /* Donates each of these items again, or deletes it; then finishes the request. identifiers:
     * NULL if count is 0; valid until the function returns. Limit: 30 min. [request-thread] */
    void (*reindex_items)(searchlight_extension *extension, searchlight_request request,
                          const char *const *identifiers, size_t count);
} searchlight_reindex;

/* Donates all items in pages; use this to reindex large collections. The host stores the cursor, so
 * that a reindex can continue after the worker, the host or the machine has stopped. If an
 * extension has this interface, reindex_all of searchlight.reindex is not called. */
#define SEARCHLIGHT_PAGING "searchlight.paging/1"
typedef struct searchlight_page {
    uint32_t size;
    uint32_t reserved;     /* 0 */
    const void *cursor;    /* NULL at the start; otherwise the cursor last passed to finish_page */
    size_t cursor_length;  /* bytes */
    uint64_t memory_limit; /* in bytes; a worker that exceeds it is terminated */
    uint32_t items;        /* end the page after about this number of items, */
    uint32_t milliseconds; /* or after this time, whichever comes first */
} searchlight_page;
typedef struct searchlight_paging {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Donates one page, then calls finish_page once the last donation is durable. At the end of the
     * whole reindex, the host deletes all items that were not donated in any page, so nothing needs
     * to be deleted first. The same page may be requested again. page: valid until the function
     * returns. Limit: 30 min. [request-thread] */
    void (*reindex_page)(searchlight_extension *extension, searchlight_request request, const searchlight_page *page);
} searchlight_paging;

/* Updates the items of changed files. Hosts of version 0.1 never use this interface; they request
 * particular items or everything instead, as every host does for an extension without this
 * interface. */
#define SEARCHLIGHT_CHANGES "searchlight.changes/1"
#define SEARCHLIGHT_CHANGED 1 /* the file is new, or its content or mode has changed */
#define SEARCHLIGHT_MOVED 2   /* the file has a new path, and its content may also have changed */
#define SEARCHLIGHT_REMOVED 3 /* there is no longer a file at the path */
typedef struct searchlight_change {
    uint32_t size;
    int32_t kind;              /* SEARCHLIGHT_CHANGED, _MOVED or _REMOVED; ignore other values */
    const char *path;          /* absolute; for a moved file, the new path */
    const char *previous_path; /* nullable; for a moved file, the old path */
} searchlight_change;
typedef struct searchlight_changes {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Donates, updates or deletes the items of these files, then finishes the request once the last
     * change is durable. Read the current state of each file, because it may have changed again
     * since. The host repeats a request that was not finished (crash, time limit), possibly with
     * different changes. Ignore files that have no items. changes: at most 256, valid until the
     * function returns. Limit: 30 min. [request-thread] */
    void (*update_files)(searchlight_extension *extension, searchlight_request request,
                         const searchlight_change *const *changes, size_t count);
} searchlight_changes;

/* Converts an item to one of the types promised when it was donated (attributes
 * providerDataTypeIdentifiers, providerFileTypeIdentifiers, providerInPlaceFileTypeIdentifiers).
 * The user is waiting, so answer quickly. */
#define SEARCHLIGHT_PROMISES "searchlight.promises/1"
typedef struct searchlight_promises {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Requests data; answer with finish_with_data. Limit: 1 min. [request-thread] */
    void (*provide_data)(searchlight_extension *extension, searchlight_request request, const char *item_identifier,
                         const char *type_identifier);
    /* Requests a file; answer with finish_with_file. in_place: not 0 for the original, 0 for a
     * copy. Limit: 1 min. [request-thread] */
    void (*provide_file)(searchlight_extension *extension, searchlight_request request, const char *item_identifier,
                         const char *type_identifier, int32_t in_place);
} searchlight_promises;

/* Renders an item for display. */
#define SEARCHLIGHT_PREVIEW "searchlight.preview/1"
typedef struct searchlight_preview {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Renders a preview. query: nullable, the user's query. content_path: nullable, the absolute
     * path of the item's contentURL if that is a file. Answer with finish_with_preview, or with
     * finish and SEARCHLIGHT_UNSUPPORTED to have the host show the item's attributes. Limit: 1 min.
     * [request-thread] */
    void (*preview)(searchlight_extension *extension, searchlight_request request, const char *item_identifier,
                    const char *query, const char *content_path);
} searchlight_preview;

/* Receives notices that indexing is being throttled, and that throttling has ended. */
#define SEARCHLIGHT_THROTTLE "searchlight.throttle/1"
#define SEARCHLIGHT_THROTTLE_OTHER 0
#define SEARCHLIGHT_THROTTLE_USER_ACTIVE 1 /* the user is active */
#define SEARCHLIGHT_THROTTLE_BATTERY 2     /* the battery is low, or power saving is on */
#define SEARCHLIGHT_THROTTLE_PRESSURE 3    /* other processes need processors, memory or disks */
#define SEARCHLIGHT_THROTTLE_REQUESTED 4   /* requested by the user */
typedef struct searchlight_throttle_notice {
    uint32_t size;
    int32_t reason;          /* SEARCHLIGHT_THROTTLE_...; treat unlisted values as OTHER */
    double items_per_second; /* the acceptable rate of donations; 0 for none at the moment */
} searchlight_throttle_notice;
typedef struct searchlight_throttle {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Stop non-urgent work within half a second. The worker may be frozen or terminated if it
     * continues. notice: valid until the function returns. [request-thread] */
    void (*did_throttle)(searchlight_extension *extension, const searchlight_throttle_notice *notice);
    /* Continue. May also be called without an earlier notice. [request-thread] */
    void (*did_finish_throttle)(searchlight_extension *extension);
} searchlight_throttle;

/* The description of the library: static data that remains valid as long as the library is
 * loaded. */
typedef struct searchlight_extension_entry {
    uint32_t size;
    uint32_t abi_major; /* SEARCHLIGHT_ABI_MAJOR at compile time */
    uint32_t abi_minor;
    uint32_t reserved;      /* 0 */
    const char *identifier; /* nullable; if given, it must equal the manifest's CFBundleIdentifier */

    /* Creates the one extension object of this worker; *extension may be NULL. On failure, return a
     * status and write the reason into error, at most error_capacity bytes including the NUL. Do
     * not wait for the network or the user, and do not start indexing. Limit: 5 s, including the
     * time to load the library. [load-thread] */
    searchlight_status (*create)(const searchlight_host *host, searchlight_extension **extension, char *error,
                                 size_t error_capacity);
    /* Called at most once, when no request is in progress. Usually it is not called: an unused
     * worker is simply killed, so save everything that must not be lost. nullable: the function is
     * optional. [load-thread] */
    void (*destroy)(searchlight_extension *extension);
    /* Returns the extension interface with this identifier, or NULL. The table is static data. Any
     * of its functions may be NULL; a request for such a function results in
     * SEARCHLIGHT_UNSUPPORTED. [thread-safe] */
    const void *(*get_interface)(searchlight_extension *extension, const char *identifier);
} searchlight_extension_entry;

/* The type of SEARCHLIGHT_ENTRY_SYMBOL. The function must return the entry and do nothing else.
 * [load-thread] */
typedef const searchlight_extension_entry *(*searchlight_extension_entry_function)(void);

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_EXTENSION_H */
