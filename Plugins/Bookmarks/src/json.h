/* SPDX-License-Identifier: Apache-2.0 */
/* json.h: reads bookmarks in JSON. SQLite is the parser, because this extension already links
 * it. */
#ifndef JSON_H
#define JSON_H

#include "bookmarks.h"

/* The maximum size of the JSON, in bytes. Parsing needs about ten times its length. A bookmark
 * takes about 400 bytes. */
#define JSON_MAX (INT64_C(24) << 20)

/* The JSON format of a program's bookmarks. */
struct json_form {
    const char *program;
    /* Statements that create the table `folder` (id, path) from the table `node` (id, parent, key,
     * type, atom). */
    const char *folders;
    /* A query that returns a row for each bookmark: its identifier, URL, title, folder, dates of
     * addition, change and visit, tags, keyword. Dates are in microseconds. */
    const char *selection;
    double epoch; /* the epoch of dates, in seconds before 1970 */
    char divider; /* separates tags */
};

/* Reads JSON. `path` is used in messages. */
enum reading json_read(const char *path, const char *json, size_t length, const struct json_form *form, struct work *work,
                       bookmark_taker take, void *context, struct problem *problem);

/* Reads a whole file of at most `maximum` bytes, which the caller frees. Returns NULL and sets the
 * reason. */
char *json_load(const char *path, int64_t maximum, size_t *length, enum reading *reading, struct problem *problem);

#endif
