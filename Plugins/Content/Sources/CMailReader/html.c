/* SPDX-License-Identifier: Apache-2.0 */
#include "html.h"

#include <ctype.h>
#include <libxml/HTMLparser.h>
#include <pthread.h>
#include <string.h>

enum {
    CHUNK = 16 << 10,
    MAXIMUM_SOURCE = 2 << 20,
    /* libxml2 compares an end tag with every open element. */
    MAXIMUM_DEPTH = 256,
    /* libxml2 compares an attribute with every other attribute in its tag. Longer tags, such as
     * those with embedded pictures, are dropped. */
    MAXIMUM_TAG = 2 << 10,
};

typedef struct {
    GString *text;
    size_t start, limit;
    int hidden, preformatted, depth;
    bool is_full;
    htmlParserCtxtPtr parser;
} reading;

/* Compares a name with an entry of a sorted list. */
static int compare(const void *name, const void *entry) { return strcmp(name, *(const char *const *)entry); }

static bool is_hidden(const char *name) {
    static const char *const names[] = {"head", "iframe", "math", "noscript", "object", "script", "style", "svg",
                                        "template", "title"};
    return bsearch(name, names, G_N_ELEMENTS(names), sizeof *names, compare) != NULL;
}

static bool is_block(const char *name) {
    static const char *const names[] = {
        "address", "article", "aside",  "blockquote", "body", "br",   "caption", "center", "dd",    "div",
        "dl",      "dt",      "footer", "form",       "h1",   "h2",   "h3",      "h4",     "h5",    "h6",
        "header",  "hr",      "html",   "li",         "main", "nav",  "ol",      "p",      "pre",   "section",
        "table",   "tbody",   "tfoot",  "thead",      "tr",   "ul"};
    return bsearch(name, names, G_N_ELEMENTS(names), sizeof *names, compare) != NULL;
}

static bool is_void(const char *name) {
    static const char *const names[] = {"area", "base", "basefont", "br",   "col",  "embed", "frame", "hr",
                                        "img",  "input", "link",    "meta", "param"};
    return bsearch(name, names, G_N_ELEMENTS(names), sizeof *names, compare) != NULL;
}

static void append(reading *reading, const char *bytes, size_t length) {
    GString *text = reading->text;
    for (size_t place = 0; place < length && !reading->is_full; place++) {
        unsigned char byte = (unsigned char)bytes[place];
        if (byte <= ' ' && reading->preformatted == 0) {
            if (text->len > reading->start && (unsigned char)text->str[text->len - 1] > ' ')
                g_string_append_c(text, ' ');
            continue;
        }
        g_string_append_c(text, (char)byte);
        if (text->len - reading->start > reading->limit) reading->is_full = true;
    }
    if (reading->is_full) xmlStopParser(reading->parser);
}

static void break_line(reading *reading) {
    GString *text = reading->text;
    while (text->len > reading->start && text->str[text->len - 1] == ' ') g_string_truncate(text, text->len - 1);
    if (text->len > reading->start && text->str[text->len - 1] != '\n') g_string_append_c(text, '\n');
}

static void start_element(void *data, const xmlChar *element, const xmlChar **attributes) {
    reading *reading = data;
    const char *name = (const char *)element;
    if (++reading->depth > MAXIMUM_DEPTH) {
        reading->is_full = true;
        xmlStopParser(reading->parser);
        return;
    }
    if (is_hidden(name)) reading->hidden++;
    if (is_block(name)) break_line(reading);
    if (strcmp(name, "pre") == 0) reading->preformatted++;
    if (reading->hidden > 0 || attributes == NULL || strcmp(name, "img") != 0) return;
    for (; attributes[0] != NULL; attributes += 2) {
        if (strcmp((const char *)attributes[0], "alt") != 0 || attributes[1] == NULL) continue;
        append(reading, (const char *)attributes[1], strlen((const char *)attributes[1]));
        append(reading, " ", 1);
    }
}

