/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h: all bookmarks from all sources in one format, in a temporary database of this process.
 * The first request fills it, and each request updates the changed sources, so a page, a promise or
 * a preview costs only a check of the sources' dates and a query. Memory use does not depend on the
 * number of bookmarks.
 *
 * Only one thread may use the library at a time: call everything except library_create between lock
 * and unlock.
 */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "sources.h"

struct library;

/* Prints a line for the user to the extension's log. */
typedef void (*library_voice)(void *context, const char *line);

/* Creates the empty library of the process. Returns NULL if memory runs out. Opens no files yet. */
struct library *library_create(library_voice say, void *context);
void library_destroy(struct library *library);

/* Waits for the lock. Returns false if the work was cancelled. */
bool library_lock(struct library *library, struct work *work);
void library_unlock(struct library *library);

/* Updates all sources, or the source that an identifier names. Returns READING_DONE; READING_LATER
 * if the library itself is unusable; or READING_CANCELLED. A source that cannot be read keeps its
 * earlier bookmarks; see library_missing. */
enum reading library_refresh(struct library *library, struct work *work, const char *identifier, struct problem *problem);

/* The known exported files: from an earlier worker (set before the first refresh), and from the
 * last refresh. */
void library_remember(struct library *library, const struct exported *exported);
const struct exported *library_exported(const struct library *library);

/* Returns true if everything has been read before, so that a paged reindex can continue with the
 * same state. */
bool library_is_filled(const struct library *library);

/* Calls `take` with the key of each source whose bookmarks are all in the library. Returns false on
 * failure. */
typedef bool (*source_taker)(void *context, const char *key);
bool library_sources(struct library *library, source_taker take, void *context);

/* Returns the reason why bookmarks may be missing: a source that the last refresh could not read;
 * NULL if there is none. */
const char *library_missing(const struct library *library);

/* Calls `take` with the name and reason of everything that the library leaves out. Returns false on
 * failure. */
typedef void (*omission_taker)(void *context, const char *name, const char *reason);
bool library_omissions(struct library *library, omission_taker take, void *context);

/* A bookmark. Its texts are single lines of valid UTF-8 or "", and are valid only during a call. */
struct entry {
    const char *identifier, *key, *source, *url, *title, *description, *keyword;
    const char *folder, *tags; /* parts separated by '\n' */
    double added, modified, visited;
    int64_t visits;
};
typedef bool (*entry_taker)(void *context, const struct entry *entry);

/* Looks up a bookmark. If it exists, calls `take` with it and returns true. With `shown`, skips a
 * bookmark that an earlier source hides because it contains the same one. */
bool library_find(struct library *library, const char *identifier, bool shown, entry_taker take, void *context);

/* Calls `take` with the shown bookmarks after `after` ("": from the beginning), sorted by
 * identifier, until it returns false. Returns false if the library could not be read completely. */
bool library_list(struct library *library, const char *after, entry_taker take, void *context);

#endif
