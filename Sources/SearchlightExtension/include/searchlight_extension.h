/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searchlight_extension.h: what a Searchlight extension and its host say to each other.
 *
 * An extension is a shared library in a bundle directory (NAME.searchext). The host loads it in a worker process of
 * its own and calls it to reindex, to fulfil promises and to render previews. This header is the whole contract for
 * C, C++, Rust, Zig, Go and others; extensions written in Swift against CoreSpotlight need no part of it.
 *
 * Rules for everything below
 *   Text       is UTF-8, NUL-terminated, never NULL unless marked "nullable".
 *   Ownership  pointers passed to a function are borrowed until it returns, unless its comment says otherwise.
 *   Threads    each function carries a tag:
 *                [request-thread]  a worker thread, never the main thread; the main thread runs its queue meanwhile.
 *                                  Several requests may be under way at once.
 *                [thread-safe]     callable from any thread at any time while the extension exists.
 *                [load-thread]     the one thread that loads the extension, before any request.
 *   Growth     structs begin with their size; a field may be read only if it lies within that size. New abilities come
 *              as new interfaces or new revisions, fetched by identifier "name/revision"; a struct never changes.
 *   Forbidden  throwing C++ exceptions or unwinding through any function here; calling dlclose on the extension.
 */
#ifndef SEARCHLIGHT_EXTENSION_H
#define SEARCHLIGHT_EXTENSION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An extension and a host agree when the major numbers are equal. */
#define SEARCHLIGHT_ABI_MAJOR 1u
#define SEARCHLIGHT_ABI_MINOR 0u

#if defined(__GNUC__)
#define SEARCHLIGHT_EXPORT __attribute__((visibility("default")))
#else
#define SEARCHLIGHT_EXPORT
#endif

/* The name of the one symbol that a native extension exports; see searchlight_extension_entry_function. */
#define SEARCHLIGHT_ENTRY_SYMBOL "searchlight_extension_entry_point"

/* ---- Outcomes ------------------------------------------------------------------------------------------------- */

/* Every outcome is a status and, unless it is SEARCHLIGHT_OK, a message that says what was attempted, what happened
 * and what to do. Values not listed are read as SEARCHLIGHT_FAILED. */
typedef int32_t searchlight_status;
#define SEARCHLIGHT_OK 0
#define SEARCHLIGHT_FAILED 1           /* none of the below; the message says what */
#define SEARCHLIGHT_UNSUPPORTED 2      /* this type or request is not one the extension serves */
#define SEARCHLIGHT_NOT_FOUND 3        /* no such item */
#define SEARCHLIGHT_CANCELLED 4        /* the request was cancelled */
#define SEARCHLIGHT_INVALID_ARGUMENT 5 /* malformed text, NULL where forbidden, wrong size */
#define SEARCHLIGHT_UNAVAILABLE 6      /* the host or the index cannot be reached now; retry later */
#define SEARCHLIGHT_TOO_LARGE 7        /* over a limit named in the message */
#define SEARCHLIGHT_REFUSED 8          /* understood, and not allowed */

/* A request under way. The number is never used again in the same worker, so finishing twice or too late is harmless:
 * the second answer is ignored and logged. */
typedef uint64_t searchlight_request;

/* ---- Host side: what the extension may call ------------------------------------------------------------------- */

/* Handed to the extension at creation; valid until its destroy function returns. */
typedef struct searchlight_host {
    uint32_t size;      /* sizeof(searchlight_host) of the host */
    uint32_t abi_major; /* SEARCHLIGHT_ABI_MAJOR of the host */
    uint32_t abi_minor;
    uint32_t reserved;             /* 0 */
    void *context;                 /* the host's own; do not touch */
    const char *bundle_identifier; /* e.g. "com.example.journal", from the manifest */
    const char *bundle_path;       /* absolute path of the .searchext directory */
    const char *principal_class;   /* nullable; NSExtensionPrincipalClass of the manifest, e.g. "Journal.Handler" */

    /* The host interface with that identifier, or NULL if this host has none. Valid as long as the host struct.
     * [thread-safe] */
    const void *(*get_interface)(const struct searchlight_host *host, const char *identifier);
} searchlight_host;

