/* SPDX-License-Identifier: Apache-2.0 */
/* text.c: see text.h. All functions are pure. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void problem_set(struct problem *problem, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
}

bool work_step(struct work *work, uint64_t completed, uint64_t total) {
    return (work->steps++ & 255) != 0 || work->goes_on(work->context, completed, total);
}

struct slice slice_of(const char *text) { return (struct slice){text, text == NULL ? 0 : strlen(text)}; }

uint32_t text_character(const char *at, const char *end, size_t *length) {
    const unsigned char *bytes = (const unsigned char *)at;
    size_t left = (size_t)(end - at), count = bytes[0] < 0x80 ? 1 : bytes[0] < 0xC2 ? 0 : bytes[0] < 0xE0 ? 2
                                            : bytes[0] < 0xF0 ? 3 : bytes[0] < 0xF5 ? 4 : 0;
    uint32_t value = count == 1 ? bytes[0] : count == 0 ? 0 : bytes[0] & (0x7Fu >> count);
    *length = 1;
    if (count == 0 || count > left) return 0xFFFD;
    for (size_t i = 1; i < count; i++) {
        if ((bytes[i] & 0xC0) != 0x80) return 0xFFFD;
        value = value << 6 | (bytes[i] & 0x3F);
    }
    if ((count == 3 && value < 0x800) || (count == 4 && (value < 0x10000 || value > 0x10FFFF)) ||
        (value >= 0xD800 && value < 0xE000))
        return 0xFFFD;
    *length = count;
    /* Replaces permanent noncharacters, which D-Bus rejects. */
    return (value & 0xFFFE) == 0xFFFE || (value >= 0xFDD0 && value <= 0xFDEF) ? 0xFFFD : value;
}

