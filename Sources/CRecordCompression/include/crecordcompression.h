/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form in which the records of items are kept in a database, and two functions of SQL between it and the records:
 *
 *   stored_record(record)  a record as it is kept: compressed where that saves an eighth, else as it is
 *   plain_record(stored)   what was given to the other
 *
 * A compressed record is the byte 'z', the number of the form, the length of the record as three bytes, the least significant
 * first, and the compressed bytes. Form 2 is a frame of zstd (RFC 8878) without its magic number. Form 1, raw deflate, is
 * read and no longer written: format 4 of the store has it. No record begins with a 'z'. What cannot be decompressed, and
 * what is no blob, is handed back as it is: it is no record, and those who read records find that out.
 */
#ifndef SEARCHLIGHT_CRECORDCOMPRESSION_H
#define SEARCHLIGHT_CRECORDCOMPRESSION_H

struct sqlite3;

/* The longest record that is compressed: a larger one would take a transaction too long. */
enum { CRECORDCOMPRESSION_MAXIMUM = 1 << 20 };

/*
 * Makes both functions known to a connection, which keeps the memory that they work with. Returns a result code of SQLite.
 * On the connection's thread.
 */
int crecordcompression_register(struct sqlite3 *connection);

#endif