/* A part of a preview that its HTML refers to as "cid:IDENTIFIER". */
typedef struct searchlight_attachment {
    uint32_t size;
    uint32_t reserved;        /* 0 */
    const char *identifier;   /* letters, digits, '-', '.' and '_'; at most 255 bytes */
    const char *content_type; /* a uniform type identifier, e.g. "public.png" */
    const void *bytes;        /* nullable if length is 0 */
    size_t length;
} searchlight_attachment;

/* What is shown of an item. */
typedef struct searchlight_preview_reply {
    uint32_t size;
    uint32_t attachment_count; /* at most 256 */
    /* one of public.html, public.plain-text, public.utf8-plain-text, public.rtf, public.png, public.jpeg, com.adobe.pdf */
    const char *content_type;
    const char *title; /* nullable: the item's */
    const void *bytes; /* nullable if length is 0; with all attachments at most 32 MiB */
    size_t length;
    double width; /* the size it is made for, in points; 0 if it has none */
    double height;
    const searchlight_attachment *const *attachments; /* nullable if attachment_count is 0 */
} searchlight_preview_reply;

#define SEARCHLIGHT_CURSOR_MAX 4096 /* bytes of a cursor */

/* Answers a request. Each of the finish functions answers it for good; exactly one of them must be called for every
 * request, from any thread, during the request function or later. */
#define SEARCHLIGHT_HOST_REQUEST "searchlight.request/1"
typedef struct searchlight_host_request {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Acknowledges a reindex (SEARCHLIGHT_OK, once the last donation is durable), or fails any kind of request.
     * message: nullable for SEARCHLIGHT_OK. [thread-safe] */
    void (*finish)(const searchlight_host *host, searchlight_request request, searchlight_status status,
                   const char *message);

    /* Fulfils a data promise. The bytes are copied before it returns. [thread-safe] */
    void (*finish_with_data)(const searchlight_host *host, searchlight_request request, const void *bytes,
                             size_t length);

    /* Fulfils a file promise with an absolute path, of a file or of a folder that is one thing to people (a package, as
     * .rtfd). It is opened before this returns. remove_after: not 0 if a file was made for this request and may be removed
     * once delivered; a folder is read after this returns, so make it in $TMPDIR, which goes with the worker. In a folder,
     * links may only lead to what is inside, and there is nothing but files, folders and links. [thread-safe] */
    void (*finish_with_file)(const searchlight_host *host, searchlight_request request, const char *path,
                             int32_t remove_after);

    /* Answers a preview request. The reply and all it names are copied before it returns. [thread-safe] */
    void (*finish_with_preview)(const searchlight_host *host, searchlight_request request,
                                const searchlight_preview_reply *reply);

    /* Answers a request for a page: everything up to here is durable. next_cursor: where the next page begins, at most
     * SEARCHLIGHT_CURSOR_MAX bytes, copied before it returns; NULL after the last page. [thread-safe] */
    void (*finish_page)(const searchlight_host *host, searchlight_request request, const void *next_cursor,
                        size_t length);
} searchlight_host_request;

/* Says when nobody waits for an answer any more. A host ends a worker that goes on regardless, after a while. */
#define SEARCHLIGHT_HOST_CANCEL "searchlight.cancel/1"
typedef void (*searchlight_cancel_handler)(void *context, searchlight_request request);
typedef struct searchlight_host_cancel {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* 1 once nobody waits for the answer any more, else 0. Long work should ask now and then, and finish the request with
     * SEARCHLIGHT_CANCELLED. [thread-safe] */
    int32_t (*is_cancelled)(const searchlight_host *host, searchlight_request request);

    /* Has handler called once when the request is cancelled, on a thread of the host, or at once if it has been; never after
     * the request was finished. Replaces an earlier handler; NULL removes it. [thread-safe] */
    void (*set_handler)(const searchlight_host *host, searchlight_request request, searchlight_cancel_handler handler,
                        void *context);
} searchlight_host_cancel;

