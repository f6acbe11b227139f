/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_firefox.c: reads the bookmarks in a copy of places.sqlite (snapshot.h).
 *
 * moz_bookmarks is a tree: type 1 are bookmarks, 2 folders, 3 separators. Tags are folders below
 * the root "tags________". Each bookmark in such a folder assigns that tag to its page. Dates are
 * in microseconds.
 */
#include "snapshot.h"
#include "text.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* The number of SQLite virtual machine steps between two checks for cancellation, and the
 * maximum number of checks. The maximum stops the reading of a malicious file that loops. A
 * million bookmarks take about two hundred million steps. */
enum { STEPS = 100000, MAX_ROUNDS = 20000 };

struct run {
    struct work *work;
    int rounds;
    bool cancelled;
};

static int on_steps(void *context) {
    struct run *run = context;
    if (!run->work->goes_on(run->work->context, 0, 0)) run->cancelled = true;
    return run->cancelled || ++run->rounds > MAX_ROUNDS;
}

/* Lists the folders with their paths, starting at the roots, and then the tags of each page.
 * Folders that no root reaches, such as cycles, are not visible in the browser either. A path is
 * not extended beyond its maximum length. */
static const char preparation[] =
    "CREATE TEMP TABLE folder AS WITH RECURSIVE below(id, path) AS ("
    "  SELECT id, CASE guid WHEN 'menu________' THEN 'Bookmarks Menu' WHEN 'toolbar_____' THEN 'Bookmarks Toolbar'"
    "    WHEN 'unfiled_____' THEN 'Other Bookmarks' ELSE 'Mobile Bookmarks' END FROM main.moz_bookmarks"
    "    WHERE type = 2 AND guid IN ('menu________', 'toolbar_____', 'unfiled_____', 'mobile______')"
    "  UNION ALL SELECT b.id, CASE WHEN length(path) > 1600 THEN path"
    "    ELSE path || char(10) || replace(substr(coalesce(b.title, ''), 1, 200), char(10), ' ') END"
    "  FROM below JOIN main.moz_bookmarks b ON b.parent = below.id WHERE b.type = 2"
    "    AND coalesce(b.guid, '') NOT IN ('root________', 'menu________', 'toolbar_____', 'unfiled_____', 'mobile______',"
    "      'tags________') LIMIT 200000)"
    " SELECT id, path FROM below;"
    "CREATE UNIQUE INDEX temp.folder_id ON folder(id);"
    "CREATE TEMP TABLE tag AS SELECT DISTINCT b.fk AS place, substr(t.title, 1, 200) AS title FROM main.moz_bookmarks b"
    "  JOIN main.moz_bookmarks t ON t.id = b.parent JOIN main.moz_bookmarks r ON r.id = t.parent"
    "  WHERE r.guid = 'tags________' AND b.fk IS NOT NULL AND t.title IS NOT NULL LIMIT 4000000;"
    "CREATE INDEX temp.tag_place ON tag(place, title);"
    "CREATE TEMP TABLE word AS SELECT place_id AS place, min(substr(keyword, 1, 200)) AS word FROM main.moz_keywords"
    "  GROUP BY place_id LIMIT 1000000;"
    "CREATE UNIQUE INDEX temp.word_place ON word(place);";

static const char selection[] =
    "SELECT b.guid, b.id, p.url, b.title, p.title, %s, w.word, f.path,"
    "  (SELECT group_concat(replace(title, char(10), ' '), char(10)) FROM"
    "    (SELECT title FROM tag WHERE place = b.fk ORDER BY title LIMIT 64)),"
    "  b.dateAdded, b.lastModified, p.last_visit_date, p.visit_count"
    " FROM main.moz_bookmarks b JOIN folder f ON f.id = b.parent JOIN main.moz_places p ON p.id = b.fk"
    " LEFT JOIN word w ON w.place = b.fk WHERE b.type = 1";

static struct slice column(sqlite3_stmt *statement, int number) {
    const char *text = (const char *)sqlite3_column_text(statement, number);
    return (struct slice){text, text == NULL ? 0 : (size_t)sqlite3_column_bytes(statement, number)};
}

static double seconds(sqlite3_stmt *statement, int number) {
    return (double)sqlite3_column_int64(statement, number) / 1e6;
}

static enum reading read_rows(sqlite3_stmt *statement, struct run *run, bookmark_taker take, void *context, int *result) {
    uint64_t count = 0;
    while ((*result = sqlite3_step(statement)) == SQLITE_ROW) {
        char fallback[32];
        struct bookmark bookmark = {
            .local = column(statement, 0),
            .url = column(statement, 2),
            .title = column(statement, 3),
            .page_title = column(statement, 4),
            .description = column(statement, 5),
            .keyword = column(statement, 6),
            .folder = column(statement, 7),
            .tags = column(statement, 8),
            .added = seconds(statement, 9),
            .modified = seconds(statement, 10),
            .visited = seconds(statement, 11),
            .visits = sqlite3_column_type(statement, 12) == SQLITE_INTEGER ? sqlite3_column_int64(statement, 12) : -1,
        };
        if (bookmark.local.length == 0) {
            snprintf(fallback, sizeof fallback, "id-%lld", (long long)sqlite3_column_int64(statement, 1));
            bookmark.local = slice_of(fallback);
        }
        if (!take(context, &bookmark) || !work_step(run->work, ++count, 0)) return READING_CANCELLED;
    }
    return READING_DONE;
}

enum reading firefox_read(const char *path, struct work *work, bookmark_taker take, void *context,
                          struct problem *problem) {
    sqlite3 *database;
    sqlite3_stmt *statement = NULL;
    struct run run = {work, 0, false};
    enum reading reading = snapshot_open(path, work, &database, problem);
    if (reading != READING_DONE) return reading;
    sqlite3_progress_handler(database, STEPS, on_steps, &run);
    int result = sqlite3_exec(database, preparation, NULL, NULL, NULL);
    /* Databases from before Firefox 58 have no descriptions. */
    for (int version = 0; result == SQLITE_OK && statement == NULL && version < 2; version++) {
        char text[sizeof selection + 32];
        snprintf(text, sizeof text, selection, version == 0 ? "p.description" : "NULL");
        int prepared = sqlite3_prepare_v2(database, text, -1, &statement, NULL);
        if (prepared != SQLITE_OK && version == 1) result = prepared;
    }
    if (result == SQLITE_OK) reading = read_rows(statement, &run, take, context, &result);
    if (run.cancelled) {
        reading = READING_CANCELLED;
    } else if (reading == READING_DONE && result != SQLITE_OK && result != SQLITE_DONE) {
        /* A lack of memory or temporary space is a fault of this machine. Every other error is a
         * fault of the file. */
        int code = result & 0xFF;
        reading = code == SQLITE_FULL || code == SQLITE_NOMEM || code == SQLITE_IOERR || code == SQLITE_CANTOPEN
                      ? READING_LATER : READING_USELESS;
        problem_set(problem, "%s cannot be read as bookmarks of Firefox: %s", path,
                    code == SQLITE_INTERRUPT ? "it takes too long" : sqlite3_errmsg(database));
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return reading;
}
