/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite for a worker that reads another program's database.
 *
 * The system's library is opened on first use, and its symbols stay local. Other workers do not pay
 * for it, and an extension with its own SQLite is not affected.
 *
 * A connection can only read. The authorizer allows SELECT statements on tables and views in this
 * database, and functions without side effects. It denies ATTACH, PRAGMA, writes, extensions and
 * everything else. Values, statements and memory are limited.
 *
 * A connection and its statements may be used by only one thread at a time.
 */
#ifndef SEARCHLIGHT_CSQLITE_H
#define SEARCHLIGHT_CSQLITE_H

#include <stddef.h>
#include <stdint.h>

typedef struct csqlite_connection csqlite_connection;
typedef struct csqlite_statement csqlite_statement;

/* Called every 20,000 instructions of a statement. Returns 0 to stop the statement. */
typedef int (*csqlite_goes_on)(void *context);

/* Opens the library. Returns NULL, or the reason why it cannot be used, which remains valid. */
const char *csqlite_load(void);

/*
 * Opens a database file for reading that no other process writes (immutable). value_bytes is the
 * maximum size of a value. Returns NULL if memory runs out or the file cannot be opened.
 */
csqlite_connection *csqlite_open(const char *path, int value_bytes, csqlite_goes_on goes_on, void *context);

/* Closes a connection and its statements. */
void csqlite_close(csqlite_connection *connection);

/* Prepares the single statement in a text. Returns NULL if the text is not suitable; see
 * csqlite_problem. */
csqlite_statement *csqlite_prepare(csqlite_connection *connection, const char *text, int length);
void csqlite_finish(csqlite_statement *statement);

/*
 * Returns the reason for the last failure, which is valid until the next call. It names what the
 * authorizer denied. csqlite_code returns SQLite's result code.
 */
const char *csqlite_problem(csqlite_connection *connection);
int csqlite_code(csqlite_connection *connection);

/* Returns 1 if a column is in the declared primary key of a table, and 0 otherwise. */
int csqlite_is_key(csqlite_connection *connection, const char *table, const char *column);

/* Bind a value to a parameter such as ":key", if the statement has it. Text is copied. */
void csqlite_bind_text(csqlite_statement *statement, const char *name, const char *text, int length);
void csqlite_bind_integer(csqlite_statement *statement, const char *name, int64_t number);

/* Returns 1 for a row, 0 at the end, and -1 on failure. */
int csqlite_step(csqlite_statement *statement);
/* Restarts the statement with the same parameter values. */
void csqlite_reset(csqlite_statement *statement);

int csqlite_column_count(csqlite_statement *statement);
/* Returns the name of a column; never NULL. */
const char *csqlite_column_name(csqlite_statement *statement, int column);

enum csqlite_type { csqlite_null, csqlite_integer, csqlite_real, csqlite_text, csqlite_blob };

/* A value in the current row. The bytes are valid until the next step. */
struct csqlite_value {
    enum csqlite_type type;
    int64_t integer;
    double real;
    const uint8_t *bytes;
    int length;
};
struct csqlite_value csqlite_column(csqlite_statement *statement, int column);

#endif
