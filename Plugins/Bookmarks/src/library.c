/* SPDX-License-Identifier: Apache-2.0 */
/* library.c: see library.h. The function `add` sanitizes bookmarks. It is the only way for external
 * data to enter the library. */
#include "library.h"

#include "text.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct library {
    pthread_mutex_t mutex;
    sqlite3 *database; /* NULL until it is first used */
    struct work *work; /* the work of the current lock holder */
    library_voice say;
    void *context;
    bool is_filled, is_missing;
    struct problem missing;
    struct problem misnamed; /* settings whose entries name no folder; "" if there are none */
    size_t left_out;         /* files and profiles in folders that have too many */
    struct exported exported;
};

/* A database without a name is a temporary file that no other process can open and that is removed
 * when the process exits. */
static const char schema[] =
    "PRAGMA cache_size=-49152; PRAGMA synchronous=OFF;"
    "CREATE TABLE source(id INTEGER PRIMARY KEY, key TEXT UNIQUE, name TEXT, rank INTEGER, stamp TEXT, seen INTEGER,"
    "  path TEXT, omission TEXT DEFAULT '',"
    "  is_whole INTEGER DEFAULT 0);" /* the stored bookmarks are those in the file */
    "CREATE TABLE bookmark(id TEXT PRIMARY KEY, source INTEGER, twin INTEGER, url TEXT, title TEXT, description TEXT,"
    "  keyword TEXT, folder TEXT, tags TEXT, added REAL, modified REAL, visited REAL, visits INTEGER);"
    "CREATE INDEX bookmark_twin ON bookmark(twin);"
    "CREATE INDEX bookmark_source ON bookmark(source);";

struct library *library_create(library_voice say, void *context) {
    struct library *library = calloc(1, sizeof *library);
    if (library == NULL) return NULL;
    library->say = say;
    library->context = context;
    if (pthread_mutex_init(&library->mutex, NULL) == 0) return library;
    free(library);
    return NULL;
}

void library_destroy(struct library *library) {
    if (library == NULL) return;
    sqlite3_close(library->database);
    pthread_mutex_destroy(&library->mutex);
    free(library);
}

static int on_steps(void *context) {
    struct work *work = context;
    return !work->goes_on(work->context, 0, 0);
}

/* Makes long statements report progress, and stops them if the work is cancelled. */
static void watch(struct library *library) {
    if (library->database != NULL) sqlite3_progress_handler(library->database, 1000000, on_steps, library->work);
}

bool library_lock(struct library *library, struct work *work) {
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 250000000;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        int result = pthread_mutex_timedlock(&library->mutex, &until);
        if (result == 0) {
            library->work = work;
            watch(library);
            return true;
        }
        /* Another request holds the lock. The progress report shows that this request is alive. */
        if (result != ETIMEDOUT || !work->goes_on(work->context, 0, 0)) return false;
    }
}

void library_unlock(struct library *library) {
    if (library->database != NULL) sqlite3_progress_handler(library->database, 0, NULL, NULL);
    library->work = NULL;
    pthread_mutex_unlock(&library->mutex);
}
bool library_is_filled(const struct library *library) { return library->is_filled; }
const char *library_missing(const struct library *library) { return library->is_missing ? library->missing.text : NULL; }
void library_remember(struct library *library, const struct exported *exported) { library->exported = *exported; }
const struct exported *library_exported(const struct library *library) { return &library->exported; }

/* ---- Statements ------------------------------------------------------------------------------ */

/* Prepares a statement and binds texts to its first parameters, up to a NULL. Returns NULL on
 * failure. */
static sqlite3_stmt *prepare(struct library *library, const char *text, const char *first, const char *second) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(library->database, text, -1, &statement, NULL) != SQLITE_OK) return NULL;
    if (first != NULL) sqlite3_bind_text(statement, 1, first, -1, SQLITE_TRANSIENT);
    if (second != NULL) sqlite3_bind_text(statement, 2, second, -1, SQLITE_TRANSIENT);
    return statement;
}

/* Runs a statement that returns no rows, and finalizes it. */
static bool run(sqlite3_stmt *statement) {
    bool is_done = statement != NULL && sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    return is_done;
}

static bool execute(struct library *library, const char *text) {
    return sqlite3_exec(library->database, text, NULL, NULL, NULL) == SQLITE_OK;
}

/* ---- Taking bookmarks in --------------------------------------------------------------------- */

