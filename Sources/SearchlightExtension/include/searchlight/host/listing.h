/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.listing/1: the extension's own items in the index. */
#ifndef SEARCHLIGHT_HOST_LISTING_H
#define SEARCHLIGHT_HOST_LISTING_H

#include "../basics.h"
#include "../host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SEARCHLIGHT_LISTING_MAX 1000u /* the maximum number of identifiers in a page */

/* Called once, with identifiers sorted by their bytes. A page with fewer identifiers than requested
 * is the last.
 *
 * context: nullable; as passed. message: nullable. identifiers: nullable if count is 0; valid
 * during the call, as the message. Time limit: only the limit of the request. [host-thread] */
typedef void (*searchlight_listing_completion)(void *context, searchlight_status status, const char *message,
                                               const char *const *identifiers, size_t count);

/* Lists the extension's own items, so that it can delete items that it no longer has. */
#define SEARCHLIGHT_HOST_LISTING "searchlight.listing/1"
typedef struct searchlight_host_listing {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Lists the items of an index after everything that was sent before is durable.
     *
     * index_name: nullable, the default index; at most 4096 bytes.
     * after: nullable; the last identifier of the previous page.
     * limit: the number of identifiers, at most SEARCHLIGHT_LISTING_MAX.
     * completion: never NULL. context: nullable.
     * Returns SEARCHLIGHT_OK if the request was sent; only then is completion called. Otherwise
     * SEARCHLIGHT_INVALID_ARGUMENT, or SEARCHLIGHT_TOO_LARGE for a larger limit or name.
     * Time: may block the caller while 8 requests are in progress. [thread-safe] */
    searchlight_status (*list_items)(const searchlight_host *host, const char *index_name, const char *after,
                                     uint32_t limit, searchlight_listing_completion completion, void *context);
} searchlight_host_listing;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_LISTING_H */
