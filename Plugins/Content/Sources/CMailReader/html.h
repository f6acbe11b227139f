/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CMAILREADER_HTML_H
#define SEARCHLIGHT_CMAILREADER_HTML_H
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Appends the displayed text of UTF-8 HTML, read with libxml2's SAX parser, which builds no tree.
 * Stops at a limit in bytes and counts the rest of the source as left out. */
void html_append_text(GString *text, const char *html, size_t length, size_t limit, uint64_t *left_out);

/* Finds the encoding that a meta element near the beginning declares. Returns false if there is
 * none. */
bool html_declared_charset(const char *html, size_t length, char *name, size_t capacity);

#endif
