/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CHTML_H
#define SEARCHLIGHT_CHTML_H
#include <stddef.h>

/* Functions that receive the elements and texts of an HTML document, in document order. Names and
 * texts are UTF-8 and valid until the call returns; names are in lower case. */
typedef struct {
    /* `attributes` alternates names and values and ends with a null name. A value, and the array
     * itself, may be null. */
    void (*start)(void *context, const char *name, const char *const *attributes);
    void (*end)(void *context, const char *name);
    void (*text)(void *context, const char *text, size_t length);
} html_handler;

/* Parses HTML with libxml2, which repairs malformed input, and calls the handler. Closes elements
 * that are open at the end. Swift cannot import libxml2's own header, since its ICU conflicts with
 * Foundation's. [thread-safe] */
void html_read(const char *html, size_t length, const html_handler *handler, void *context);

#endif
