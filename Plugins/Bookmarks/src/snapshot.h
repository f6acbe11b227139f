/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h: makes a private copy of an SQLite database that another program may be writing.
 *
 * A copy is necessary because Firefox locks places.sqlite while it runs, and its latest changes are
 * in the write-ahead log. SQLite reads the log only with an index file that it creates next to the
 * database, and a confined worker cannot create files there. Opening the original as immutable
 * would ignore the log and could mix pages from two versions.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "bookmarks.h"

/* The maximum sizes of the database and the log, in bytes. */
#define SNAPSHOT_MAX_DATABASE (INT64_C(1) << 30)
#define SNAPSHOT_MAX_LOG (INT64_C(256) << 20)

struct sqlite3;

/* Copies the database at a path to the temporary folder, applies its log, and opens the copy for
 * reading. The caller closes `database` with sqlite3_close. The copy's file name has already been
 * removed. */
enum reading snapshot_open(const char *path, struct work *work, struct sqlite3 **database, struct problem *problem);

/* Opens a file for reading. The path may contain links, but must lead to a regular file of at most
 * `maximum` bytes. Returns a descriptor that the caller closes, or -1 with the reason in `reading`
 * and `problem`. */
int snapshot_open_file(const char *path, int64_t maximum, int64_t *size, enum reading *reading, struct problem *problem);

#endif
