/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h: a private copy of an SQLite database that another program may be writing to.
 *
 * Why a copy: Firefox holds places.sqlite locked as long as it runs, and what it wrote last is in the write-ahead log, which
 * SQLite can only read together with an index that it makes beside the database; a confined worker cannot make files there,
 * and must not. Opening the original as immutable would skip the log and could meet pages of two versions.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "bookmarks.h"

/* The largest database and log that are copied, in bytes. */
#define SNAPSHOT_MAX_DATABASE (INT64_C(1) << 30)
#define SNAPSHOT_MAX_LOG (INT64_C(256) << 20)

struct sqlite3;

/* Copies the database at a path into the temporary folder, with what its log holds applied, and opens the copy to be read.
 * The caller closes `database` with sqlite3_close; the copy is gone by then. */
enum reading snapshot_open(const char *path, struct work *work, struct sqlite3 **database, struct problem *problem);

/* Opens a file to be read; it may be reached through links, but must be an ordinary file of at most so many bytes. Returns
 * a descriptor that the caller closes, or -1 with the reason in `reading` and `problem`. */
int snapshot_open_file(const char *path, int64_t maximum, int64_t *size, enum reading *reading, struct problem *problem);

#endif