static void end_element(void *data, const xmlChar *element) {
    reading *reading = data;
    const char *name = (const char *)element;
    if (reading->depth > 0) reading->depth--;
    if (is_hidden(name) && reading->hidden > 0) reading->hidden--;
    if (strcmp(name, "td") == 0 || strcmp(name, "th") == 0) append(reading, " ", 1);
    if (is_block(name) && !is_void(name)) break_line(reading);
    if (strcmp(name, "pre") == 0 && reading->preformatted > 0) reading->preformatted--;
}

static void characters(void *data, const xmlChar *bytes, int length) {
    reading *reading = data;
    if (reading->hidden == 0 && length > 0) append(reading, (const char *)bytes, (size_t)length);
}

/* Returns the source without comments and without tags that are too long. */
static GString *without_long_tags(const char *html, size_t length) {
    GString *result = g_string_sized_new(length + 1);
    const char *end = html + length;
    for (const char *place = html; place < end;) {
        const char *tag = memchr(place, '<', (size_t)(end - place));
        if (tag == NULL || end - tag < 2) {
            g_string_append_len(result, place, end - place);
            break;
        }
        g_string_append_len(result, place, tag - place);
        bool is_comment = end - tag >= 4 && memcmp(tag, "<!--", 4) == 0;
        if (!is_comment && !g_ascii_isalpha(tag[1]) && tag[1] != '/') {
            g_string_append_c(result, '<');
            place = tag + 1;
            continue;
        }
        const char *close = is_comment ? g_strstr_len(tag + 4, end - tag - 4, "-->")
                                       : memchr(tag, '>', (size_t)(end - tag));
        /* An unterminated tag is not text. */
        if (close == NULL) break;
        size_t size = (size_t)(close + (is_comment ? 3 : 1) - tag);
        if (is_comment || size > MAXIMUM_TAG) g_string_append_c(result, ' ');
        else g_string_append_len(result, tag, (gssize)size);
        place = tag + size;
    }
    return result;
}

void html_append_text(GString *text, const char *html, size_t length, size_t limit, uint64_t *left_out) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, xmlInitParser);
    xmlSAXHandler sax;
    memset(&sax, 0, sizeof sax);
    sax.startElement = start_element;
    sax.endElement = end_element;
    sax.characters = characters;
    sax.cdataBlock = characters;
    sax.ignorableWhitespace = characters;
    if (length > MAXIMUM_SOURCE) {
        *left_out += length - MAXIMUM_SOURCE;
        length = MAXIMUM_SOURCE;
    }
    GString *source = without_long_tags(html, length);
    reading reading = {.text = text, .start = text->len, .limit = limit};
    /* Text before the first element needs a parent. */
    static const char opening[] = "<html><body>";
    reading.parser = htmlCreatePushParserCtxt(&sax, &reading, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
    if (reading.parser == NULL) {
        g_string_free(source, TRUE);
        return;
    }
    htmlParseChunk(reading.parser, opening, sizeof opening - 1, 0);
    size_t place = 0;
    while (place < source->len && !reading.is_full) {
        size_t count = source->len - place < CHUNK ? source->len - place : CHUNK;
        htmlParseChunk(reading.parser, source->str + place, (int)count, 0);
        place += count;
    }
    if (!reading.is_full) htmlParseChunk(reading.parser, "", 0, 1);
    htmlFreeParserCtxt(reading.parser);
    *left_out += source->len - place;
    g_string_free(source, TRUE);
    while (text->len > reading.start && (unsigned char)text->str[text->len - 1] <= ' ')
        g_string_truncate(text, text->len - 1);
}

bool html_declared_charset(const char *html, size_t length, char *name, size_t capacity) {
    if (length == 0) return false;
    char *head = g_ascii_strdown(html, (gssize)(length < 2048 ? length : 2048));
    const char *place = g_strstr_len(head, -1, "charset=");
    size_t count = 0;
    if (place != NULL) {
        place += strlen("charset=");
        while (*place == '"' || *place == '\'' || *place == ' ') place++;
        while (count + 1 < capacity && *place != 0 &&
               (isalnum((unsigned char)*place) || strchr("-_.:", *place) != NULL))
            name[count++] = *place++;
    }
    name[count] = 0;
    g_free(head);
    return count > 0;
}
