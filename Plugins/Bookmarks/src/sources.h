/* SPDX-License-Identifier: Apache-2.0 */
/* sources.h: where on this machine there are bookmarks. */
#ifndef SOURCES_H
#define SOURCES_H

#include "bookmarks.h"

/* Of all files, and of the files or profiles of one folder. */
enum { MAX_SOURCES = 256, MAX_FOLDERS = 64 };

/* The exported files that had bookmarks at the last reading, each by a hash of its key. If such a
 * file is empty or another kind of file now, its bookmarks stay. Further files are not remembered. */
enum { MAX_EXPORTED = 31 };
struct exported {
    uint64_t hashes[MAX_EXPORTED];
    size_t count;
};
bool exported_has(const struct exported *exported, uint64_t hash);

typedef enum reading (*source_reader)(const char *path, struct work *work, bookmark_taker take, void *context,
                                      struct problem *problem);

/* A file with bookmarks. Its texts are its own. */
struct source {
    char *key;  /* the same each time, e.g. "firefox/x1y2.default"; begins the identifiers of its bookmarks */
    char *name; /* for people, e.g. "Firefox" */
    char *path;
    source_reader read;
};

/* All of them, those that count first in front: of a bookmark that is in several, only the first is shown. */
struct sources {
    struct source *list;
    size_t count;
    /* Whether it could not be found out whether there are more; `problem` says why. */
    bool is_incomplete;
    struct problem problem;
    /* The person's list and those of its lines that lead to no folder, as they stand there; "" if there are none. */
    struct problem misnamed;
    size_t left_out; /* files and profiles, of folders that have too many */
};

/* Looks for them: nothing is opened but settings, and what may be an exported file, whose beginning tells. `exported`: files
 * that were. False if memory is short. End with sources_free in any case. */
bool sources_find(struct sources *sources, const struct exported *exported);
/* Whether a file of that path may be one of them, or say where they are. */
bool sources_concern(const char *path);
void sources_free(struct sources *sources);

#endif
