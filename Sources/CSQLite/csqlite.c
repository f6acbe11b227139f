/* SPDX-License-Identifier: Apache-2.0 */
#include "csqlite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The library's functions. Each has the type that the header declares. */
#define FUNCTIONS(use)                                                                                              \
    use(open_v2) use(close_v2) use(prepare_v3) use(finalize) use(step) use(reset) use(errmsg) use(extended_errcode)  \
    use(set_authorizer) use(progress_handler) use(limit) use(db_config) use(bind_text) use(bind_int64)               \
    use(bind_parameter_index) use(column_count) use(column_name) use(column_type) use(column_int64)                  \
    use(column_double) use(column_text) use(column_blob) use(column_bytes) use(libversion_number) use(exec)          \
    use(stmt_readonly) use(db_handle) use(table_column_metadata)

#define DECLARE(name) __typeof__(sqlite3_##name) *name;
static struct {
    FUNCTIONS(DECLARE)
    /* Absent in old versions. */
    __typeof__(sqlite3_hard_heap_limit64) *hard_heap_limit64;
} sqlite;

enum { OLDEST = 3031000, INSTRUCTIONS = 20000, HEAP_BYTES = 256 << 20 };

static char load_problem[512];

static void load(void) {
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(load_problem, sizeof load_problem, "libsqlite3.so.0 cannot be opened: %s",
                 reason == NULL ? "unknown reason" : reason);
        return;
    }
#define FIND(name)                                                                                                   \
    sqlite.name = (__typeof__(sqlite.name))dlsym(library, "sqlite3_" #name);                                         \
    if (sqlite.name == NULL && load_problem[0] == 0)                                                                 \
        snprintf(load_problem, sizeof load_problem, "libsqlite3.so.0 has no sqlite3_" #name);
    FUNCTIONS(FIND)
    sqlite.hard_heap_limit64 = (__typeof__(sqlite.hard_heap_limit64))dlsym(library, "sqlite3_hard_heap_limit64");
    if (load_problem[0] == 0 && sqlite.libversion_number() < OLDEST)
        snprintf(load_problem, sizeof load_problem, "libsqlite3.so.0 is older than 3.31");
    if (load_problem[0] == 0 && sqlite.hard_heap_limit64 != NULL) sqlite.hard_heap_limit64(HEAP_BYTES);
}

const char *csqlite_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return load_problem[0] == 0 ? NULL : load_problem;
}

struct csqlite_connection {
    sqlite3 *database;
    csqlite_goes_on goes_on;
    void *context;
    /* The last action that the authorizer denied. */
    char denied[256];
};

struct csqlite_statement {
    sqlite3_stmt *statement;
};

/* Functions without side effects whose results depend only on their arguments and possibly the
 * clock. */
static const char *const allowed_functions[] = {
    "->", "->>", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "avg", "bm25", "ceil", "ceiling",
    "char", "coalesce", "concat", "concat_ws", "cos", "cosh", "count", "cume_dist", "date", "datetime",
    "degrees", "dense_rank", "exp", "first_value", "floor", "format", "glob", "group_concat", "hex", "highlight",
    "ifnull", "iif", "instr", "json", "json_array", "json_array_length", "json_each", "json_error_position",
    "json_extract", "json_group_array", "json_group_object", "json_object", "json_patch", "json_pretty", "json_quote",
    "json_remove", "json_replace", "json_set", "json_tree", "json_type", "json_valid", "julianday", "lag",
    "last_value", "lead", "length", "like", "likelihood", "likely", "ln", "log", "log10", "log2", "lower", "ltrim",
    "match", "max", "min", "mod", "nth_value", "ntile", "nullif", "octet_length", "percent_rank", "pi", "pow",
    "power", "printf", "quote", "radians", "rank", "replace", "round", "row_number", "rtrim", "sign", "sin", "sinh",
    "snippet", "sqrt", "strftime", "string_agg", "substr", "substring", "sum", "tan", "tanh", "time", "timediff",
    "total", "trim", "trunc", "typeof", "unhex", "unicode", "unixepoch", "unlikely", "upper",
};

