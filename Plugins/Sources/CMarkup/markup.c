/* SPDX-License-Identifier: Apache-2.0 */
#include "CMarkup.h"

#include <libxml/HTMLparser.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The number of bytes that are parsed between two checks of the depth. */
enum { piece = 16 << 10 };

typedef struct {
    const markup_handler *handler;
    void *context;
    int depth;
    /* The parser, which is stopped if an XML document nests too deeply. */
    xmlParserCtxtPtr parser;
    int is_too_deep;
} reading;

static void start(void *data, const xmlChar *name, const xmlChar **attributes) {
    reading *reading = data;
    reading->depth++;
    reading->handler->start(reading->context, (const char *)name, (const char *const *)attributes);
}

static void end(void *data, const xmlChar *name) {
    reading *reading = data;
    reading->depth--;
    reading->handler->end(reading->context, (const char *)name);
}

static void text(void *data, const xmlChar *bytes, int length) {
    const reading *reading = data;
    if (length > 0) reading->handler->text(reading->context, (const char *)bytes, (size_t)length);
}

static void initialize(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, xmlInitParser);
}

markup_result html_read(const char *html, size_t length, const markup_handler *handler, void *context) {
    initialize();
    if (length > INT_MAX) return MARKUP_TOO_LARGE;
    reading state = {.handler = handler, .context = context};
    xmlSAXHandler sax;
    memset(&sax, 0, sizeof sax);
    sax.startElement = start;
    sax.endElement = end;
    sax.characters = text;
    sax.cdataBlock = text;
    sax.ignorableWhitespace = text;
    htmlParserCtxtPtr parser = htmlCreatePushParserCtxt(&sax, &state, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
    if (!parser) return MARKUP_TOO_LARGE;
    /* The caller has already decoded the page, so the encoding that it declares is ignored. */
    htmlCtxtUseOptions(parser, HTML_PARSE_IGNORE_ENC | HTML_PARSE_NONET | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING);
    markup_result result = MARKUP_READ;
    for (size_t offset = 0; offset < length; offset += piece) {
        /* An end tag is compared with each open element. */
        if (state.depth > MARKUP_MAXIMUM_HTML_DEPTH) {
            result = MARKUP_TOO_DEEP;
            break;
        }
        size_t rest = length - offset;
        htmlParseChunk(parser, html + offset, (int)(rest < piece ? rest : piece), 0);
    }
    htmlParseChunk(parser, NULL, 0, 1);
    htmlFreeParserCtxt(parser);
    return result;
}

/* The maximum number of attributes of one element that are passed on. */
enum { maximum_attributes = 64 };

static char *copy(char *to, const xmlChar *from, size_t length) {
    memcpy(to, from, length);
    to[length] = 0;
    return to + length + 1;
}

static void start_xml(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces,
                      const xmlChar **declared, int count, int defaulted, const xmlChar **attributes) {
    (void)prefix, (void)uri, (void)namespaces, (void)declared, (void)defaulted;
    reading *reading = data;
    if (++reading->depth > MARKUP_MAXIMUM_XML_DEPTH) {
        reading->is_too_deep = 1;
        xmlStopParser(reading->parser);
        return;
    }
    const char *pairs[2 * maximum_attributes + 1] = {NULL};
    if (count > maximum_attributes) count = maximum_attributes;
    size_t size = 0;
    for (int i = 0; i < count; i++) {
        const xmlChar **one = attributes + 5 * i;
        size += (one[1] ? strlen((const char *)one[1]) : 0) + strlen((const char *)one[0]) + 3 + (size_t)(one[4] - one[3]);
    }
    char *bytes = size ? malloc(size) : NULL;
    if (bytes) {
        char *next = bytes;
        for (int i = 0; i < count; i++) {
            const xmlChar **one = attributes + 5 * i;
            pairs[2 * i] = next;
            if (one[1]) {
                next = copy(next, one[1], strlen((const char *)one[1]));
                next[-1] = ':';
            }
            next = copy(next, one[0], strlen((const char *)one[0]));
            pairs[2 * i + 1] = next;
            next = copy(next, one[3], (size_t)(one[4] - one[3]));
        }
    }
    reading->handler->start(reading->context, (const char *)name, bytes ? pairs : NULL);
    free(bytes);
}

static void end_xml(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
    (void)prefix, (void)uri;
    end(data, name);
}

markup_result xml_read(const char *xml, size_t length, const markup_handler *handler, void *context) {
    initialize();
    if (length > INT_MAX) return MARKUP_TOO_LARGE;
    reading state = {.handler = handler, .context = context};
    /* Without functions for entity declarations, the parser knows only XML's predefined
     * entities. */
    xmlSAXHandler sax;
    memset(&sax, 0, sizeof sax);
    sax.initialized = XML_SAX2_MAGIC;
    sax.startElementNs = start_xml;
    sax.endElementNs = end_xml;
    sax.characters = text;
    sax.cdataBlock = text;
    sax.ignorableWhitespace = text;
    xmlParserCtxtPtr parser = xmlCreatePushParserCtxt(&sax, &state, NULL, 0, NULL);
    if (!parser) return MARKUP_TOO_LARGE;
    state.parser = parser;
    xmlCtxtUseOptions(parser, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    for (size_t offset = 0; offset < length && !parser->disableSAX; offset += piece) {
        size_t rest = length - offset;
        xmlParseChunk(parser, xml + offset, (int)(rest < piece ? rest : piece), 0);
    }
    xmlParseChunk(parser, NULL, 0, 1);
    markup_result result = state.is_too_deep ? MARKUP_TOO_DEEP : parser->wellFormed ? MARKUP_READ : MARKUP_BROKEN;
    xmlFreeParserCtxt(parser);
    return result;
}
