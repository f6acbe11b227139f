/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.paging/1: a full reindex in pages. */
#ifndef SEARCHLIGHT_EXTENSION_PAGING_H
#define SEARCHLIGHT_EXTENSION_PAGING_H

#include "../basics.h"
#include "../entry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The request for one page. */
typedef struct searchlight_page {
    uint32_t size;         /* sizeof(searchlight_page) of the host */
    uint32_t reserved;     /* 0 */
    const void *cursor;    /* NULL for the start; otherwise the last cursor of finish_page */
    size_t cursor_length;  /* bytes, at most SEARCHLIGHT_CURSOR_MAX */
    uint64_t memory_limit; /* bytes of memory; a worker that exceeds it is ended */
    uint32_t items;        /* end the page after about this number of items, */
    uint32_t milliseconds; /* or after this time, whichever comes first */
} searchlight_page;

/* Donates all items in pages: the way to reindex large collections. The host stores the cursor,
 * so that a reindex continues after the worker or the host exits, or the machine restarts. If an
 * extension has this interface, reindex_all of searchlight.reindex is not called. */
#define SEARCHLIGHT_EXTENSION_PAGING "searchlight.paging/1"
typedef struct searchlight_extension_paging {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Donates one page, then calls finish_page once the last donation is durable. At the end of
     * the whole reindex, the host deletes items that no page has donated, so nothing needs to be
     * deleted first. The same page may be requested again.
     *
     * page: valid until the function returns.
     * Answer with finish_page, or with finish for a failure.
     * Time limit: 30 min. [request-thread] */
    void (*reindex_page)(searchlight_extension *extension, searchlight_request request, const searchlight_page *page);
} searchlight_extension_paging;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_EXTENSION_PAGING_H */