struct intake {
    struct library *library;
    const struct source *source;
    sqlite3_stmt *insert, *look;
    int64_t number; /* the source's number */
    size_t taken, left_out;
    bool is_full, has_failed;
};

/* Records the exported files that contain bookmarks. If a source is missing, no file is
 * forgotten. */
static bool note_exported(struct library *library) {
    struct exported now = {{0}, 0};
    if (library->is_missing) now = library->exported;
    sqlite3_stmt *statement = prepare(library, "SELECT key FROM source s WHERE (key LIKE 'html/%' OR key LIKE 'json/%') AND seen = 1 AND"
                                               " EXISTS (SELECT 1 FROM bookmark WHERE source = s.id) ORDER BY key", NULL, NULL);
    int result = SQLITE_ERROR;
    while (statement != NULL && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        uint64_t hash = text_hash(TEXT_HASH, slice_of((const char *)sqlite3_column_text(statement, 0)));
        if (now.count < MAX_EXPORTED && !exported_has(&now, hash)) now.hashes[now.count++] = hash;
    }
    sqlite3_finalize(statement);
    if (result == SQLITE_DONE) library->exported = now;
    return result == SQLITE_DONE;
}

static double moment(double seconds) { return seconds > 0 && seconds < 32503680000.0 ? seconds : 0; }

/* Runs the insertion. Returns false if a bookmark with the identifier exists, or after a
 * failure. */
static bool put(struct intake *intake) {
    int result = sqlite3_step(intake->insert);
    sqlite3_reset(intake->insert);
    intake->has_failed = result != SQLITE_DONE;
    return !intake->has_failed && sqlite3_changes(intake->library->database) == 1;
}

/* Returns true if the bookmark with the same identifier also has the same texts. */
static bool is_known(struct intake *intake, const char *const texts[7]) {
    sqlite3_stmt *look = intake->look;
    for (int i = 0; i < 7; i++) sqlite3_bind_text(look, i + 1, texts[i], -1, SQLITE_STATIC);
    bool is_there = sqlite3_step(look) == SQLITE_ROW;
    sqlite3_reset(look);
    sqlite3_clear_bindings(look);
    return is_there;
}

static bool add(void *context, const struct bookmark *bookmark) {
    struct intake *intake = context;
    char url[MAX_URL], title[MAX_TITLE], description[MAX_DESCRIPTION], keyword[MAX_KEYWORD], folder[MAX_FOLDER],
        tags[MAX_TAGS], local[MAX_LOCAL], identifier[MAX_KEY + MAX_LOCAL + 2];
    if (!text_url(url, sizeof url, bookmark->url)) {
        intake->left_out++;
        return true;
    }
    intake->is_full = intake->taken >= MAX_BOOKMARKS;
    if (intake->is_full) return false;
    if (text_line(title, sizeof title, bookmark->title, 0) == 0 &&
        text_line(title, sizeof title, bookmark->page_title, 0) == 0)
        text_legible_url(title, sizeof title, url);
    text_line(description, sizeof description, bookmark->description, 0);
    text_line(keyword, sizeof keyword, bookmark->keyword, 0);
    text_line(folder, sizeof folder, bookmark->folder, '\n');
    text_line(tags, sizeof tags, bookmark->tags, '\n');
    if (bookmark->local.length > 0) {
        text_encode(local, sizeof local, bookmark->local, ".");
    } else {
        uint64_t hash = text_hash(text_hash(TEXT_HASH, slice_of(url)), slice_of(folder));
        snprintf(local, sizeof local, "%016llx", (unsigned long long)hash);
    }
    snprintf(identifier, sizeof identifier, "%s/%s", intake->source->key, local);

    const char *const texts[] = {identifier, url, title, description, keyword, folder, tags};
    const double moments[] = {moment(bookmark->added), moment(bookmark->modified), moment(bookmark->visited)};
    sqlite3_stmt *insert = intake->insert;
    for (int i = 0; i < 7; i++) sqlite3_bind_text(insert, i + 1, texts[i], -1, SQLITE_STATIC);
    for (int i = 0; i < 3; i++) sqlite3_bind_double(insert, i + 8, moments[i]);
    sqlite3_bind_int64(insert, 11, bookmark->visits < 0 ? -1 : bookmark->visits);
    sqlite3_bind_int64(insert, 12, intake->number);
    sqlite3_bind_int64(insert, 13, (int64_t)text_hash(text_hash(TEXT_HASH, slice_of(url)), slice_of(title)));
    bool is_added = put(intake);
    /* The folder contains the same URL with a different title or different tags. Both are kept,
     * so that both can be found. */
    if (!intake->has_failed && !is_added && !is_known(intake, texts)) {
        uint64_t hash = TEXT_HASH;
        for (int i = 1; i < 7; i++) hash = text_hash(hash, slice_of(texts[i]));
        snprintf(identifier, sizeof identifier, "%s/%016llx-%016llx", intake->source->key, (unsigned long long)hash,
                 (unsigned long long)text_hash(TEXT_HASH, slice_of(local)));
        sqlite3_bind_text(insert, 1, identifier, -1, SQLITE_STATIC);
        is_added = put(intake);
    }
    sqlite3_clear_bindings(insert);
    if (is_added) intake->taken++;
    return !intake->has_failed;
}