size_t text_line(char *out, size_t capacity, struct slice text, char kept) {
    const char *at = text.bytes, *end = text.length == 0 ? text.bytes : text.bytes + text.length;
    size_t length = 0;
    bool space = false;
    while (at < end) {
        size_t bytes;
        uint32_t character = text_character(at, end, &bytes);
        const char *source = character == 0xFFFD ? "\xEF\xBF\xBD" : at;
        size_t needed = character == 0xFFFD ? 3 : bytes;
        bool is_kept = kept != 0 && character == (unsigned char)kept;
        at += bytes;
        if (!is_kept && (character <= 0x20 || (character >= 0x7F && character < 0xA0))) {
            space = true;
            continue;
        }
        bool wants_space = space && !is_kept && length > 0 && !(kept != 0 && out[length - 1] == kept);
        if (length + needed + (wants_space ? 1 : 0) >= capacity) break;
        if (wants_space) out[length++] = ' ';
        memcpy(out + length, source, needed);
        length += needed;
        space = false;
    }
    out[length] = 0;
    return length;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hexadecimal(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/* Returns true for schemes that only the browser can open, and for queries and data, which are not
 * URLs of pages. */
static bool is_of_the_browser(const char *scheme, size_t length) {
    static const char *const schemes[] = {"place",  "javascript", "data",   "vbscript",      "blob",
                                          "about",  "chrome",     "edge",   "brave",         "moz-extension",
                                          "resource", "chrome-extension", "view-source", "filesystem", "wyciwyg"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strlen(schemes[i]) == length && strncasecmp(schemes[i], scheme, length) == 0) return true;
    return false;
}

static const char digits[] = "0123456789ABCDEF";

bool text_url(char *out, size_t capacity, struct slice url) {
    const char *at = url.bytes, *end = url.length == 0 ? url.bytes : url.bytes + url.length;
    size_t scheme = 0, length = 0, authority = 0;
    while (at < end && (unsigned char)*at <= 0x20) at++;
    while (end > at && (unsigned char)end[-1] <= 0x20) end--;
    while (at + scheme < end && (is_letter(at[scheme]) || (scheme > 0 && (is_digit(at[scheme]) || strchr("+-.", at[scheme])))))
        if (at[scheme++] == 0) return false;
    if (scheme == 0 || at + scheme + 1 >= end || at[scheme] != ':' || is_of_the_browser(at, scheme)) return false;
    /* Brackets are literal only around a numeric host. */
    if (end - at > (ptrdiff_t)scheme + 3 && at[scheme + 1] == '/' && at[scheme + 2] == '/') {
        authority = scheme + 3;
        while (at + authority < end && strchr("/?#", at[authority]) == NULL) authority++;
    }
    bool fragment = false;
    for (const char *start = at; at < end; at++) {
        unsigned char c = (unsigned char)*at;
        bool in_host = (size_t)(at - start) < authority && (size_t)(at - start) >= scheme + 3;
        bool as_it_is = is_letter(*at) || is_digit(*at) || (c > 0x20 && c < 0x7F && strchr("-._~:/?@!$&'()*+,;=", c));
        if (c == '[' || c == ']') as_it_is = in_host;
        if (c == '%') as_it_is = end - at > 2 && is_hexadecimal(at[1]) && is_hexadecimal(at[2]);
        if (c == '#') {
            as_it_is = !fragment;
            fragment = true;
        }
        if (length + 4 > capacity) return false;
        if (as_it_is) {
            out[length++] = *at;
        } else {
            out[length++] = '%';
            out[length++] = digits[c >> 4];
            out[length++] = digits[c & 15];
        }
    }
    out[length] = 0;
    return true;
}

size_t text_readable_url(char *out, size_t capacity, const char *url) {
    static const char *const prefixes[] = {"https://", "http://"};
    for (size_t i = 0; i < 2; i++)
        if (strncasecmp(url, prefixes[i], strlen(prefixes[i])) == 0) {
            url += strlen(prefixes[i]);
            break;
        }
    size_t length = text_line(out, capacity, slice_of(url), 0);
    if (length > 1 && out[length - 1] == '/') out[--length] = 0;
    return length;
}

static int value_of(char c) { return is_digit(c) ? c - '0' : (c | 32) - 'a' + 10; }

/* Decodes percent-encoded bytes, and replaces control characters with spaces. Invalid sequences are
 * not changed. */
static void add_unescaped(struct buffer *out, const char *at, const char *end) {
    while (at < end) {
        char bytes[4];
        size_t count = 0, length = 0;
        for (const char *escape = at; count < 4 && end - escape > 2 && *escape == '%' && is_hexadecimal(escape[1]) &&
                                      is_hexadecimal(escape[2]); escape += 3)
            bytes[count++] = (char)(value_of(escape[1]) << 4 | value_of(escape[2]));
        uint32_t character = count == 0 ? 0 : text_character(bytes, bytes + count, &length);
        bool is_known = count > 0 && character != 0xFFFD;
        if (is_known && (character < 0x20 || (character >= 0x7F && character < 0xA0))) buffer_say(out, " ");
        else buffer_add(out, is_known ? bytes : at, is_known ? length : 1);
        at += is_known ? 3 * length : 1;
    }
}

/* Decodes a host label without "xn--" according to RFC 3492. Returns the number of characters; 0 if
 * it is not valid Punycode. */
static size_t punycode(const char *at, const char *end, uint32_t letters[64]) {
    uint32_t count = 0, letter = 128, place = 0, bias = 72;
    const char *basic = end;
    while (basic > at && *basic != '-') basic--;
    for (const char *c = at; c < basic; c++) letters[count++] = (unsigned char)*c;
    if (*basic == '-' && basic < end) basic++;
    for (at = basic; at < end; place++) {
        uint32_t before = place, weight = 1;
        for (uint32_t k = 36;; k += 36) {
            if (at == end || !(is_letter(*at) || is_digit(*at))) return 0;
            uint32_t digit = is_digit(*at) ? (uint32_t)(*at - '0') + 26 : (uint32_t)((*at | 32) - 'a');
            at++;
            /* A label has at most 63 bytes, so no valid label contains larger numbers. */
            if (digit > (0x7FFFFFFF - place) / weight) return 0;
            place += digit * weight;
            uint32_t threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
            if (digit < threshold) break;
            if (weight > 0x7FFFFFFF / (36 - threshold)) return 0;
            weight *= 36 - threshold;
        }
        uint32_t delta = before == 0 ? place / 700 : (place - before) / 2, step = 0;
        if (count >= 63) return 0;
        for (delta += delta / (count + 1); delta > 455; step += 36) delta /= 35;
        bias = step + 36 * delta / (delta + 38);
        letter += place / (count + 1);
        place %= count + 1;
        if (letter > 0x10FFFF || (letter >= 0xD800 && letter < 0xE000)) return 0;
        memmove(letters + place + 1, letters + place, (count - place) * sizeof *letters);
        letters[place] = letter;
        count++;
    }
    return count;
}

size_t text_legible_url(char *out, size_t capacity, const char *url) {
    struct buffer text = {NULL, 0, 0, false};
    const char *host = strstr(url, "://");
    host = host == NULL ? url : host + 3;
    const char *end = host + strcspn(host, "/?#");
    if (strncasecmp(url, "http", 4) != 0) buffer_add(&text, url, (size_t)(host - url));
    for (const char *at = host; at < end;) {
        const char *stop = at;
        uint32_t letters[64];
        while (stop < end && *stop != '.' && *stop != ':' && *stop != '@') stop++;
        bool is_encoded = stop - at > 4 && stop - at <= 63 && strncasecmp(at, "xn--", 4) == 0;
        size_t count = is_encoded ? punycode(at + 4, stop, letters) : 0;
        for (size_t i = 0; i < count; i++) text_add_character(&text, letters[i]);
        if (count == 0) add_unescaped(&text, at, stop);
        if (stop < end) buffer_add(&text, stop++, 1);
        at = stop;
    }
    add_unescaped(&text, end, url + strlen(url));
    size_t length = text_line(out, capacity, (struct slice){text.bytes, text.length}, 0);
    if (length > 1 && out[length - 1] == '/') out[--length] = 0;
    free(text.bytes);
    return length;
}

size_t text_encode(char *out, size_t capacity, struct slice text, const char *kept) {
    size_t length = 0;
    for (size_t i = 0; i < text.length && length + 4 <= capacity; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        if (is_letter((char)c) || is_digit((char)c) || (c != 0 && (c == '-' || c == '_' || strchr(kept, c) != NULL))) {
            out[length++] = (char)c;
        } else {
            out[length++] = '%';
            out[length++] = digits[c >> 4];
            out[length++] = digits[c & 15];
        }
    }
    out[length] = 0;
    return length;
}

uint64_t text_hash(uint64_t hash, struct slice text) {
    for (size_t i = 0; i < text.length; i++) hash = (hash ^ (unsigned char)text.bytes[i]) * UINT64_C(0x100000001b3);
    return (hash ^ 0xFF) * UINT64_C(0x100000001b3); /* so that "a","bc" and "ab","c" differ */
}

void buffer_add(struct buffer *buffer, const char *bytes, size_t length) {
    if (buffer->failed || length == 0) return;
    if (length > SIZE_MAX / 4 - buffer->length) {
        buffer->failed = true;
        return;
    }
    if (buffer->length + length >= buffer->capacity) {
        size_t capacity = (buffer->length + length + 1) * 2;
        char *grown = realloc(buffer->bytes, capacity);
        if (grown == NULL) {
            buffer->failed = true;
            return;
        }
        buffer->bytes = grown;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = 0;
}

void buffer_say(struct buffer *buffer, const char *text) { buffer_add(buffer, text, strlen(text)); }

void text_add_character(struct buffer *buffer, uint32_t character) {
    char bytes[4];
    size_t length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length; i-- > 1; character >>= 6) bytes[i] = (char)(0x80 | (character & 0x3F));
    bytes[0] = (char)(first[length] | character);
    buffer_add(buffer, bytes, length);
}

void buffer_escape(struct buffer *buffer, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) switch (text[i]) {
        case '&': buffer_say(buffer, "&amp;"); break;
        case '<': buffer_say(buffer, "&lt;"); break;
        case '>': buffer_say(buffer, "&gt;"); break;
        case '"': buffer_say(buffer, "&quot;"); break;
        case '\'': buffer_say(buffer, "&#39;"); break;
        default: buffer_add(buffer, text + i, 1);
        }
}