/* Says how far a request has come. It shows that the extension is alive, and a person who waits sees it. */
#define SEARCHLIGHT_HOST_PROGRESS "searchlight.progress/1"
typedef struct searchlight_host_progress {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* completed of total units of the extension's choice; total: 0 if it is not known. May be called as often as is
     * convenient; the host is told a few times a second. [thread-safe] */
    void (*report)(const searchlight_host *host, searchlight_request request, uint64_t completed, uint64_t total);
} searchlight_host_progress;

/* Says on which thread the caller is, for assertions. 1 or 0. All [thread-safe] */
#define SEARCHLIGHT_HOST_THREAD_CHECK "searchlight.thread-check/1"
typedef struct searchlight_host_thread_check {
    uint32_t size;
    uint32_t reserved; /* 0 */
    int32_t (*is_main_thread)(const searchlight_host *host);
    int32_t (*is_load_thread)(const searchlight_host *host);
    int32_t (*is_request_thread)(const searchlight_host *host);
} searchlight_host_thread_check;

/* Builds items to donate. Attribute names are those of CSSearchableItemAttributeSet ("title", "textContent", ...).
 * So are units: "fileSize" is in megabytes of 1,000,000 bytes, "duration" in seconds. */
#define SEARCHLIGHT_HOST_ITEMS "searchlight.items/1"
typedef struct searchlight_item searchlight_item;
typedef struct searchlight_host_items {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* A new item; the caller owns it and gives it back with release. domain_identifier: nullable, dotted
     * ("account.mailbox"). content_type: nullable, a uniform type identifier. [thread-safe; one thread per item] */
    searchlight_item *(*create)(const searchlight_host *host, const char *unique_identifier,
                                const char *domain_identifier, const char *content_type);
    /* Each setter replaces the attribute. They return SEARCHLIGHT_INVALID_ARGUMENT for malformed UTF-8. */
    searchlight_status (*set_string)(searchlight_item *item, const char *name, const char *value);
    searchlight_status (*set_strings)(searchlight_item *item, const char *name, const char *const *values,
                                      size_t count);
    searchlight_status (*set_integer)(searchlight_item *item, const char *name, int64_t value);
    searchlight_status (*set_number)(searchlight_item *item, const char *name, double value);
    searchlight_status (*set_boolean)(searchlight_item *item, const char *name, int32_t value);
    /* seconds since 1970-01-01 UTC */
    searchlight_status (*set_date)(searchlight_item *item, const char *name, double unix_seconds);
    searchlight_status (*set_data)(searchlight_item *item, const char *name, const void *bytes, size_t length);
    /* seconds since 1970-01-01 UTC; INFINITY: never. Without it, one month after donation. */
    searchlight_status (*set_expiration)(searchlight_item *item, double unix_seconds);
    void (*release)(searchlight_item *item);
} searchlight_host_items;

/* Says how attributes of the extension's own may be searched (CSCustomAttributeKey). Without it, an attribute is found
 * by queries that name it, and by no others. */
#define SEARCHLIGHT_HOST_CUSTOM_KEYS "searchlight.custom-keys/1"
#define SEARCHLIGHT_KEY_SEARCHABLE 1u            /* may be found at all; without it, the attribute is only kept */
#define SEARCHLIGHT_KEY_SEARCHABLE_BY_DEFAULT 2u /* words, and queries that name no attribute, look here too */
#define SEARCHLIGHT_KEY_UNIQUE 4u                /* many items share few values; kept, without effect */
#define SEARCHLIGHT_KEY_MULTI_VALUED 8u          /* the value is an array; kept, without effect */
typedef struct searchlight_host_custom_keys {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Sets the traits of an attribute, before or after its value; traits: SEARCHLIGHT_KEY_... added up. They go with the
     * value: without one they mean nothing. Returns SEARCHLIGHT_INVALID_ARGUMENT for other bits, and for a name that is
     * not of ASCII letters, digits and '_', is longer than 4096 bytes or begins with "kMD". [thread-safe; one thread
     * per item] */
    searchlight_status (*set_traits)(searchlight_item *item, const char *name, uint32_t traits);
} searchlight_host_custom_keys;

