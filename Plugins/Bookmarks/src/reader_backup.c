/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_backup.c: reads a Firefox backup, such as bookmarks-2026-11-26.json: a tree of objects
 * with "type", "title", "uri", "guid", "tags" and "children". Dates are microseconds since 1970.
 * Automatic backups (.jsonlz4) contain the same JSON as one LZ4 block, after 8 bytes of signature
 * and 4 bytes of length.
 */
#include "json.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static const char mark[8] = "mozLz40";
enum { HEAD = sizeof mark + 4 };

static const char folders[] =
    "CREATE TEMP TABLE folder AS WITH RECURSIVE below(id, path) AS ("
    "  SELECT min(id), '' FROM node"
    "  UNION ALL SELECT n.id, CASE WHEN length(path) > 1600 THEN path ELSE"
    "      CASE path WHEN '' THEN '' ELSE path || char(10) END ||"
    "      CASE (SELECT atom FROM node WHERE parent = n.id AND key = 'root') WHEN 'bookmarksMenuFolder' THEN 'Bookmarks Menu'"
    "        WHEN 'toolbarFolder' THEN 'Bookmarks Toolbar' WHEN 'unfiledBookmarksFolder' THEN 'Other Bookmarks'"
    "        WHEN 'mobileFolder' THEN 'Mobile Bookmarks' ELSE replace(coalesce("
    "        (SELECT substr(atom, 1, 200) FROM node WHERE parent = n.id AND key = 'title'), ''), char(10), ' ') END END"
    "    FROM below JOIN node c ON c.parent = below.id AND c.key = 'children' JOIN node n ON n.parent = c.id"
    "    WHERE EXISTS (SELECT 1 FROM node WHERE parent = n.id AND key = 'type' AND atom = 'text/x-moz-place-container')"
    "    LIMIT 200000)"
    " SELECT id, path FROM below;";

#define PROPERTY(name) "(SELECT atom FROM node WHERE parent = n.id AND key = '" name "')"
static const char selection[] =
    "SELECT " PROPERTY("guid") ", " PROPERTY("uri") ", " PROPERTY("title") ", f.path, " PROPERTY("dateAdded")
    ", " PROPERTY("lastModified") ", NULL, " PROPERTY("tags") ", " PROPERTY("keyword")
    " FROM folder f JOIN node c ON c.parent = f.id AND c.key = 'children' JOIN node n ON n.parent = c.id"
    " WHERE " PROPERTY("type") " = 'text/x-moz-place'";

/* Adds the following bytes to a length: any number of 255 bytes and a last byte. */
static bool lengthen(const unsigned char **at, const unsigned char *end, size_t *length) {
    unsigned char byte;
    do {
        if (*at == end) return false;
        byte = *(*at)++;
        *length += byte;
    } while (byte == 255);
    return true;
}

/* Decompresses an LZ4 block to at most `capacity` bytes. It consists of literal runs, each followed
 * by a copy of earlier output. Returns the number of bytes. Sets `*is_whole` to true if the block
 * ended correctly. */
static size_t unpack(const unsigned char *at, size_t count, char *out, size_t capacity, bool *is_whole) {
    const unsigned char *end = at + count;
    size_t done = 0;
    *is_whole = false;
    while (at < end) {
        unsigned char token = *at++;
        size_t length = token >> 4;
        if (length == 15 && !lengthen(&at, end, &length)) break;
        size_t some = length < (size_t)(end - at) ? length : (size_t)(end - at);
        if (some > capacity - done) some = capacity - done;
        memcpy(out + done, at, some);
        done += some, at += some;
        if (some < length) break;
        *is_whole = at == end;
        if (end - at < 2) break;
        size_t distance = at[0] | (size_t)at[1] << 8;
        at += 2;
        length = token & 15;
        if (length == 15 && !lengthen(&at, end, &length)) break;
        length += 4;
        if (distance == 0 || distance > done) break;
        /* Copies byte by byte, because a run may overlap itself. */
        for (; length > 0 && done < capacity; length--, done++) out[done] = out[done - distance];
        if (length > 0) break;
    }
    return done;
}

bool backup_recognizes(const char *head, size_t length) {
    static const char folder[] = "\"text/x-moz-place-container\"";
    char text[4096];
    bool is_whole, is = false;
    if (length > HEAD && memcmp(head, mark, sizeof mark) == 0) {
        length = unpack((const unsigned char *)head + HEAD, length - HEAD, text, sizeof text, &is_whole);
        head = text;
    }
    if (length == 0 || *head != '{') return false;
    for (size_t i = 0; !is && i + sizeof folder - 1 <= length; i++) is = memcmp(head + i, folder, sizeof folder - 1) == 0;
    return is;
}

/* Replaces the bytes of a compressed backup with its JSON. */
static char *unpacked(const char *path, char *bytes, size_t *length, enum reading *reading, struct problem *problem) {
    const unsigned char *size = (const unsigned char *)bytes + sizeof mark;
    size_t capacity = size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
    bool is_whole = false;
    char *json = capacity > JSON_MAX ? NULL : malloc(capacity + 1);
    if (json != NULL) {
        size_t count = unpack((const unsigned char *)bytes + HEAD, *length - HEAD, json, capacity, &is_whole);
        is_whole = is_whole && count == capacity;
        *length = count;
    }
    if (is_whole) {
        free(bytes);
        return json;
    }
    *reading = json == NULL && capacity <= JSON_MAX ? READING_LATER : READING_USELESS;
    if (capacity > JSON_MAX) problem_set(problem, "%s is larger than %d MiB", path, (int)(JSON_MAX >> 20));
    else problem_set(problem, "%s cannot be read: %s", path, json == NULL ? "out of memory" : "it is damaged");
    free(bytes), free(json);
    return NULL;
}

enum reading backup_read(const char *path, struct work *work, bookmark_taker take, void *context,
                         struct problem *problem) {
    static const struct json_form form = {"Firefox", folders, selection, 0, ','};
    size_t length;
    enum reading reading = READING_FOREIGN;
    char *json = json_load(path, JSON_MAX, &length, &reading, problem);
    if (json == NULL) return reading;
    if (!backup_recognizes(json, length)) {
        problem_set(problem, "%s is not a backup of bookmarks", path);
        free(json);
        return READING_FOREIGN;
    }
    if (memcmp(json, mark, sizeof mark) == 0) json = unpacked(path, json, &length, &reading, problem);
    if (json != NULL) reading = json_read(path, json, length, &form, work, take, context, problem);
    free(json);
    return reading;
}
