/* SPDX-License-Identifier: Apache-2.0 */
/* text.h: texts of others made harmless, addresses made whole, and a buffer that grows. */
#ifndef TEXT_H
#define TEXT_H

#include "bookmarks.h"

/* Reads one character of UTF-8: its value, and in `length` its bytes (at least 1). What is no character, or may not stand
 * in a message, is U+FFFD. at < end. */
uint32_t text_character(const char *at, const char *end, size_t *length);

/* Copies a text as one line: valid UTF-8, no control characters, single spaces, none at the ends. Cut between characters
 * to fit `capacity` with its NUL. `kept`: a control character that may stay, or 0. Returns the length. */
size_t text_line(char *out, size_t capacity, struct slice text, char kept);

/* Copies an address as ASCII, with what must not stand in one percent-encoded. False if it is none, is longer than fits, or
 * is of a kind that nobody but the browser itself can open. */
bool text_url(char *out, size_t capacity, struct slice url);

/* An address as a person reads it: without "https://" and a trailing slash. */
size_t text_readable_url(char *out, size_t capacity, const char *url);

/* The same with what is percent-encoded, and with the host's names in Unicode, as letters: "wiki/K%C3%B6ln" reads "wiki/Köln",
 * "xn--mnchen-3ya" reads "münchen". What stands for no character stays as it is. */
size_t text_legible_url(char *out, size_t capacity, const char *url);

/* Copies with all but letters, digits, '-' and '_' (and those in `kept`) percent-encoded. Cut to fit. */
size_t text_encode(char *out, size_t capacity, struct slice text, const char *kept);

/* FNV-1a over one text more; begin with TEXT_HASH. */
#define TEXT_HASH UINT64_C(0xcbf29ce484222325)
uint64_t text_hash(uint64_t hash, struct slice text);

struct slice slice_of(const char *text); /* NULL is empty */

/* A buffer that grows; begin with {0}, end with free(bytes). After a failure it stays as it was, and says so. */
struct buffer {
    char *bytes; /* NUL-terminated once something was added */
    size_t length, capacity;
    bool failed;
};
void buffer_add(struct buffer *buffer, const char *bytes, size_t length);
void buffer_say(struct buffer *buffer, const char *text);
/* A character in UTF-8. */
void text_add_character(struct buffer *buffer, uint32_t character);
/* With &, <, >, " and ' as entities. */
void buffer_escape(struct buffer *buffer, const char *text, size_t length);

#endif
