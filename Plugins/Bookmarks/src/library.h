/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h: all bookmarks of all sources in one form, in a temporary database of this process's own. It is filled when it is
 * first asked and brought up to date source by source, so that a page, a promise or a preview costs a look at the sources'
 * dates and a query, and memory does not depend on how many bookmarks there are.
 *
 * One thread at a time: everything but create happens between lock and unlock.
 */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "sources.h"

struct library;

/* Says something to the person who looks after the extension. */
typedef void (*library_voice)(void *context, const char *line);

/* An empty library, of which there is one for as long as the process lives. NULL: no memory. Nothing is opened yet. */
struct library *library_create(library_voice say, void *context);
void library_destroy(struct library *library);

/* Waits for its turn; false if nobody waits for the work any more. */
bool library_lock(struct library *library, struct work *work);
void library_unlock(struct library *library);

/* Brings everything, or the one source that an identifier names, up to date. READING_DONE; READING_LATER if the library
 * itself cannot be had; READING_CANCELLED. Sources that cannot be read keep what was known of them: see library_missing. */
enum reading library_refresh(struct library *library, struct work *work, const char *identifier, struct problem *problem);

/* What is known of exported files: from before this worker (to be told before the first refresh), and since the last one. */
void library_remember(struct library *library, const struct exported *exported);
const struct exported *library_exported(const struct library *library);

/* Whether everything was brought up to date before, so that a reindex in pages can go on with it as it is. */
bool library_is_filled(const struct library *library);

/* Calls `take` with the key of each source of which the library has what the file has; false if that cannot be said. */
typedef bool (*source_taker)(void *context, const char *key);
bool library_sources(struct library *library, source_taker take, void *context);

/* Why something may be missing: a source that could not be read at the last refresh; NULL if nothing is. */
const char *library_missing(const struct library *library);

/* A bookmark, all of it borrowed for a call. Texts are single lines of valid UTF-8, "" if there is none. */
struct entry {
    const char *identifier, *key, *source, *url, *title, *description, *keyword;
    const char *folder, *tags; /* '\n' between the parts */
    double added, modified, visited;
    int64_t visits;
};
typedef bool (*entry_taker)(void *context, const struct entry *entry);

/* Looks one up; calls `take` with it and returns true if it is there. `shown`: only if it is not hidden behind the same
 * bookmark of a source that counts first. */
bool library_find(struct library *library, const char *identifier, bool shown, entry_taker take, void *context);

/* Calls `take` with those that are shown, by identifier, behind `after` ("": from the beginning), until it returns false.
 * False if the library could not be read to its end. */
bool library_list(struct library *library, const char *after, entry_taker take, void *context);

#endif
