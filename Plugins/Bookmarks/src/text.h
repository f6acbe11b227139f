/* SPDX-License-Identifier: Apache-2.0 */
/* text.h: sanitizes external text, normalizes URLs, and provides a growing buffer. */
#ifndef TEXT_H
#define TEXT_H

#include "bookmarks.h"

/* Reads one UTF-8 character, where at < end. Returns its value, and stores the number of its bytes
 * (at least 1) in `length`. An invalid character, or one that a message must not contain, becomes
 * U+FFFD. */
uint32_t text_character(const char *at, const char *end, size_t *length);

/* Copies a text as one line: valid UTF-8, without control characters, with single spaces and none
 * at the ends. It is cut between characters so that it fits into `capacity` with its NUL. `kept` is
 * a permitted control character, or 0. Returns the length. */
size_t text_line(char *out, size_t capacity, struct slice text, char kept);

/* Copies a URL as ASCII, with forbidden characters percent-encoded. Returns false if the text is
 * not a URL, does not fit, or can be opened only by the browser itself. */
bool text_url(char *out, size_t capacity, struct slice url);

/* Copies a URL for display, without "https://" and a trailing slash. */
size_t text_readable_url(char *out, size_t capacity, const char *url);

/* Does the same, and decodes percent-encoding and Punycode: "wiki/K%C3%B6ln" becomes "wiki/Köln",
 * "xn--mnchen-3ya" becomes "münchen". Invalid sequences are not changed. */
size_t text_legible_url(char *out, size_t capacity, const char *url);

/* Copies a text with all characters percent-encoded except letters, digits, '-', '_' and those in
 * `kept`. It is cut to fit. */
size_t text_encode(char *out, size_t capacity, struct slice text, const char *kept);

/* Adds a text to an FNV-1a hash. The initial value is TEXT_HASH. */
#define TEXT_HASH UINT64_C(0xcbf29ce484222325)
uint64_t text_hash(uint64_t hash, struct slice text);

struct slice slice_of(const char *text); /* NULL is empty */

/* A growing buffer. Initialize it with {0} and free `bytes` at the end. After a failure, it keeps
 * its content and reports the failure. */
struct buffer {
    char *bytes; /* NUL-terminated after the first addition */
    size_t length, capacity;
    bool failed;
};
void buffer_add(struct buffer *buffer, const char *bytes, size_t length);
void buffer_say(struct buffer *buffer, const char *text);
/* Adds a character as UTF-8. */
void text_add_character(struct buffer *buffer, uint32_t character);
/* Adds a text with &, <, >, " and ' as entities. */
void buffer_escape(struct buffer *buffer, const char *text, size_t length);

#endif
