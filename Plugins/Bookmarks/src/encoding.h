/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.h: converts an exported file from any encoding to UTF-8. */
#ifndef ENCODING_H
#define ENCODING_H

#include "text.h"

#include <iconv.h>

/* The number of bytes at the beginning of a file that are searched for an encoding declaration. */
enum { ENCODING_HEAD = 4 << 10 };

/* A decoder for one file. */
struct decoder {
    iconv_t converter;
    bool converts;         /* `converter` converts the text; otherwise bytes that are not UTF-8 are windows-1252 */
    bool is_latin;         /* all bytes are windows-1252 */
    unsigned char unit;    /* the number of bytes to skip if they are not a character */
};

/* Chooses the encoding from the first bytes of a file: from the byte order mark, from <meta
 * charset> with a label in the WHATWG Encoding Standard, or else UTF-8. Returns the length of the
 * byte order mark, which is not text. */
size_t decoder_open(struct decoder *decoder, const char *head, size_t length);
void decoder_close(struct decoder *decoder);

/* Replaces `out` with the bytes as valid UTF-8 without NULs. An incomplete character at the end is
 * left over. Returns the length of this rest, which is less than `count` unless `count` is under
 * 16. `is_last`: no bytes follow. */
size_t decoder_run(struct decoder *decoder, const char *bytes, size_t count, bool is_last, struct buffer *out);

#endif
