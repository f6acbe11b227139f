/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CPOPPLER_H
#define SEARCHLIGHT_CPOPPLER_H
#include <stddef.h>
#include <stdint.h>

/* Reads PDF files through poppler's GLib library, which is loaded when the first document is
 * opened. See docs/decisions/0029. A document may be used by one thread at a time. */

typedef struct pdf_document pdf_document;

typedef enum {
    PDF_OPENED = 0,
    /* libpoppler-glib.so.8 is not installed. */
    PDF_NO_LIBRARY = 1,
    PDF_ENCRYPTED = 2,
    PDF_DAMAGED = 3
} pdf_result;

/* Opens a document from a descriptor, which remains the caller's. [thread-safe] */
pdf_result pdf_open(int descriptor, pdf_document **document);
void pdf_close(pdf_document *document);

int pdf_page_count(const pdf_document *document);

typedef enum { PDF_TITLE, PDF_AUTHOR, PDF_SUBJECT, PDF_KEYWORDS, PDF_XMP } pdf_property;

/* Returns a property as UTF-8; NULL if there is none. Free it with free(). */
char *pdf_copy_property(const pdf_document *document, pdf_property property);

/* Return seconds since 1970; -1 if there is no date. */
int64_t pdf_created(const pdf_document *document);
int64_t pdf_modified(const pdf_document *document);

/* Returns the text of a page as UTF-8; NULL if there is none. Free it with free(). Pages are
 * numbered from 0. */
char *pdf_copy_text(const pdf_document *document, int page);

/* Renders a page as PNG on white, at most `side` pixels wide and high. Returns the bytes, or NULL
 * if the page cannot be rendered. Free them with free(). */
void *pdf_copy_png(const pdf_document *document, int page, int side, size_t *length);

#endif
