/* SPDX-License-Identifier: Apache-2.0 */
#include "bounds.h"

#include <glib.h>
#include <string.h>

#include "CMailReader.h"

enum {
    MAXIMUM_HEADER_LINES = 50000,   /* lines in all parts that look like header lines */
    MAXIMUM_HEADER_BYTES = 2 << 20, /* the size of these lines, in bytes */
    MAXIMUM_GROUPS = 2000,          /* colons in one address field: GMime parses groups recursively */
    MAXIMUM_PARTS = 5000,           /* lines that may be boundaries */
};

const unsigned char *bounds_line_end(const unsigned char *line, const unsigned char *end) {
    const unsigned char *newline = memchr(line, '\n', (size_t)(end - line));
    return newline != NULL ? newline + 1 : end;
}

bool bounds_is_blank(const unsigned char *line, const unsigned char *next) {
    return next - line == 1 || (next - line == 2 && line[0] == '\r');
}

/* Returns true if a line may begin a header field, according to GMime's rule: blanks may precede
 * the colon, and a name may have any length. */
static bool is_header_like(const unsigned char *line, const unsigned char *next) {
    bool has_blank = false;
    for (const unsigned char *byte = line; byte < next; byte++) {
        if (*byte == ':') return byte > line;
        if (*byte == ' ' || *byte == '\t') has_blank = true;
        else if (has_blank || *byte < ' ' || *byte == 127) return false;
    }
    return false;
}

const unsigned char *bounds_field_value(const unsigned char *line, const unsigned char *next, const char *name) {
    size_t length = strlen(name);
    if ((size_t)(next - line) <= length || g_ascii_strncasecmp((const char *)line, name, length) != 0) return NULL;
    const unsigned char *place = line + length;
    while (place < next && (*place == ' ' || *place == '\t')) place++;
    return place < next && *place == ':' ? place + 1 : NULL;
}

/* Returns true if a line begins a field whose addresses GMime parses. */
static bool has_addresses(const unsigned char *line, const unsigned char *next) {
    static const char *const names[] = {"bcc", "cc", "from", "reply-to", "sender", "to"};
    for (size_t place = 0; place < G_N_ELEMENTS(names); place++)
        if (bounds_field_value(line, next, names[place]) != NULL) return true;
    return false;
}

/* The number of colons in the current address field. Each colon may begin a nested group. */
typedef struct {
    size_t colons;
    bool is_field;
} groups;

static void count_groups(groups *groups, const unsigned char *line, const unsigned char *next) {
    if (line[0] != ' ' && line[0] != '\t') {
        groups->colons = 0;
        groups->is_field = has_addresses(line, next);
    }
    if (!groups->is_field) return;
    for (const unsigned char *byte = line; byte < next; byte++) groups->colons += *byte == ':';
}

size_t bounds_length(const unsigned char *bytes, size_t length, size_t *cut, size_t *header_end, uint32_t *problems) {
    const unsigned char *end = bytes + length;
    size_t parts = 0, lines = 0, header_bytes = 0;
    bool is_header = true, is_cut = false, continues = false;
    groups groups = {0};
    *cut = *header_end = 0;
    for (const unsigned char *line = bytes, *next; line < end; line = next) {
        next = bounds_line_end(line, end);
        count_groups(&groups, line, next);
        if (is_header) {
            if (bounds_is_blank(line, next)) {
                is_header = false;
                if (is_cut) *header_end = (size_t)(line - bytes);
            } else if (!is_cut &&
                       ((size_t)(next - bytes) > MAXIMUM_HEADER || groups.colons > MAXIMUM_GROUPS)) {
                is_cut = true;
                *cut = (size_t)(line - bytes);
                *problems |= MAIL_TOO_MUCH_HEADER;
            }
            continue;
        }
        if (line[0] == '-' && next - line > 2 && line[1] == '-') {
            continues = false;
            if (++parts > MAXIMUM_PARTS) {
                *problems |= MAIL_TOO_MANY_PARTS;
                end = line;
                break;
            }
            continue;
        }
        continues = (continues && (line[0] == ' ' || line[0] == '\t')) || is_header_like(line, next);
        if (!continues) continue;
        header_bytes += (size_t)(next - line);
        if (++lines > MAXIMUM_HEADER_LINES || header_bytes > MAXIMUM_HEADER_BYTES ||
            groups.colons > MAXIMUM_GROUPS) {
            *problems |= MAIL_TOO_MUCH_HEADER;
            end = line;
            break;
        }
    }
    /* The header is too long and not terminated, so the message has no body. */
    if (is_header && is_cut) {
        *header_end = 0;
        return *cut;
    }
    return (size_t)(end - bytes);
}