static int compare_names(const void *name, const void *other) { return strcasecmp(name, *(const char *const *)other); }

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *trigger) {
    struct csqlite_connection *connection = context;
    (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_READ:
        if (database == NULL || strcmp(database, "main") == 0) return SQLITE_OK;
        break;
    case SQLITE_FUNCTION:
        if (second != NULL && bsearch(second, allowed_functions, sizeof allowed_functions / sizeof *allowed_functions,
                                      sizeof *allowed_functions, compare_names) != NULL)
            return SQLITE_OK;
        snprintf(connection->denied, sizeof connection->denied, "the function %s is not allowed in a SELECT",
                 second == NULL ? "" : second);
        return SQLITE_DENY;
    case SQLITE_UPDATE:
        /* SQLite requests this when it declares the columns of a virtual table, as for JSON and
         * FTS5. It writes nothing: the file is opened for reading, and csqlite_prepare rejects
         * statements that write. */
        if (first != NULL && strcmp(first, "sqlite_master") == 0) return SQLITE_OK;
        break;
    case SQLITE_PRAGMA:
        /* FTS5 requests this before it reads its tables. */
        if (first != NULL && second == NULL && strcmp(first, "data_version") == 0) return SQLITE_OK;
        break;
    default: break;
    }
    snprintf(connection->denied, sizeof connection->denied, "only reading tables of the database is allowed%s%s",
             first == NULL ? "" : ", not ", first == NULL ? "" : first);
    return SQLITE_DENY;
}

int csqlite_is_key(csqlite_connection *connection, const char *table, const char *column) {
    int key = 0;
    int code = sqlite.table_column_metadata(connection->database, "main", table, column, NULL, NULL, NULL, &key, NULL);
    return code == SQLITE_OK && key;
}

static int progress(void *context) {
    struct csqlite_connection *connection = context;
    return !connection->goes_on(connection->context);
}

/* Writes a path as part of a URI. Returns 0 if it does not fit. */
static int encode(const char *path, char *uri, size_t capacity) {
    static const char digits[] = "0123456789ABCDEF";
    size_t count = (size_t)snprintf(uri, capacity, "file:");
    for (const unsigned char *byte = (const unsigned char *)path; *byte != 0; byte++) {
        if (count + 32 > capacity) return 0;
        int is_plain = (*byte >= 'a' && *byte <= 'z') || (*byte >= 'A' && *byte <= 'Z') ||
                       (*byte >= '0' && *byte <= '9') || strchr("/._-", *byte) != NULL;
        if (is_plain) {
            uri[count++] = (char)*byte;
        } else {
            uri[count++] = '%';
            uri[count++] = digits[*byte >> 4];
            uri[count++] = digits[*byte & 15];
        }
    }
    return snprintf(uri + count, capacity - count, "?immutable=1") < (int)(capacity - count);
}

csqlite_connection *csqlite_open(const char *path, int value_bytes, csqlite_goes_on goes_on, void *context) {
    char uri[3 * 4096 + 64];
    struct csqlite_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL || csqlite_load() != NULL || !encode(path, uri, sizeof uri)) {
        free(connection);
        return NULL;
    }
    connection->goes_on = goes_on;
    connection->context = context;
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOMUTEX;
    if (sqlite.open_v2(uri, &connection->database, flags, NULL) != SQLITE_OK) {
        sqlite.close_v2(connection->database);
        free(connection);
        return NULL;
    }
    sqlite3 *database = connection->database;
    /* Prevents the file's schema from executing anything: triggers, extensions and unsafe
     * functions are disabled. */
    sqlite.db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite.db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite.db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite.db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    /* A misspelt column in double quotes is an error instead of a text. */
    sqlite.db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite.db_config(database, SQLITE_DBCONFIG_DQS_DDL, 1, NULL);
    const int limits[][2] = {
        {SQLITE_LIMIT_LENGTH, value_bytes},    {SQLITE_LIMIT_SQL_LENGTH, 64 << 10},
        {SQLITE_LIMIT_COLUMN, 256},            {SQLITE_LIMIT_EXPR_DEPTH, 200},
        {SQLITE_LIMIT_COMPOUND_SELECT, 20},    {SQLITE_LIMIT_VDBE_OP, 250000},
        {SQLITE_LIMIT_FUNCTION_ARG, 64},       {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 16},    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},       {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) sqlite.limit(database, limits[i][0], limits[i][1]);
    sqlite.progress_handler(database, INSTRUCTIONS, progress, connection);
    sqlite.exec(database, "PRAGMA cell_size_check=ON; PRAGMA cache_size=-8192; PRAGMA mmap_size=0", NULL, NULL, NULL);
    sqlite.set_authorizer(database, authorize, connection);
    return connection;
}

