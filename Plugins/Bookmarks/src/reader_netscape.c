/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_netscape.c: reads a Netscape bookmarks file, which all browsers export: HTML whose <DT>
 * and <p> are never closed. libxml2 reads it as a stream of tags, so that memory use does not
 * depend on size or nesting. Only these tags matter: <H3> names the folder of the next <DL>, <A> is
 * a bookmark, and <DD> describes the preceding bookmark.
 */
#include "encoding.h"
#include "snapshot.h"
#include "text.h"

#include <errno.h>
#include <libxml/HTMLparser.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_FILE (INT64_C(512) << 20)
enum { CHUNK = 64 << 10, MAX_DEPTH = 100000 };

/* A bookmark whose parts are being read. The state owns it. */
struct pending {
    bool is_open; /* its <A> was read, but the bookmark has not been delivered */
    char *url, *tags, *keyword;
    double added, modified, visited;
};

struct state {
    bookmark_taker take;
    void *context;
    struct work *work;
    htmlParserCtxtPtr parser; /* so that it can be stopped */
    struct pending pending;
    struct buffer title, description, name; /* the bookmark's title and text; a folder's name */
    struct buffer *text;                    /* the buffer that receives characters; NULL: none */
    /* The open folders: their path, and the position of each in the path. */
    char folder[MAX_FOLDER];
    size_t folder_length;
    uint16_t starts[256]; /* deeper folders are ignored */
    unsigned depth;
    bool is_cancelled;
    bool has_list, has_failed;
};

/* Returns seconds. Also accepts milliseconds and microseconds. */
static double date(const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || !(value > 0)) return 0;
    return value > 1e14 ? value / 1e6 : value > 1e11 ? value / 1e3 : value;
}

static void hand_over(struct state *state) {
    struct pending *pending = &state->pending;
    if (pending->is_open && !state->is_cancelled) {
        struct bookmark bookmark = {
            .url = slice_of(pending->url), .tags = slice_of(pending->tags), .keyword = slice_of(pending->keyword),
            .title = {state->title.bytes, state->title.length},
            .description = {state->description.bytes, state->description.length},
            .folder = {state->folder, state->folder_length},
            .added = pending->added, .modified = pending->modified, .visited = pending->visited, .visits = -1};
        if (!state->take(state->context, &bookmark)) {
            state->is_cancelled = true;
            xmlStopParser(state->parser);
        }
    }
    free(pending->url), free(pending->tags), free(pending->keyword);
    memset(pending, 0, sizeof *pending);
    state->title.length = state->description.length = 0;
}

/* Replaces an owned text. If an attribute is repeated, the last one is used. */
static void keep(char **place, const char *value, size_t maximum) {
    free(*place);
    *place = strndup(value, maximum);
}

static void begin_bookmark(struct state *state, const xmlChar **attributes) {
    struct pending *pending = &state->pending;
    for (size_t i = 0; attributes != NULL && attributes[i] != NULL; i += 2) {
        const char *name = (const char *)attributes[i], *value = (const char *)attributes[i + 1];
        if (value == NULL) continue;
        if (strcasecmp(name, "href") == 0) keep(&pending->url, value, MAX_URL * 3);
        else if (strcasecmp(name, "tags") == 0) keep(&pending->tags, value, MAX_TAGS);
        else if (strcasecmp(name, "shortcuturl") == 0) keep(&pending->keyword, value, MAX_KEYWORD);
        else if (strcasecmp(name, "add_date") == 0) pending->added = date(value);
        else if (strcasecmp(name, "last_modified") == 0) pending->modified = date(value);
        else if (strcasecmp(name, "last_visit") == 0) pending->visited = date(value);
    }
    for (char *at = pending->tags; at != NULL && *at != 0; at++)
        if (*at == ',') *at = '\n';
    pending->is_open = pending->url != NULL;
    state->text = &state->title;
}

static void enter_folder(struct state *state) {
    if (state->depth < sizeof state->starts / sizeof state->starts[0])
        state->starts[state->depth] = (uint16_t)state->folder_length;
    state->depth++;
    if (state->name.length > 0 && state->folder_length + 2 + 200 < sizeof state->folder) {
        char line[200];
        size_t length = text_line(line, sizeof line, (struct slice){state->name.bytes, state->name.length}, 0);
        if (state->folder_length > 0) state->folder[state->folder_length++] = '\n';
        memcpy(state->folder + state->folder_length, line, length);
        state->folder_length += length;
    }
    state->name.length = 0;
    state->has_list = true;
}

static void leave_folder(struct state *state) {
    if (state->depth == 0) return;
    state->depth--;
    if (state->depth < sizeof state->starts / sizeof state->starts[0]) state->folder_length = state->starts[state->depth];
}

static void start_element(void *context, const xmlChar *name, const xmlChar **attributes) {
    struct state *state = context;
    const char *tag = (const char *)name;
    if (strcasecmp(tag, "a") == 0) {
        hand_over(state);
        begin_bookmark(state, attributes);
    } else if (strcasecmp(tag, "h3") == 0) {
        hand_over(state);
        state->name.length = 0;
        state->text = &state->name;
    } else if (strcasecmp(tag, "dl") == 0) {
        hand_over(state);
        enter_folder(state);
        state->text = NULL;
        if (state->depth > MAX_DEPTH) {
            state->has_failed = true;
            xmlStopParser(state->parser);
        }
    } else if (strcasecmp(tag, "dd") == 0) {
        state->text = &state->description;
    } else if (strcasecmp(tag, "dt") == 0 || strcasecmp(tag, "hr") == 0) {
        hand_over(state);
        state->text = NULL;
    }
}

