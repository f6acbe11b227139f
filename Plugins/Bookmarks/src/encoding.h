/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.h: the text of an exported file as UTF-8, whichever encoding it is in. */
#ifndef ENCODING_H
#define ENCODING_H

#include "text.h"

#include <iconv.h>

/* How many bytes at the beginning of a file may say which encoding it is in. */
enum { ENCODING_HEAD = 4 << 10 };

/* A decoder of one file. Owned by who opened it. */
struct decoder {
    iconv_t converter;
    bool converts;         /* by `converter`; else bytes that are no UTF-8 are taken for windows-1252 */
    bool is_latin;         /* all bytes are windows-1252 */
    unsigned char unit;    /* bytes that are passed over where there is no character */
};

/* Chooses the encoding by the first bytes of a file: by its byte order mark, else by <meta charset> with any of the labels of
 * the WHATWG's Encoding Standard, else UTF-8. Returns the length of the mark, which is no text. */
size_t decoder_open(struct decoder *decoder, const char *head, size_t length);
void decoder_close(struct decoder *decoder);

/* Replaces `out` by the bytes as valid UTF-8 without NULs. What may go on in the next bytes is left over; returns its
 * length, which is less than `count` unless that is under 16. `is_last`: nothing follows. */
size_t decoder_run(struct decoder *decoder, const char *bytes, size_t count, bool is_last, struct buffer *out);

#endif
