/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CMARKUP_H
#define SEARCHLIGHT_CMARKUP_H
#include <stddef.h>

/* Functions that receive the elements and texts of an HTML or XML document, in document order.
 * Names and texts are UTF-8 and valid until the call returns. HTML names are in lower case. XML
 * element names have no prefix; XML attribute names are as in the document. */
typedef struct {
    /* `attributes` alternates names and values and ends with a null name. A value, and the array
     * itself, may be null. */
    void (*start)(void *context, const char *name, const char *const *attributes);
    void (*end)(void *context, const char *name);
    void (*text)(void *context, const char *text, size_t length);
} markup_handler;

/* The result of reading a document. */
typedef enum {
    MARKUP_READ = 0,
    /* The XML document is not well-formed. The handler received everything before the fault. */
    MARKUP_BROKEN = 1,
    /* The document nests more deeply than the limit. The handler received everything before
     * that. */
    MARKUP_TOO_DEEP = 2,
    /* The document is longer than 2 GiB, or memory ran out. The handler received nothing. */
    MARKUP_TOO_LARGE = 3
} markup_result;

/* The maximum element depth in HTML; pages that leave elements open nest deeply. */
#define MARKUP_MAXIMUM_HTML_DEPTH 2000
/* The maximum element depth in XML. */
#define MARKUP_MAXIMUM_XML_DEPTH 1000

/* Parses UTF-8 HTML with libxml2, which repairs malformed input, and calls the handler. Closes
 * elements that are open at the end. Swift cannot import libxml2's own header, because its ICU
 * conflicts with Foundation's. [thread-safe] */
markup_result html_read(const char *html, size_t length, const markup_handler *handler, void *context);

/* Parses XML with libxml2 and calls the handler. Reads no external entities and expands no entities
 * that the document declares. [thread-safe] */
markup_result xml_read(const char *xml, size_t length, const markup_handler *handler, void *context);

#endif
