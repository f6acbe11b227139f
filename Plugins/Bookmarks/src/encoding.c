/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.c: see encoding.h. iconv converts the text. This file maps the labels used in web pages
 * to iconv's encodings. */
#include "encoding.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* The labels in https://encoding.spec.whatwg.org/#names-and-labels, each list preceded by the iconv
 * name of its encoding. "" is windows-1252, "8" is UTF-8. "x-user-defined" is missing because it
 * has no characters of its own, and hz-gb-2312 because iconv does not support it. */
static const char *const encodings[][2] = {
    {"8", " unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8"
          /* A file in which this label is readable is not UTF-16. */
          " unicodefffe utf-16be csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le "},
    {"", " ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1"
         " iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252 "},
    {"IBM866", " 866 cp866 csibm866 ibm866 "},
    {"ISO-8859-2", " csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2 "},
    {"ISO-8859-3", " csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3 "},
    {"ISO-8859-4", " csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4 "},
    {"ISO-8859-5", " csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 "},
    {"ISO-8859-6", " arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i"
                   " iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 "},
    {"ISO-8859-7", " csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7"
                   " iso_8859-7:1987 sun_eu_greek "},
    {"ISO-8859-8", " csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8"
                   " iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical "},
    {"ISO-8859-10", " csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6 "},
    {"ISO-8859-13", " iso-8859-13 iso8859-13 iso885913 "},
    {"ISO-8859-14", " iso-8859-14 iso8859-14 iso885914 "},
    {"ISO-8859-15", " csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 "},
    {"ISO-8859-16", " iso-8859-16 "},
    {"KOI8-R", " cskoi8r koi koi8 koi8-r koi8_r "},
    {"KOI8-U", " koi8-ru koi8-u "},
    {"MACINTOSH", " csmacintosh mac macintosh x-mac-roman "},
    {"MAC-UK", " x-mac-cyrillic x-mac-ukrainian "},
    {"CP874", " dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874 "},
    {"CP1250", " cp1250 windows-1250 x-cp1250 "},
    {"CP1251", " cp1251 windows-1251 x-cp1251 "},
    {"CP1253", " cp1253 windows-1253 x-cp1253 "},
    {"CP1254", " cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5"
               " windows-1254 x-cp1254 "},
    {"CP1255", " cp1255 windows-1255 x-cp1255 "},
    {"CP1256", " cp1256 windows-1256 x-cp1256 "},
    {"CP1257", " cp1257 windows-1257 x-cp1257 "},
    {"CP1258", " cp1258 windows-1258 x-cp1258 "},
    {"GB18030", " chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030 "},
    {"BIG5-HKSCS", " big5 big5-hkscs cn-big5 csbig5 x-x-big5 "},
    {"EUC-JP", " cseucpkdfmtjapanese euc-jp x-euc-jp "},
    {"ISO-2022-JP", " csiso2022jp iso-2022-jp "},
    {"CP932", " csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis "},
    {"UHC", " cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 "},
    {"ISO-2022-KR", " csiso2022kr iso-2022-kr "},
    {"ISO-2022-CN", " iso-2022-cn "},
    {"ISO-2022-CN-EXT", " iso-2022-cn-ext "},
};

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

/* Returns the iconv name for a label; NULL for an unknown label. */
static const char *named(const char *label, size_t length) {
    char word[40] = " ";
    if (length == 0 || length + 3 > sizeof word) return NULL;
    for (size_t i = 0; i < length; i++) word[i + 1] = label[i] >= 'A' && label[i] <= 'Z' ? (char)(label[i] + 32) : label[i];
    word[length + 1] = ' ';
    word[length + 2] = 0;
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
        if (strstr(encodings[i][1], word) != NULL) return encodings[i][0];
    return NULL;
}

/* Returns the encoding that a <meta …> tag declares, as `charset="…"` or in its `content`. */
static const char *declared(const char *at, const char *end) {
    for (; at + 8 < end; at++) {
        if (strncasecmp(at, "charset", 7) != 0) continue;
        const char *value = at + 7;
        while (value < end && is_space(*value)) value++;
        if (value == end || *value != '=') continue;
        for (value++; value < end && (is_space(*value) || *value == '"' || *value == '\'');) value++;
        const char *stop = value;
        while (stop < end && !is_space(*stop) && strchr("\"';/", *stop) == NULL) stop++;
        const char *name = named(value, (size_t)(stop - value));
        if (name != NULL) return name;
    }
    return NULL;
}

