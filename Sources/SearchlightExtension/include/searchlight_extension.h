/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searchlight_extension.h: the interface between a Searchlight extension and its host.
 *
 * An extension is a shared library in a bundle directory (NAME.searchext). The host loads it in a
 * worker process of its own and calls it to reindex, to fulfil promises and to render previews.
 * These headers are the whole contract for C, C++, Rust, Zig, Go and other languages. Swift
 * extensions that use CoreSpotlight do not need them.
 *
 * This header includes all others except the drafts. Each can be included alone.
 *
 *     searchlight/basics.h        version, statuses, requests
 *     searchlight/entry.h         the entry of the library
 *     searchlight/host.h          the host, which the extension gets at its creation
 *     searchlight/host/           interfaces of the host, which the extension calls
 *     searchlight/extension/      interfaces of the extension, which the host calls
 *     searchlight/draft/          interfaces that may still change (see "Drafts")
 *     searchlight/deprecated.h    older names
 *
 * Rules for all functions:
 *
 *     Text       is UTF-8 and NUL-terminated. A message of more than 16 KiB is cut.
 *     NULL       an argument must not be NULL unless it is marked "nullable". An array of 0
 *                elements and bytes of length 0 may be NULL. The host reports a NULL, a malformed
 *                text and a released object as misuse, and does not read them. Then a function
 *                with a status returns SEARCHLIGHT_INVALID_ARGUMENT, a function with a pointer
 *                returns NULL, and a function without a result does nothing.
 *     Bounds     each function states its own. A donation and a batch have at most 32 MiB, the
 *                largest message to the host. An item has at most 16 MiB with 1024 attributes. An
 *                identifier, a domain and the name of an index have at most 4096 bytes. Beyond a
 *                bound, the status is SEARCHLIGHT_TOO_LARGE.
 *     Sizes      a "length", a "capacity" and a "size" are numbers of bytes: size_t for memory,
 *                uint64_t for files and streams. A length does not count a NUL at the end. A
 *                "count" is a number of elements. A KiB has 1024 bytes, a MiB 1,048,576.
 *     Time       each function states it. "At once" means that the function does not wait for the
 *                host or for other threads. A "time limit" belongs to a function of the extension:
 *                the host ends a worker that breaks it. A donation, a deletion, a log message, a
 *                printed line and a progress report are signs of life. A request needs the first
 *                sign of life within 5 s, and the next one within 10 s each time.
 *     Ownership  pointers passed to a function are valid until it returns, unless its comment says
 *                otherwise.
 *     Threads    each function has a tag:
 *                  [request-thread]  a worker thread, never the main thread, which runs the main
 *                                    queue. Several requests may run at once.
 *                  [thread-safe]     callable from any thread at any time while the extension
 *                                    exists. After a semicolon: "one thread per item" or similar
 *                                    for an object that two threads must not use at once.
 *                  [host-thread]     a thread of the host, which calls a function that was passed.
 *                  [load-thread]     the one thread that loads the extension, before any request.
 *     Names      searchlight_host_NAME is a table of functions of the host, and
 *                SEARCHLIGHT_HOST_NAME its identifier. searchlight_extension_NAME is a table of
 *                functions of the extension, and SEARCHLIGHT_EXTENSION_NAME its identifier. Other
 *                names belong to values that both sides use, such as searchlight_item.
 *     Growth     each table and each struct starts with "size", its sizeof in bytes. The side that
 *                fills the struct sets "size". The other side reads a field only if the field ends
 *                within "size". A struct never changes. A new feature is a new interface or a new
 *                revision, with its own identifier "name/revision". The host keeps all revisions.
 *     Drafts     have identifiers with "-draft" and headers in searchlight/draft. A later host may
 *                lack a draft, so an extension must work without it. An accepted draft keeps its
 *                structs, and loses "-draft" in its identifier; hosts of the next minor version
 *                know both.
 *     Forbidden  throwing C++ exceptions or unwinding through any function here; calling dlclose on
 *                the extension.
 */
#ifndef SEARCHLIGHT_EXTENSION_H
#define SEARCHLIGHT_EXTENSION_H

#include "searchlight/basics.h"
#include "searchlight/entry.h"
#include "searchlight/host.h"

#include "searchlight/host/batch.h"
#include "searchlight/host/cancel.h"
#include "searchlight/host/custom_keys.h"
#include "searchlight/host/index.h"
#include "searchlight/host/items.h"
#include "searchlight/host/left_out.h"
#include "searchlight/host/listing.h"
#include "searchlight/host/log.h"
#include "searchlight/host/progress.h"
#include "searchlight/host/protection.h"
#include "searchlight/host/rename.h"
#include "searchlight/host/request.h"
#include "searchlight/host/thread_check.h"

#include "searchlight/extension/changes.h"
#include "searchlight/extension/encrypted_items.h"
#include "searchlight/extension/paging.h"
#include "searchlight/extension/preview.h"
#include "searchlight/extension/promises.h"
#include "searchlight/extension/reindex.h"
#include "searchlight/extension/throttle.h"

#include "searchlight/deprecated.h"

#endif /* SEARCHLIGHT_EXTENSION_H */
