/* SPDX-License-Identifier: Apache-2.0 */
/* page.c: see page.h. All text in a bookmark is escaped. */
#include "page.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <wctype.h>

/* The limits for a query; more words or letters would only cost time. */
enum { MAX_WORDS = 16, MAX_LETTERS = 48 };

struct words {
    uint32_t letters[MAX_WORDS][MAX_LETTERS];
    size_t lengths[MAX_WORDS], count;
    locale_t locale; /* the user's locale may support only ASCII letters; 0: no other exists */
};

static uint32_t fold(const struct words *words, uint32_t letter) {
    if (letter < 0x80) return letter >= 'A' && letter <= 'Z' ? letter + 32 : letter;
    return words->locale == (locale_t)0 ? letter : (uint32_t)towlower_l((wint_t)letter, words->locale);
}

static bool is_in_word(const struct words *words, uint32_t letter) {
    if (letter < 0x80) return (letter >= '0' && letter <= '9') || (fold(words, letter) >= 'a' && fold(words, letter) <= 'z');
    return words->locale == (locale_t)0 ? letter != 0xFFFD : iswalnum_l((wint_t)letter, words->locale) != 0;
}

static void find_words(struct words *words, const char *query) {
    const char *at = query == NULL ? "" : query, *end = at + strlen(at);
    while (at < end && words->count < MAX_WORDS) {
        size_t bytes, *length = &words->lengths[words->count];
        uint32_t letter = text_character(at, end, &bytes);
        at += bytes;
        if (!is_in_word(words, letter)) {
            if (*length > 0) words->count++;
        } else if (*length < MAX_LETTERS) {
            words->letters[words->count][(*length)++] = fold(words, letter);
        }
    }
    if (words->count < MAX_WORDS && words->lengths[words->count] > 0) words->count++;
}

/* Returns the number of bytes at a position that match a word in the query; 0 if no word begins
 * there. The longest match is used. */
static size_t match(const struct words *words, const char *at, const char *end) {
    size_t longest = 0;
    for (size_t number = 0; number < words->count; number++) {
        const char *place = at;
        size_t letter = 0, bytes;
        while (letter < words->lengths[number] && place < end &&
               fold(words, text_character(place, end, &bytes)) == words->letters[number][letter])
            letter++, place += bytes;
        if (letter == words->lengths[number] && (size_t)(place - at) > longest) longest = (size_t)(place - at);
    }
    return longest;
}

static void add_marked(struct buffer *out, const struct words *words, const char *text, size_t length) {
    const char *at = text, *end = text + length;
    bool begins = true;
    while (at < end) {
        size_t bytes, found = begins ? match(words, at, end) : 0;
        bool is_letter = is_in_word(words, text_character(at, end, &bytes));
        if (found > 0) {
            buffer_say(out, "<mark>");
            buffer_escape(out, at, found);
            buffer_say(out, "</mark>");
            at += found;
            begins = false;
        } else {
            buffer_escape(out, at, bytes);
            at += bytes;
            begins = !is_letter;
        }
    }
}

static void begin_row(struct buffer *out, const char *name) {
    buffer_say(out, "<tr><th>");
    buffer_say(out, name);
    buffer_say(out, "</th><td>");
}
static void end_row(struct buffer *out) { buffer_say(out, "</td></tr>\n"); }

static void add_text(struct buffer *out, const struct words *words, const char *name, const char *text) {
    if (*text == 0) return;
    begin_row(out, name);
    add_marked(out, words, text, strlen(text));
    end_row(out);
}

/* Adds parts separated by '\n', with a different separator. */
static void add_parts(struct buffer *out, const struct words *words, const char *name, const char *text, const char *between) {
    if (*text == 0) return;
    begin_row(out, name);
    for (const char *at = text; at != NULL;) {
        const char *next = strchr(at, '\n');
        if (at != text) buffer_say(out, between);
        add_marked(out, words, at, next == NULL ? strlen(at) : (size_t)(next - at));
        at = next == NULL ? NULL : next + 1;
    }
    end_row(out);
}

static void add_date(struct buffer *out, const char *name, double seconds) {
    time_t moment = (time_t)seconds;
    struct tm parts;
    char text[64];
    if (seconds <= 0 || localtime_r(&moment, &parts) == NULL || strftime(text, sizeof text, "%Y-%m-%d", &parts) == 0) return;
    begin_row(out, name);
    buffer_say(out, text);
    end_row(out);
}

static const char head[] =
    "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"referrer\" content=\"no-referrer\">\n<style>\n"
    ":root { color-scheme: light dark; }\n"
    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 42em; margin: 2em auto; padding: 0 1em; overflow-wrap: anywhere; }\n"
    "h1 { line-height: 1.25; margin: 0 0 .3em; }\n"
    "th { text-align: left; font-weight: 500; opacity: .65; padding-right: 1.5em; vertical-align: top; white-space: nowrap; }\n"
    "</style>\n<title>";

void page_write(struct buffer *out, const struct entry *entry, const char *query) {
    struct words words = {.count = 0, .locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0)};
    char address[MAX_URL], visits[32];
    find_words(&words, query);
    text_readable_url(address, sizeof address, entry->url);
    buffer_say(out, head);
    buffer_escape(out, entry->title, strlen(entry->title));
    buffer_say(out, "</title>\n</head>\n<body>\n<h1>");
    add_marked(out, &words, entry->title, strlen(entry->title));
    buffer_say(out, "</h1>\n<p><a href=\"");
    buffer_escape(out, entry->url, strlen(entry->url));
    buffer_say(out, "\" rel=\"noreferrer\">");
    add_marked(out, &words, address, strlen(address));
    buffer_say(out, "</a></p>\n");
    if (*entry->description != 0) {
        buffer_say(out, "<p>");
        add_marked(out, &words, entry->description, strlen(entry->description));
        buffer_say(out, "</p>\n");
    }
    buffer_say(out, "<table>\n");
    add_parts(out, &words, "Folder", entry->folder, " › ");
    add_parts(out, &words, "Tags", entry->tags, ", ");
    add_text(out, &words, "Keyword", entry->keyword);
    add_date(out, "Added", entry->added);
    add_date(out, "Changed", entry->modified);
    add_date(out, "Last visited", entry->visited);
    if (entry->visits > 0) {
        snprintf(visits, sizeof visits, "%lld", (long long)entry->visits);
        add_text(out, &words, "Visits", visits);
    }
    add_text(out, &words, "From", entry->source);
    buffer_say(out, "</table>\n</body>\n</html>\n");
    if (words.locale != (locale_t)0) freelocale(words.locale);
}