/* Returns the encoding of the first <meta> tag that declares one; NULL if there is none. Skips
 * comments. */
static const char *declared_in(const char *at, const char *end) {
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        if (end - at >= 7 && memcmp(at, "<!--", 4) == 0) {
            for (at += 2; at + 3 <= end && memcmp(at, "-->", 3) != 0;) at++;
        } else if (end - at > 6 && strncasecmp(at, "<meta", 5) == 0 && (is_space(at[5]) || at[5] == '/')) {
            const char *stop = memchr(at, '>', (size_t)(end - at));
            const char *name = declared(at, stop == NULL ? end : stop);
            if (name != NULL) return name;
        }
        at++;
    }
    return NULL;
}

size_t decoder_open(struct decoder *decoder, const char *head, size_t length) {
    const char *name = NULL;
    size_t mark = 0;
    *decoder = (struct decoder){.unit = 1};
    if (length >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0) return 3;
    if (length >= 2 && (memcmp(head, "\xFF\xFE", 2) == 0 || memcmp(head, "\xFE\xFF", 2) == 0)) {
        name = *head == '\xFF' ? "UTF-16LE" : "UTF-16BE";
        mark = 2;
        decoder->unit = 2;
    } else {
        name = declared_in(head, head + (length < ENCODING_HEAD ? length : ENCODING_HEAD));
    }
    decoder->is_latin = name != NULL && *name == 0;
    if (name == NULL || *name == 0 || *name == '8') return mark;
    decoder->converter = iconv_open("UTF-8", name);
    /* If the converter's file is missing, the ASCII bytes are still readable. */
    decoder->converts = decoder->converter != (iconv_t)-1;
    return mark;
}

void decoder_close(struct decoder *decoder) {
    if (decoder->converts) iconv_close(decoder->converter);
    decoder->converts = false;
}

/* Adds the windows-1252 character for a byte that is not UTF-8. */
static void add_latin(struct buffer *out, unsigned char byte) {
    /* The characters at 0x80 to 0x9F; 0 for none. */
    static const uint16_t letters[32] = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
                                         0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
                                         0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};
    uint32_t letter = byte >= 0x80 && byte < 0xA0 ? letters[byte - 0x80] : byte;
    if (letter == 0) buffer_say(out, " ");
    else text_add_character(out, letter);
}

/* Converts bytes that are mostly UTF-8, or entirely windows-1252. */
static size_t repair(const char *bytes, size_t count, bool is_latin, bool is_last, struct buffer *out) {
    const char *at = bytes, *end = bytes + count;
    while (at < end) {
        size_t length = 0;
        const char *plain = at;
        while (plain < end && (signed char)*plain > 0) plain++;
        buffer_add(out, at, (size_t)(plain - at));
        if ((at = plain) == end) break;
        unsigned char byte = (unsigned char)*at;
        if (!is_latin && !is_last && byte >= 0xC2 && end - at < 4) return (size_t)(end - at);
        bool is_valid = !is_latin && byte != 0 && (text_character(at, end, &length) != 0xFFFD || length > 1);
        if (is_valid) buffer_add(out, at, length);
        else add_latin(out, byte);
        at += is_valid ? length : 1;
    }
    return 0;
}

size_t decoder_run(struct decoder *decoder, const char *bytes, size_t count, bool is_last, struct buffer *out) {
    out->length = 0;
    if (!decoder->converts) return repair(bytes, count, decoder->is_latin, is_last, out);
    char *at = (char *)bytes, room[4096];
    size_t left = count;
    while (left > 0) {
        char *to = room;
        size_t free_room = sizeof room;
        size_t result = iconv(decoder->converter, &at, &left, &to, &free_room);
        int code = result == (size_t)-1 ? errno : 0;
        for (char *c = room; c < to; c++)
            if (*c == 0) *c = ' ';
        buffer_add(out, room, (size_t)(to - room));
        if (code == E2BIG) continue;
        /* An incomplete character, which the next bytes complete. */
        if (code == EINVAL && !is_last && left < 16) return left;
        if (code == EINVAL || code == EILSEQ) {
            size_t skipped = left < decoder->unit ? left : decoder->unit;
            buffer_say(out, "\xEF\xBF\xBD");
            at += skipped, left -= skipped;
        } else if (code != 0) {
            out->failed = true;
            return 0;
        }
    }
    return 0;
}
