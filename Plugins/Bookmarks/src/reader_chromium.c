/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_chromium.c: the bookmarks in a Bookmarks file of Chromium and its relatives: JSON, a tree of objects with "type",
 * "name", "url", "guid", "date_added" and "children" below the object "roots". SQLite takes the JSON apart, since it is
 * there anyway. Dates are microseconds since 1601. The file is always replaced as a whole, so what was opened is complete.
 */
#include "snapshot.h"
#include "text.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Parsed, JSON takes some ten times its length. A bookmark has about 400 bytes. */
#define MAX_FILE (INT64_C(24) << 20)

/* Bytes of JSON become a table of values, each with its container. Properties come in any order, so names are looked up. */
static const char preparation[] =
    "CREATE TEMP TABLE node(id INTEGER PRIMARY KEY, parent INTEGER, key, type TEXT, atom);"
    "INSERT INTO node SELECT id, parent, key, type, atom FROM json_tree(?1);"
    "CREATE INDEX temp.node_parent ON node(parent, key);"
    "CREATE TEMP TABLE folder AS WITH RECURSIVE below(id, path) AS ("
    "  SELECT n.id, (SELECT replace(substr(atom, 1, 200), char(10), ' ') FROM node WHERE parent = n.id AND key = 'name')"
    "    FROM node n JOIN node r ON n.parent = r.id"
    "    WHERE r.key = 'roots' AND r.parent = (SELECT min(id) FROM node) AND n.type = 'object'"
    "  UNION ALL SELECT n.id, CASE WHEN length(path) > 1600 THEN path ELSE path || char(10) ||"
    "      replace(coalesce((SELECT substr(atom, 1, 200) FROM node WHERE parent = n.id AND key = 'name'), ''), char(10), ' ')"
    "      END"
    "    FROM below JOIN node c ON c.parent = below.id AND c.key = 'children' JOIN node n ON n.parent = c.id"
    "    WHERE EXISTS (SELECT 1 FROM node WHERE parent = n.id AND key = 'type' AND atom = 'folder') LIMIT 200000)"
    " SELECT id, coalesce(path, '') AS path FROM below;";

#define PROPERTY(name) "(SELECT atom FROM node WHERE parent = n.id AND key = '" name "')"
static const char selection[] =
    "SELECT " PROPERTY("guid") ", " PROPERTY("url") ", " PROPERTY("name") ", f.path, " PROPERTY("date_added")
    ", " PROPERTY("date_last_used")
    " FROM folder f JOIN node c ON c.parent = f.id AND c.key = 'children' JOIN node n ON n.parent = c.id"
    " WHERE " PROPERTY("type") " = 'url'";

static struct slice column(sqlite3_stmt *statement, int number) {
    const char *text = (const char *)sqlite3_column_text(statement, number);
    return (struct slice){text, text == NULL ? 0 : (size_t)sqlite3_column_bytes(statement, number)};
}

static double seconds(sqlite3_stmt *statement, int number) {
    int64_t value = sqlite3_column_int64(statement, number);
    return value <= 0 ? 0 : (double)value / 1e6 - 11644473600.0;
}

static int on_steps(void *context) {
    struct work *work = context;
    return !work->goes_on(work->context, 0, 0);
}

/* Runs all statements of a text, with the JSON as the first parameter of those that have one. */
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

static enum reading read_json(const char *path, const char *json, int length, struct work *work, bookmark_taker take,
                              void *context, struct problem *problem) {
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    enum reading reading = READING_DONE;
    int result = sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE, NULL);
    if (result == SQLITE_OK) {
        sqlite3_exec(database, "PRAGMA cache_size=-8192", NULL, NULL, NULL);
        sqlite3_progress_handler(database, 100000, on_steps, work);
        result = run_all(database, preparation, json, length);
    }
    if (result == SQLITE_OK) result = sqlite3_prepare_v2(database, selection, -1, &statement, NULL);
    uint64_t count = 0;
    while (result == SQLITE_OK || result == SQLITE_ROW) {
        if ((result = sqlite3_step(statement)) != SQLITE_ROW) break;
        struct bookmark bookmark = {
            .local = column(statement, 0), .url = column(statement, 1), .title = column(statement, 2),
            .folder = column(statement, 3), .added = seconds(statement, 4), .visited = seconds(statement, 5),
            .visits = -1};
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
        problem_set(problem, "%s cannot be read as bookmarks of Chromium: %s", path,
                    database == NULL ? "out of memory" : sqlite3_errmsg(database));
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return reading;
}

enum reading chromium_read(const char *path, struct work *work, bookmark_taker take, void *context,
                           struct problem *problem) {
    int64_t size, done = 0;
    enum reading reading;
    int file = snapshot_open_file(path, MAX_FILE, &size, &reading, problem);
    if (file < 0) return reading;
    char *json = malloc((size_t)size + 1);
    ssize_t count = 1;
    while (json != NULL && done < size && (count = pread(file, json + done, (size_t)(size - done), done)) > 0)
        done += count;
    if (json == NULL || count < 0) {
        reading = READING_LATER;
        problem_set(problem, "%s cannot be read: %s", path, json == NULL ? "out of memory" : strerror(errno));
    } else {
        reading = read_json(path, json, (int)done, work, take, context, problem);
    }
    free(json);
    close(file);
    return reading;
}
