/* SPDX-License-Identifier: Apache-2.0 */
/* page.h: the preview of a bookmark. */
#ifndef PAGE_H
#define PAGE_H

#include "library.h"
#include "text.h"

/* Writes a whole HTML document that loads and runs nothing. query: nullable. Its words are marked
 * at the beginnings of words. */
void page_write(struct buffer *out, const struct entry *entry, const char *query);

#endif
