/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.preview/1: previews of items. */
#ifndef SEARCHLIGHT_EXTENSION_PREVIEW_H
#define SEARCHLIGHT_EXTENSION_PREVIEW_H

#include "../basics.h"
#include "../entry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Renders an item for display. */
#define SEARCHLIGHT_EXTENSION_PREVIEW "searchlight.preview/1"
typedef struct searchlight_extension_preview {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Renders a preview.
     *
     * item_identifier: valid until the function returns, as the other texts.
     * query: nullable, the user's query.
     * content_path: nullable, the absolute path of the item's contentURL if that is a file.
     * Answer with finish_with_preview, or with finish and SEARCHLIGHT_UNSUPPORTED to let the host
     * show the item's attributes. Time limit: 1 min. [request-thread] */
    void (*preview)(searchlight_extension *extension, searchlight_request request, const char *item_identifier,
                    const char *query, const char *content_path);
} searchlight_extension_preview;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_EXTENSION_PREVIEW_H */