/* Called once, on a thread of the host, when a donation or deletion is durable or has failed. message: nullable,
 * borrowed for the call. */
typedef void (*searchlight_completion)(void *context, searchlight_status status, const char *message);

/* Donates to and deletes from the index of the extension's bundle. index_name: nullable, the default index.
 * completion: nullable. A count of 0 is as good as any. All [thread-safe]; they may block the caller while too much is
 * under way. The returned status is SEARCHLIGHT_OK if the request was sent; only then will completion be called. */
#define SEARCHLIGHT_HOST_INDEX "searchlight.index/1"
typedef struct searchlight_host_index {
    uint32_t size;
    uint32_t reserved; /* 0 */

    searchlight_status (*index_items)(const searchlight_host *host, const char *index_name,
                                      searchlight_item *const *items, size_t count, searchlight_completion completion,
                                      void *context);
    /* The same with items already encoded: a batch of item records, format in docs/ITEM-RECORD.md. */
    searchlight_status (*index_records)(const searchlight_host *host, const char *index_name, const uint8_t *batch,
                                        size_t length, searchlight_completion completion, void *context);
    searchlight_status (*delete_items)(const searchlight_host *host, const char *index_name,
                                       const char *const *identifiers, size_t count, searchlight_completion completion,
                                       void *context);
    /* Deletes each domain and all below it: "a" removes "a" and "a.b", not "ab". */
    searchlight_status (*delete_domains)(const searchlight_host *host, const char *index_name,
                                         const char *const *domains, size_t count, searchlight_completion completion,
                                         void *context);
    searchlight_status (*delete_all)(const searchlight_host *host, const char *index_name,
                                     searchlight_completion completion, void *context);
} searchlight_host_index;

/* Batches: changes that become durable together with a client state of the extension's own, or not at all. A client state
 * says how far the extension has come, e.g. the version of its data; the host keeps the last one of each named index. The
 * default index has none. */
#define SEARCHLIGHT_HOST_BATCH "searchlight.batch/1"
#define SEARCHLIGHT_CLIENT_STATE_MAX 250 /* bytes of a client state */
#define SEARCHLIGHT_EXPECT_ANY 0         /* whatever the client state is */
#define SEARCHLIGHT_EXPECT_NONE 1        /* there is no client state */
#define SEARCHLIGHT_EXPECT_STATE 2       /* the client state is the given one */
/* Changes under construction; of the extension, until it is committed or released. One thread at a time. */
typedef struct searchlight_batch searchlight_batch;

/* Called once, on a thread of the host, with the client state. state: NULL if there is none; else length bytes, borrowed
 * for the call, perhaps 0. message: nullable. */
typedef void (*searchlight_state_completion)(void *context, searchlight_status status, const char *message,
                                             const void *state, size_t length);

