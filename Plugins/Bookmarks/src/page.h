/* SPDX-License-Identifier: Apache-2.0 */
/* page.h: the preview of a bookmark. */
#ifndef PAGE_H
#define PAGE_H

#include "library.h"
#include "text.h"

/* Writes a complete HTML document that loads and runs nothing. `query` may be NULL. Its words are
 * highlighted where they begin a word. */
void page_write(struct buffer *out, const struct entry *entry, const char *query);

#endif
