/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_BOUNDS_H
#define SEARCHLIGHT_BOUNDS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The limits for GMime's input. GMime itself has no limits, and creates several objects for each
 * part, header line and parameter. */

enum { MAXIMUM_HEADER = 256 << 10 }; /* the message's own header, in bytes */

/* Returns the end of a line, after its line break. */
const unsigned char *bounds_line_end(const unsigned char *line, const unsigned char *end);

/* Returns true for an empty line, which ends a header. */
bool bounds_is_blank(const unsigned char *line, const unsigned char *next);

/* Returns the value in a line that begins the field `name`; NULL for other lines. */
const unsigned char *bounds_field_value(const unsigned char *line, const unsigned char *next, const char *name);

/* Returns the length of a message up to the limits. If the header is too long, GMime does not
 * receive the bytes from `cut` to `header_end`. */
size_t bounds_length(const unsigned char *bytes, size_t length, size_t *cut, size_t *header_end, uint32_t *problems);

#endif
