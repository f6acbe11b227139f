/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CHTML_H
#define SEARCHLIGHT_CHTML_H
#include <stddef.h>

/* What is in a piece of HTML, in its order. Names and texts are UTF-8, names in lower case; valid until the call returns. */
typedef struct {
    /* The attributes are names and values by turns, up to a null name; a value may be null. The array too. */
    void (*start)(void *context, const char *name, const char *const *attributes);
    void (*end)(void *context, const char *name);
    void (*text)(void *context, const char *text, size_t length);
} html_handler;

/* Reads HTML as libxml2 does, which repairs what is not well formed, and calls the handler. What is open at the end is closed.
 * libxml2's own header cannot be seen by Swift beside Foundation, whose ICU is another. [thread-safe] */
void html_read(const char *html, size_t length, const html_handler *handler, void *context);

#endif
