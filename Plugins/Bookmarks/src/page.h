/* SPDX-License-Identifier: Apache-2.0 */
/* page.h: what a bookmark looks like to a person. */
#ifndef PAGE_H
#define PAGE_H

#include "library.h"
#include "text.h"

/* Writes a whole HTML document that loads and runs nothing. query: nullable; its words are marked where they begin a word. */
void page_write(struct buffer *out, const struct entry *entry, const char *query);

#endif
