/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CHTML_H
#define SEARCHLIGHT_CHTML_H
#include <stddef.h>

/* Functions that receive the elements and texts of an HTML document, in document order. Names and texts are UTF-8, names in lower
 * case; both are valid until the call returns. */
typedef struct {
    /* The attributes are names and values by turns, up to a null name; a value may be null. The array too. */
    void (*start)(void *context, const char *name, const char *const *attributes);
    void (*end)(void *context, const char *name);
    void (*text)(void *context, const char *text, size_t length);
} html_handler;

/* Parses HTML with libxml2, which repairs malformed input, and calls the handler. Closes elements that are open at the end.
 * Swift cannot import libxml2's own header: its ICU clashes with Foundation's. [thread-safe] */
void html_read(const char *html, size_t length, const html_handler *handler, void *context);

#endif