void csqlite_close(csqlite_connection *connection) {
    if (connection == NULL) return;
    sqlite.close_v2(connection->database);
    free(connection);
}

csqlite_statement *csqlite_prepare(csqlite_connection *connection, const char *text, int length) {
    struct csqlite_statement *statement = calloc(1, sizeof *statement);
    connection->denied[0] = 0;
    if (statement == NULL) return NULL;
    int result = sqlite.prepare_v3(connection->database, text, length, 0, &statement->statement, NULL);
    int reads = result == SQLITE_OK && statement->statement != NULL && sqlite.stmt_readonly(statement->statement);
    if (!reads) {
        if (result == SQLITE_OK)
            snprintf(connection->denied, sizeof connection->denied, "it is no statement that reads");
        sqlite.finalize(statement->statement);
        free(statement);
        return NULL;
    }
    return statement;
}

void csqlite_finish(csqlite_statement *statement) {
    if (statement == NULL) return;
    sqlite.finalize(statement->statement);
    free(statement);
}

const char *csqlite_problem(csqlite_connection *connection) {
    return connection->denied[0] != 0 ? connection->denied : sqlite.errmsg(connection->database);
}

int csqlite_code(csqlite_connection *connection) { return sqlite.extended_errcode(connection->database) & 0xFF; }

void csqlite_bind_text(csqlite_statement *statement, const char *name, const char *text, int length) {
    int index = sqlite.bind_parameter_index(statement->statement, name);
    if (index > 0) sqlite.bind_text(statement->statement, index, text, length, SQLITE_TRANSIENT);
}

void csqlite_bind_integer(csqlite_statement *statement, const char *name, int64_t number) {
    int index = sqlite.bind_parameter_index(statement->statement, name);
    if (index > 0) sqlite.bind_int64(statement->statement, index, number);
}

int csqlite_step(csqlite_statement *statement) {
    int result = sqlite.step(statement->statement);
    return result == SQLITE_ROW ? 1 : result == SQLITE_DONE ? 0 : -1;
}

void csqlite_reset(csqlite_statement *statement) { sqlite.reset(statement->statement); }

int csqlite_column_count(csqlite_statement *statement) { return sqlite.column_count(statement->statement); }

const char *csqlite_column_name(csqlite_statement *statement, int column) {
    const char *name = sqlite.column_name(statement->statement, column);
    return name == NULL ? "" : name;
}

struct csqlite_value csqlite_column(csqlite_statement *statement, int column) {
    struct csqlite_value value = {csqlite_null, 0, 0, NULL, 0};
    sqlite3_stmt *row = statement->statement;
    switch (sqlite.column_type(row, column)) {
    case SQLITE_INTEGER:
        value.type = csqlite_integer;
        value.integer = sqlite.column_int64(row, column);
        break;
    case SQLITE_FLOAT:
        value.type = csqlite_real;
        value.real = sqlite.column_double(row, column);
        break;
    case SQLITE_TEXT:
        value.type = csqlite_text;
        value.bytes = sqlite.column_text(row, column);
        value.length = sqlite.column_bytes(row, column);
        break;
    case SQLITE_BLOB:
        value.type = csqlite_blob;
        value.bytes = sqlite.column_blob(row, column);
        value.length = sqlite.column_bytes(row, column);
        break;
    default: break;
    }
    return value;
}
