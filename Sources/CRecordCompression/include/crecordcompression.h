/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The storage format for item records in a database, and two SQL functions that convert it:
 *
 *   stored_record(record)  the stored form: compressed if that saves an eighth, else unchanged
 *   plain_record(stored)   the record of a stored form
 *
 * A compressed record consists of the byte 'z', the form number, the record length (3 bytes,
 * little-endian), and the compressed bytes. Form 2 is a zstd frame (RFC 8878) without its magic
 * number. Form 1 is raw deflate, from stores in format 4; it is still read but no longer written.
 * No uncompressed record begins with a 'z'. Both functions return a value unchanged if it is not a
 * blob. plain_record also returns a blob unchanged if it cannot be decompressed; the reader detects
 * that it is not a record.
 */
#ifndef SEARCHLIGHT_CRECORDCOMPRESSION_H
#define SEARCHLIGHT_CRECORDCOMPRESSION_H

struct sqlite3;

/* The maximum length of a record that is compressed; a longer one would delay a transaction too
 * much. */
enum { CRECORDCOMPRESSION_MAXIMUM = 1 << 20 };

/*
 * Registers both functions with a connection, which owns their memory. Returns an SQLite result
 * code. Call this on the connection's thread.
 */
int crecordcompression_register(struct sqlite3 *connection);

#endif