typedef struct searchlight_host_batch {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* An empty batch; the caller owns it. Nothing of it is anywhere but in memory until it is committed.
     * [thread-safe] */
    searchlight_batch *(*create)(const searchlight_host *host);
    /* Each adds a change to the end of the batch. They return SEARCHLIGHT_TOO_LARGE, and leave the batch as it was, if it
     * would have more than 32 MiB. */
    searchlight_status (*index_items)(searchlight_batch *batch, searchlight_item *const *items, size_t count);
    searchlight_status (*delete_items)(searchlight_batch *batch, const char *const *identifiers, size_t count);
    searchlight_status (*delete_domains)(searchlight_batch *batch, const char *const *domains, size_t count);
    searchlight_status (*delete_all)(searchlight_batch *batch);
    void (*release)(searchlight_batch *batch);

    /* Makes all changes durable together with the client state, if the stored one is as expected. expectation:
     * SEARCHLIGHT_EXPECT_...; expected: for SEARCHLIGHT_EXPECT_STATE. The batch is still the caller's, to be released.
     * The completion gets SEARCHLIGHT_REFUSED if the stored client state is another; nothing is changed then.
     * completion: nullable. The returned status is SEARCHLIGHT_OK if the request was sent; only then will completion be
     * called. It may block the caller while too much is under way. [thread-safe] */
    searchlight_status (*commit)(const searchlight_host *host, const char *index_name, const searchlight_batch *batch,
                                 const void *state, size_t state_length, int32_t expectation, const void *expected,
                                 size_t expected_length, searchlight_completion completion, void *context);
    /* The same with changes already encoded, format in docs/ITEM-RECORD.md. [thread-safe] */
    searchlight_status (*commit_changes)(const searchlight_host *host, const char *index_name, const uint8_t *changes,
                                         size_t length, const void *state, size_t state_length, int32_t expectation,
                                         const void *expected, size_t expected_length,
                                         searchlight_completion completion, void *context);
    /* Reads the client state of the last batch that is durable, once what was sent before is. The returned status as for
     * commit. [thread-safe] */
    searchlight_status (*read_state)(const searchlight_host *host, const char *index_name,
                                     searchlight_state_completion completion, void *context);
} searchlight_host_batch;

/* Gives items other identifiers. A renamed item stays the item that it is: it keeps its dates, its text, its domain and its
 * number, to which belong the uses from which searches learn. Use it where an identifier says where something lies, such as a
 * path, and donate the item again afterwards, if what it says of that place has changed too.
 *   - new_identifiers[i] is the identifier that the item identifiers[i] gets. All renames of a call are carried out at once, so two
 *     items can swap theirs.
 *   - An item that has a new identifier already is replaced, with its number, unless it is renamed by the same call.
 *   - An item that is not in the index is passed over.
 *   - Items that depend on a renamed one (relatedUniqueIdentifier) depend on it by its new identifier.
 * Hosts of 0.1 have none of it: delete and donate there. */
#define SEARCHLIGHT_HOST_RENAME "searchlight.rename/1"
typedef struct searchlight_host_rename {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Renames items in the index of the extension's bundle, all or none. index_name and completion as in
     * searchlight_host_index. Returns SEARCHLIGHT_INVALID_ARGUMENT if a new identifier is empty or longer than 4096 bytes, or an
     * identifier or a new one is there twice, and SEARCHLIGHT_TOO_LARGE for more than 524,287 items or 32 MiB; nothing is
     * renamed then. May block the caller while too much is under way. [thread-safe] */
    searchlight_status (*rename_items)(const searchlight_host *host, const char *index_name,
                                       const char *const *identifiers, const char *const *new_identifiers, size_t count,
                                       searchlight_completion completion, void *context);
    /* The same as a change at the end of a batch of searchlight.batch. Returns SEARCHLIGHT_TOO_LARGE, and leaves the batch as it
     * was, as its functions do. [one thread at a time] */
    searchlight_status (*rename_in_batch)(searchlight_batch *batch, const char *const *identifiers,
                                          const char *const *new_identifiers, size_t count);
} searchlight_host_rename;

/* Lists the extension's own items: what the index has and the extension has no more, it can delete. */
#define SEARCHLIGHT_HOST_LISTING "searchlight.listing/1"
/* Called once, on a thread of the host, with identifiers in the order of their bytes, borrowed for the call. Fewer than were
 * asked for are the last ones. message: nullable. */
typedef void (*searchlight_listing_completion)(void *context, searchlight_status status, const char *message,
                                               const char *const *identifiers, size_t count);
typedef struct searchlight_host_listing {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Lists the items of an index (NULL: the default one) as they are once what was sent before is durable. after: nullable;
     * the last identifier of the page before. limit: of identifiers, at most SEARCHLIGHT_LISTING_MAX. The returned status is
     * SEARCHLIGHT_OK if the request was sent; only then will completion be called. [thread-safe] */
    searchlight_status (*list_items)(const searchlight_host *host, const char *index_name, const char *after,
                                     uint32_t limit, searchlight_listing_completion completion, void *context);
} searchlight_host_listing;
#define SEARCHLIGHT_LISTING_MAX 1000u

