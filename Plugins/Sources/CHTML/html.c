/* SPDX-License-Identifier: Apache-2.0 */
#include "CHTML.h"

#include <libxml/HTMLparser.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

typedef struct {
    const html_handler *handler;
    void *context;
} reading;

static void start(void *data, const xmlChar *name, const xmlChar **attributes) {
    const reading *reading = data;
    reading->handler->start(reading->context, (const char *)name, (const char *const *)attributes);
}

static void end(void *data, const xmlChar *name) {
    const reading *reading = data;
    reading->handler->end(reading->context, (const char *)name);
}

static void text(void *data, const xmlChar *bytes, int length) {
    const reading *reading = data;
    if (length > 0) reading->handler->text(reading->context, (const char *)bytes, (size_t)length);
}

void html_read(const char *html, size_t length, const html_handler *handler, void *context) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, xmlInitParser);
    if (length > INT_MAX) return;
    reading state = {handler, context};
    xmlSAXHandler sax;
    memset(&sax, 0, sizeof sax);
    sax.startElement = start;
    sax.endElement = end;
    sax.characters = text;
    sax.cdataBlock = text;
    sax.ignorableWhitespace = text;
    htmlParserCtxtPtr parser = htmlCreatePushParserCtxt(&sax, &state, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
    if (!parser) return;
    htmlParseChunk(parser, html, (int)length, 1);
    htmlFreeParserCtxt(parser);
}