static void say(struct library *library, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct library *library, const char *format, ...) {
    char line[MAX_PROBLEM + 256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    library->say(library->context, line);
}

static void miss(struct library *library, const struct problem *problem) {
    if (!library->is_missing) library->missing = *problem;
    library->is_missing = true;
}

/* Writes the stamp that shows whether a source is unchanged: the inode numbers, sizes and dates of
 * its files. The stamp is "" if a file is so new that another change might have the same date. */
static void take_stamp(const struct source *source, char stamp[256]) {
    struct timespec now;
    size_t length = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    stamp[0] = 0;
    static const char *const companions[] = {"", "-wal", "-journal"};
    for (int i = 0; i < (source->read == firefox_read ? 3 : 1); i++) {
        char path[4096];
        struct stat status = {0};
        snprintf(path, sizeof path, "%s%s", source->path, companions[i]);
        if (stat(path, &status) == 0 && status.st_mtim.tv_sec >= now.tv_sec - 2) {
            stamp[0] = 0;
            return;
        }
        length += (size_t)snprintf(stamp + length, 256 - length, "%llu %lld %lld.%ld,", (unsigned long long)status.st_ino,
                                   (long long)status.st_size, (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    }
}

/* Reads a source again, and replaces its bookmarks. */
static enum reading read_source(struct library *library, const struct source *source, int64_t number, const char *stamp,
                                struct work *work) {
    struct problem problem = {""};
    struct intake intake = {.library = library, .source = source, .number = number};
    if (!execute(library, "BEGIN")) return READING_LATER;
    sqlite3_stmt *clear = prepare(library, "DELETE FROM bookmark WHERE source = ?1", NULL, NULL);
    sqlite3_bind_int64(clear, 1, number);
    intake.insert = prepare(library,
                            "INSERT OR IGNORE INTO bookmark(id, url, title, description, keyword, folder, tags, added,"
                            " modified, visited, visits, source, twin) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)",
                            NULL, NULL);
    intake.look = prepare(library,
                          "SELECT 1 FROM bookmark WHERE id = ?1 AND url = ?2 AND title = ?3 AND description = ?4 AND"
                          " keyword = ?5 AND folder = ?6 AND tags = ?7", NULL, NULL);
    enum reading reading = READING_LATER;
    if (run(clear) && intake.insert != NULL && intake.look != NULL) reading = source->read(source->path, work, add, &intake, &problem);
    sqlite3_finalize(intake.insert);
    sqlite3_finalize(intake.look);
    if (intake.is_full && !intake.has_failed) {
        reading = READING_DONE;
        problem_set(&problem, "%s has more than %d bookmarks; the rest is left out", source->path, (int)MAX_BOOKMARKS);
    }
    if (intake.has_failed) {
        reading = READING_LATER;
        problem_set(&problem, "the bookmarks of %s cannot be kept: %s", source->path, sqlite3_errmsg(library->database));
    }
    if (reading == READING_FOREIGN && exported_has(&library->exported, text_hash(TEXT_HASH, slice_of(source->key)))) {
        reading = READING_USELESS;
        problem_set(&problem, "%s is no longer a bookmarks file", source->path);
    }
    if (reading == READING_CANCELLED || reading == READING_LATER || reading == READING_USELESS) {
        execute(library, "ROLLBACK");
        if (reading == READING_CANCELLED) return reading;
        miss(library, &problem);
        sqlite3_stmt *note = prepare(library, "UPDATE source SET is_whole = 0, stamp = '' WHERE id = ?1", NULL, NULL);
        sqlite3_bind_int64(note, 1, number);
        run(note);
        return reading;
    }
    if (reading == READING_FOREIGN || intake.is_full) say(library, "skipped: %s", problem.text);
    if (intake.left_out > 0)
        say(library, "%s: %zu bookmarks left out that are queries, scripts, data or pages of the browser", source->path,
            intake.left_out);
    const char *omission = reading == READING_FOREIGN ? "not a file of bookmarks"
                           : intake.is_full           ? "bookmarks beyond the limit of a file"
                           : intake.left_out > 0      ? "queries, scripts, data and pages of the browser"
                                                      : "";
    sqlite3_stmt *note =
        prepare(library, "UPDATE source SET stamp = ?1, omission = ?2, path = ?3, is_whole = 1 WHERE id = ?4", stamp, omission);
    sqlite3_bind_text(note, 3, source->path, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(note, 4, number);
    bool is_kept = run(note);
    if (is_kept && execute(library, "COMMIT")) return READING_DONE;
    execute(library, "ROLLBACK");
    return READING_LATER;
}

/* Records a source and returns its number; 0 if the library failed. Sets `is_known` to true if the
 * source has not changed since it was read. */
static int64_t note_source(struct library *library, const struct source *source, size_t rank, const char *stamp, bool *is_known) {
    sqlite3_stmt *note = prepare(library,
                                 "INSERT INTO source(key, name, rank, seen, stamp) VALUES (?1, ?2, ?3, 1, '')"
                                 " ON CONFLICT(key) DO UPDATE SET name = ?2, rank = ?3, seen = 1",
                                 source->key, source->name);
    sqlite3_bind_int64(note, 3, (int64_t)rank);
    if (!run(note)) return 0;
    int64_t number = 0;
    sqlite3_stmt *look = prepare(library, "SELECT id, stamp FROM source WHERE key = ?1", source->key, NULL);
    if (look != NULL && sqlite3_step(look) == SQLITE_ROW) {
        number = sqlite3_column_int64(look, 0);
        const char *known = (const char *)sqlite3_column_text(look, 1);
        *is_known = known != NULL && *known != 0 && strcmp(known, stamp) == 0;
    }
    sqlite3_finalize(look);
    return number;
}

static bool is_of(const char *identifier, const char *key) {
    size_t length = strlen(key);
    return strncmp(identifier, key, length) == 0 && identifier[length] == '/';
}

enum reading library_refresh(struct library *library, struct work *work, const char *identifier, struct problem *problem) {
    if (library->database == NULL) {
        bool is_open = sqlite3_open_v2("", &library->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK;
        if (!is_open || !execute(library, schema)) {
            problem_set(problem, "the list of bookmarks cannot be created in the temporary folder: %s",
                        library->database == NULL ? "out of memory" : sqlite3_errmsg(library->database));
            sqlite3_close(library->database);
            library->database = NULL;
            return READING_LATER;
        }
        watch(library);
    }
    struct sources sources;
    bool is_good = sources_find(&sources, &library->exported);
    if (identifier == NULL) {
        library->is_missing = false;
        library->misnamed = sources.misnamed;
        library->left_out = sources.left_out;
        if (is_good && sources.is_incomplete) miss(library, &sources.problem);
        if (*sources.misnamed.text != 0) say(library, "skipped: entries without a folder in %s", sources.misnamed.text);
        if (sources.left_out > 0)
            say(library, "skipped: %zu files or profiles, because at most %d are read from a folder", sources.left_out,
                (int)MAX_FOLDERS);
        is_good = is_good && execute(library, "UPDATE source SET seen = 0");
    }
    enum reading reading = READING_DONE;
    for (size_t i = 0; i < sources.count && is_good && reading == READING_DONE; i++) {
        const struct source *source = &sources.list[i];
        bool is_known = false;
        char stamp[256];
        if (identifier != NULL && !is_of(identifier, source->key)) continue;
        take_stamp(source, stamp);
        int64_t number = note_source(library, source, i, stamp, &is_known);
        is_good = number != 0;
        if (!is_good || is_known) continue;
        reading = read_source(library, source, number, stamp, work);
        /* The other sources are still readable. */
        if (reading == READING_LATER || reading == READING_USELESS) reading = READING_DONE;
        if (!work->goes_on(work->context, i + 1, sources.count)) reading = READING_CANCELLED;
    }
    if (identifier == NULL && is_good && reading == READING_DONE && !sources.is_incomplete)
        is_good = execute(library, "DELETE FROM bookmark WHERE source IN (SELECT id FROM source WHERE seen = 0);"
                                   "DELETE FROM source WHERE seen = 0");
    if (identifier == NULL && is_good && reading == READING_DONE) is_good = note_exported(library);
    sources_free(&sources);
    if (!is_good) {
        problem_set(problem, "the list of bookmarks cannot be kept: %s", sqlite3_errmsg(library->database));
        return READING_LATER;
    }
    if (identifier == NULL && reading == READING_DONE) library->is_filled = true;
    return reading;
}

/* ---- Giving them out ------------------------------------------------------------------------- */

/* CROSS makes SQLite scan the identifiers in order, instead of sorting all rows for each page. */
#define COLUMNS                                                                                                      \
    "SELECT b.id, s.key, s.name, b.url, b.title, b.description, b.keyword, b.folder, b.tags, b.added, b.modified,"   \
    " b.visited, b.visits FROM bookmark b CROSS JOIN source s ON s.id = b.source WHERE "
/* Leaves out a bookmark if an earlier source has the same URL and title, and its own tags, keyword
 * and description are empty or the same there. */
#define SHOWN                                                                                                        \
    " NOT EXISTS (SELECT 1 FROM bookmark o JOIN source t ON t.id = o.source WHERE o.twin = b.twin"                   \
    " AND t.rank < s.rank AND o.url = b.url AND o.title = b.title AND b.tags IN ('', o.tags)"                        \
    " AND b.keyword IN ('', o.keyword) AND b.description IN ('', o.description))"

static bool hand_out(sqlite3_stmt *statement, entry_taker take, void *context) {
    const char *text[9];
    for (int i = 0; i < 9; i++) {
        text[i] = (const char *)sqlite3_column_text(statement, i);
        if (text[i] == NULL) text[i] = "";
    }
    struct entry entry = {.identifier = text[0], .key = text[1], .source = text[2], .url = text[3], .title = text[4],
                          .description = text[5], .keyword = text[6], .folder = text[7], .tags = text[8],
                          .added = sqlite3_column_double(statement, 9), .modified = sqlite3_column_double(statement, 10),
                          .visited = sqlite3_column_double(statement, 11), .visits = sqlite3_column_int64(statement, 12)};
    return take(context, &entry);
}

bool library_find(struct library *library, const char *identifier, bool shown, entry_taker take, void *context) {
    if (library->database == NULL) return false;
    sqlite3_stmt *statement =
        prepare(library, shown ? COLUMNS "b.id = ?1 AND" SHOWN : COLUMNS "b.id = ?1", identifier, NULL);
    bool is_there = statement != NULL && sqlite3_step(statement) == SQLITE_ROW;
    if (is_there) hand_out(statement, take, context);
    sqlite3_finalize(statement);
    return is_there;
}

bool library_sources(struct library *library, source_taker take, void *context) {
    sqlite3_stmt *statement = prepare(library, "SELECT key FROM source WHERE is_whole = 1 AND seen = 1", NULL, NULL);
    int result = SQLITE_ERROR;
    while (statement != NULL && (result = sqlite3_step(statement)) == SQLITE_ROW)
        if (!take(context, (const char *)sqlite3_column_text(statement, 0))) break;
    sqlite3_finalize(statement);
    return result == SQLITE_ROW || result == SQLITE_DONE;
}

bool library_list(struct library *library, const char *after, entry_taker take, void *context) {
    if (library->database == NULL) return false;
    sqlite3_stmt *statement = prepare(library, COLUMNS "b.id > ?1 AND" SHOWN " ORDER BY b.id", after, NULL);
    int result = SQLITE_ERROR;
    while (statement != NULL && (result = sqlite3_step(statement)) == SQLITE_ROW)
        if (!hand_out(statement, take, context)) break;
    sqlite3_finalize(statement);
    return result == SQLITE_ROW || result == SQLITE_DONE;
}

bool library_omissions(struct library *library, omission_taker take, void *context) {
    if (*library->misnamed.text != 0) take(context, library->misnamed.text, "entries of the settings that name no folder");
    if (library->left_out > 0) take(context, "files and profiles", "more than are read from a folder");
    sqlite3_stmt *list = prepare(library, "SELECT path, omission FROM source WHERE omission <> '' ORDER BY rank", NULL, NULL);
    int step = SQLITE_DONE;
    while (list != NULL && (step = sqlite3_step(list)) == SQLITE_ROW)
        take(context, (const char *)sqlite3_column_text(list, 0), (const char *)sqlite3_column_text(list, 1));
    sqlite3_finalize(list);
    return list != NULL && step == SQLITE_DONE;
}