/* Says something to the person who looks after the extension. What the extension prints to stderr arrives too. */
#define SEARCHLIGHT_HOST_LOG "searchlight.log/1"
#define SEARCHLIGHT_LOG_INFO 1
#define SEARCHLIGHT_LOG_WARNING 2
#define SEARCHLIGHT_LOG_ERROR 3
typedef struct searchlight_host_log {
    uint32_t size;
    uint32_t reserved; /* 0 */
    void (*log)(const searchlight_host *host, int32_t level, const char *message); /* [thread-safe] */
} searchlight_host_log;

/* ---- Extension side: what the host calls ----------------------------------------------------------------------- */

/* The extension's own object; the host only passes it back. */
typedef struct searchlight_extension searchlight_extension;

/* Makes items searchable again. */
#define SEARCHLIGHT_REINDEX "searchlight.reindex/1"
typedef struct searchlight_reindex {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Donate everything, then finish. Not finished (crash, time limit) means asked again. What is not donated stays in the
     * index: call delete_all first. What that deletes is found until the request is finished. [request-thread] */
    void (*reindex_all)(searchlight_extension *extension, searchlight_request request);
    /* Donate again, or delete, each of these; then finish. [request-thread] */
    void (*reindex_items)(searchlight_extension *extension, searchlight_request request,
                          const char *const *identifiers, size_t count);
} searchlight_reindex;

/* Makes everything searchable again, in pages: the way to reindex what is large. The host remembers the cursor, so that a
 * reindex goes on where it was after the worker, the host or the machine has ended. Where an extension has this interface,
 * reindex_all of searchlight.reindex is not called. */
#define SEARCHLIGHT_PAGING "searchlight.paging/1"
typedef struct searchlight_page {
    uint32_t size;
    uint32_t reserved;     /* 0 */
    const void *cursor;    /* NULL: the beginning; else what finish_page was given last */
    size_t cursor_length;  /* bytes */
    uint64_t memory_limit; /* bytes the worker may take; over it, it is ended */
    uint32_t items;        /* end the page after about so many items, */
    uint32_t milliseconds; /* or after so long, whichever comes first */
} searchlight_page;
typedef struct searchlight_paging {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Donate one page, then finish_page once its last donation is durable. What no page of a whole reindex donated is
     * deleted at its end, so there is nothing to delete first. The same page may be asked for again. [request-thread] */
    void (*reindex_page)(searchlight_extension *extension, searchlight_request request, const searchlight_page *page);
} searchlight_paging;

/* Keeps the items of files true: says what happened to files. Hosts of 0.1 never ask for it, and ask for items or for everything
 * instead, as every host does of an extension without this interface. */
#define SEARCHLIGHT_CHANGES "searchlight.changes/1"
#define SEARCHLIGHT_CHANGED 1 /* the file is new, or its content or rights are others */
#define SEARCHLIGHT_MOVED 2   /* the file has another path, and may be changed too */
#define SEARCHLIGHT_REMOVED 3 /* there is no file at the path any more */
typedef struct searchlight_change {
    uint32_t size;
    int32_t kind;              /* SEARCHLIGHT_CHANGED, _MOVED or _REMOVED; pass over values not listed */
    const char *path;          /* absolute; of a moved file the new one */
    const char *previous_path; /* nullable: of a moved file the one before */
} searchlight_change;
typedef struct searchlight_changes {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Donate, donate again or delete the items of these files, then finish once the last change is durable. Look at each
     * file as it is now: more may have happened since. Not finished (crash, time limit) means asked again, perhaps with other
     * changes. Files that have no items need nothing. [request-thread] */
    void (*update_files)(searchlight_extension *extension, searchlight_request request,
                         const searchlight_change *const *changes, size_t count);
} searchlight_changes;

