/* SPDX-License-Identifier: Apache-2.0 */
/* json.h: bookmarks in JSON. SQLite takes it apart, since it is there anyway. */
#ifndef JSON_H
#define JSON_H

#include "bookmarks.h"

/* The largest JSON, in bytes. Parsed, it takes some ten times its length; a bookmark has about 400 bytes. */
#define JSON_MAX (INT64_C(24) << 20)

/* How a program writes its bookmarks. */
struct json_form {
    const char *program;
    /* Statements that make the table `folder` (id, path) of the table `node` (id, parent, key, type, atom). */
    const char *folders;
    /* Gives a row for each bookmark: its name, address, title, folder, dates of addition, change and visit, tags, keyword.
     * Dates are microseconds. */
    const char *selection;
    double epoch; /* what dates are counted from, in seconds before 1970 */
    char divider; /* of tags */
};

/* Reads JSON; `path` is for messages. */
enum reading json_read(const char *path, const char *json, size_t length, const struct json_form *form, struct work *work,
                       bookmark_taker take, void *context, struct problem *problem);

/* A file as a whole, of at most so many bytes, which the caller frees; NULL with the reason. */
char *json_load(const char *path, int64_t maximum, size_t *length, enum reading *reading, struct problem *problem);

#endif