static void end_element(void *context, const xmlChar *name) {
    struct state *state = context;
    const char *tag = (const char *)name;
    if (strcasecmp(tag, "dl") == 0) {
        hand_over(state);
        leave_folder(state);
        state->text = NULL;
    } else if (strcasecmp(tag, "a") == 0 || strcasecmp(tag, "h3") == 0) {
        state->text = NULL;
    }
}

static void characters(void *context, const xmlChar *text, int length) {
    struct state *state = context;
    /* Longer text would be cut anyway. */
    if (state->text != NULL && length > 0 && state->text->length < MAX_DESCRIPTION)
        buffer_add(state->text, (const char *)text, (size_t)length);
}

/* Ignores errors, because malformed HTML is the usual case. */
static void ignore_error(void *context, const char *format, ...) { (void)context, (void)format; }

/* Returns true if a text contains the signature of a bookmarks file. */
static bool has_mark(const char *bytes, size_t length) {
    static const char mark[] = "NETSCAPE-Bookmark-file";
    for (size_t i = 0; i + sizeof mark - 1 <= length; i++)
        if (strncasecmp(bytes + i, mark, sizeof mark - 1) == 0) return true;
    return false;
}

bool netscape_recognizes(const char *head, size_t length) {
    struct decoder decoder;
    struct buffer text = {NULL, 0, 0, false};
    if (length > ENCODING_HEAD) length = ENCODING_HEAD;
    size_t mark = decoder_open(&decoder, head, length);
    decoder_run(&decoder, head + mark, length - mark, true, &text);
    bool has = has_mark(text.bytes, text.length);
    free(text.bytes);
    decoder_close(&decoder);
    return has;
}

static enum reading parse(int file, const char *path, int64_t size, struct state *state, struct problem *problem) {
    char *chunk = malloc(CHUNK);
    ssize_t count = chunk == NULL ? -1 : pread(file, chunk, CHUNK, 0);
    enum reading reading = READING_DONE;
    struct decoder decoder = {.converts = false};
    size_t mark = 0;
    if (count < 0) {
        reading = READING_LATER;
        problem_set(problem, "%s cannot be read: %s", path, chunk == NULL ? "out of memory" : strerror(errno));
    } else if (!netscape_recognizes(chunk, (size_t)count)) {
        reading = READING_FOREIGN;
        problem_set(problem, "%s is not a bookmarks file", path);
    } else {
        mark = decoder_open(&decoder, chunk, (size_t)count);
    }
    int64_t done = 0;
    struct buffer text = {NULL, 0, 0, false};
    while (reading == READING_DONE) {
        size_t left = decoder_run(&decoder, chunk + mark, (size_t)count - mark, count < CHUNK, &text);
        mark = 0;
        /* Ignores errors in the HTML, except for the two below. */
        int error = htmlParseChunk(state->parser, text.bytes == NULL ? "" : text.bytes, (int)text.length, count == 0);
        if (state->is_cancelled) reading = READING_CANCELLED;
        else if (error == XML_ERR_NO_MEMORY || text.failed || state->title.failed || state->description.failed ||
                 state->name.failed)
            reading = READING_LATER, problem_set(problem, "%s cannot be read: out of memory", path);
        else if (state->has_failed || error == XML_ERR_INTERNAL_ERROR || state->parser->disableSAX)
            reading = READING_USELESS, problem_set(problem, "%s is not a browser's bookmarks file: its tags are not closed", path);
        if (count == 0 || reading != READING_DONE) break;
        done += count - (ssize_t)left;
        if (!state->work->goes_on(state->work->context, (uint64_t)done >> 10, (uint64_t)size >> 10)) reading = READING_CANCELLED;
        count = done > MAX_FILE ? 0 : pread(file, chunk, CHUNK, done);
        if (count < 0) {
            reading = READING_LATER;
            problem_set(problem, "%s cannot be read: %s", path, strerror(errno));
        }
    }
    if (reading == READING_DONE) {
        hand_over(state);
        if (state->is_cancelled) reading = READING_CANCELLED;
    }
    decoder_close(&decoder);
    free(text.bytes), free(chunk);
    return reading;
}

enum reading netscape_read(const char *path, struct work *work, bookmark_taker take, void *context,
                           struct problem *problem) {
    int64_t size;
    enum reading reading;
    int file = snapshot_open_file(path, MAX_FILE, &size, &reading, problem);
    if (file < 0) return reading;
    struct state *state = calloc(1, sizeof *state);
    htmlSAXHandler handler;
    memset(&handler, 0, sizeof handler);
    handler.startElement = start_element;
    handler.endElement = end_element;
    handler.characters = characters;
    handler.ignorableWhitespace = characters;
    handler.error = handler.warning = handler.fatalError = ignore_error;
    if (state != NULL) {
        *state = (struct state){.take = take, .context = context, .work = work};
        state->parser = htmlCreatePushParserCtxt(&handler, state, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
    }
    if (state == NULL || state->parser == NULL) {
        reading = READING_LATER;
        problem_set(problem, "%s cannot be read: out of memory", path);
    } else {
        htmlCtxtUseOptions(state->parser, HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                           HTML_PARSE_IGNORE_ENC);
        reading = parse(file, path, size, state, problem);
        state->is_cancelled = true; /* ends the delivery of bookmarks */
        hand_over(state);
        htmlFreeParserCtxt(state->parser);
    }
    if (state != NULL) free(state->title.bytes), free(state->description.bytes), free(state->name.bytes);
    free(state);
    close(file);
    return reading;
}