/* Turns an item into one of the types it promised when it was donated (attributes providerDataTypeIdentifiers,
 * providerFileTypeIdentifiers, providerInPlaceFileTypeIdentifiers). A person is waiting: be quick. */
#define SEARCHLIGHT_PROMISES "searchlight.promises/1"
typedef struct searchlight_promises {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Answer with finish_with_data. [request-thread] */
    void (*provide_data)(searchlight_extension *extension, searchlight_request request, const char *item_identifier,
                         const char *type_identifier);
    /* Answer with finish_with_file. in_place: not 0 for the original, 0 for a copy. [request-thread] */
    void (*provide_file)(searchlight_extension *extension, searchlight_request request, const char *item_identifier,
                         const char *type_identifier, int32_t in_place);
} searchlight_promises;

/* Renders an item for a person to look at. */
#define SEARCHLIGHT_PREVIEW "searchlight.preview/1"
typedef struct searchlight_preview {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* query: nullable, what the person typed. content_path: nullable, absolute path of the item's contentURL when that
     * is a file. Answer with finish_with_preview, or with finish and SEARCHLIGHT_UNSUPPORTED to have the host show the
     * item's attributes. [request-thread] */
    void (*preview)(searchlight_extension *extension, searchlight_request request, const char *item_identifier,
                    const char *query, const char *content_path);
} searchlight_preview;

/* Is told that indexing is slowed down, and that it is over. */
#define SEARCHLIGHT_THROTTLE "searchlight.throttle/1"
#define SEARCHLIGHT_THROTTLE_OTHER 0
#define SEARCHLIGHT_THROTTLE_USER_ACTIVE 1 /* somebody works at the machine */
#define SEARCHLIGHT_THROTTLE_BATTERY 2     /* it runs on little battery, or is to save power */
#define SEARCHLIGHT_THROTTLE_PRESSURE 3    /* others need its processors, memory or disks */
#define SEARCHLIGHT_THROTTLE_REQUESTED 4   /* a person asked for it */
typedef struct searchlight_throttle_notice {
    uint32_t size;
    int32_t reason;          /* SEARCHLIGHT_THROTTLE_...; values not listed are read as OTHER */
    double items_per_second; /* as fast as donations are welcome; 0: not at all for now */
} searchlight_throttle_notice;
typedef struct searchlight_throttle {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Stop what is not urgent within half a second. The worker may be frozen or ended if it goes on. [request-thread] */
    void (*did_throttle)(searchlight_extension *extension, const searchlight_throttle_notice *notice);
    void (*did_finish_throttle)(searchlight_extension *extension); /* [request-thread] */
} searchlight_throttle;

/* What the library is; static data, valid as long as the library is loaded. */
typedef struct searchlight_extension_entry {
    uint32_t size;
    uint32_t abi_major; /* SEARCHLIGHT_ABI_MAJOR it was compiled with */
    uint32_t abi_minor;
    uint32_t reserved;      /* 0 */
    const char *identifier; /* nullable; if given it must equal CFBundleIdentifier of the manifest */

    /* Makes the one extension object of this worker. On failure return a status and write the reason into error.
     * Forbidden: waiting for the network or for a person; starting to index. [load-thread] */
    searchlight_status (*create)(const searchlight_host *host, searchlight_extension **extension, char *error,
                                 size_t error_capacity);
    /* Called at most once, when no request is under way. Usually it is not called: a worker that is no longer needed is
     * ended as it is, so keep nothing only in memory that must not be lost. [load-thread] */
    void (*destroy)(searchlight_extension *extension);
    /* The extension interface with that identifier, or NULL. Static data. [thread-safe] */
    const void *(*get_interface)(searchlight_extension *extension, const char *identifier);
} searchlight_extension_entry;

/* The type of SEARCHLIGHT_ENTRY_SYMBOL. Must do nothing but return the entry. [load-thread] */
typedef const searchlight_extension_entry *(*searchlight_extension_entry_function)(void);

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_EXTENSION_H */
