/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: see json.h. */
#include "json.h"

#include "snapshot.h"
#include "text.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Converts JSON to a table of values, each with its container. Properties may be in any order, so
 * they are looked up by name. */
static const char preparation[] =
    "CREATE TEMP TABLE node(id INTEGER PRIMARY KEY, parent INTEGER, key, type TEXT, atom);"
    "INSERT INTO node SELECT id, parent, key, type, atom FROM json_tree(?1);"
    "CREATE INDEX temp.node_parent ON node(parent, key);";

static struct slice column(sqlite3_stmt *statement, int number) {
    const char *text = (const char *)sqlite3_column_text(statement, number);
    return (struct slice){text, text == NULL ? 0 : (size_t)sqlite3_column_bytes(statement, number)};
}

static double seconds(sqlite3_stmt *statement, int number, double epoch) {
    int64_t value = sqlite3_column_int64(statement, number);
    return value <= 0 ? 0 : (double)value / 1e6 - epoch;
}

static int on_steps(void *context) {
    struct work *work = context;
    return !work->goes_on(work->context, 0, 0);
}

/* Runs all statements in a text. The JSON is the first parameter of statements that have
 * parameters. */
static int run_all(sqlite3 *database, const char *text, const char *json, int length) {
    int result = SQLITE_OK;
    while (result == SQLITE_OK && *text != 0) {
        sqlite3_stmt *statement = NULL;
        result = sqlite3_prepare_v2(database, text, -1, &statement, &text);
        if (result != SQLITE_OK || statement == NULL) break;
        if (sqlite3_bind_parameter_count(statement) > 0)
            result = sqlite3_bind_text(statement, 1, json, length, SQLITE_STATIC);
        if (result == SQLITE_OK) {
            while ((result = sqlite3_step(statement)) == SQLITE_ROW) {}
            if (result == SQLITE_DONE) result = SQLITE_OK;
        }
        sqlite3_finalize(statement);
    }
    return result;
}

/* Returns the tags in a row, separated by '\n'. */
static struct slice tags(sqlite3_stmt *statement, int number, char divider, char room[MAX_TAGS]) {
    struct slice text = column(statement, number);
    if (text.length >= MAX_TAGS) text.length = MAX_TAGS - 1;
    for (size_t i = 0; i < text.length; i++) room[i] = text.bytes[i] == divider ? '\n' : text.bytes[i];
    return (struct slice){room, text.length};
}

enum reading json_read(const char *path, const char *json, size_t length, const struct json_form *form, struct work *work,
                       bookmark_taker take, void *context, struct problem *problem) {
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    enum reading reading = READING_DONE;
    int result = sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE, NULL);
    if (result == SQLITE_OK) {
        sqlite3_exec(database, "PRAGMA cache_size=-8192", NULL, NULL, NULL);
        sqlite3_progress_handler(database, 100000, on_steps, work);
        result = run_all(database, preparation, json, (int)length);
    }
    if (result == SQLITE_OK) result = run_all(database, form->folders, json, (int)length);
    if (result == SQLITE_OK) result = sqlite3_prepare_v2(database, form->selection, -1, &statement, NULL);
    uint64_t count = 0;
    while (result == SQLITE_OK || result == SQLITE_ROW) {
        char room[MAX_TAGS];
        if ((result = sqlite3_step(statement)) != SQLITE_ROW) break;
        struct bookmark bookmark = {
            .local = column(statement, 0), .url = column(statement, 1), .title = column(statement, 2),
            .folder = column(statement, 3), .added = seconds(statement, 4, form->epoch),
            .modified = seconds(statement, 5, form->epoch), .visited = seconds(statement, 6, form->epoch),
            .tags = tags(statement, 7, form->divider, room), .keyword = column(statement, 8), .visits = -1};
        if (!take(context, &bookmark) || !work_step(work, ++count, 0)) {
            reading = READING_CANCELLED;
            break;
        }
    }
    if (result == SQLITE_INTERRUPT) {
        reading = READING_CANCELLED;
    } else if (reading == READING_DONE && result != SQLITE_DONE) {
        reading = result == SQLITE_NOMEM || result == SQLITE_FULL || result == SQLITE_CANTOPEN ? READING_LATER
                                                                                            : READING_USELESS;
        problem_set(problem, "%s cannot be read as bookmarks of %s: %s", path, form->program,
                    database == NULL ? "out of memory" : sqlite3_errmsg(database));
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return reading;
}

char *json_load(const char *path, int64_t maximum, size_t *length, enum reading *reading, struct problem *problem) {
    int64_t size, done = 0;
    int file = snapshot_open_file(path, maximum, &size, reading, problem);
    if (file < 0) return NULL;
    char *bytes = malloc((size_t)size + 1);
    ssize_t count = 1;
    while (bytes != NULL && done < size && (count = pread(file, bytes + done, (size_t)(size - done), done)) > 0) done += count;
    if (bytes == NULL || count < 0) {
        *reading = READING_LATER;
        problem_set(problem, "%s cannot be read: %s", path, bytes == NULL ? "out of memory" : strerror(errno));
        free(bytes);
        bytes = NULL;
    }
    *length = (size_t)done;
    close(file);
    return bytes;
}
