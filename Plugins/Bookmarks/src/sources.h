/* SPDX-License-Identifier: Apache-2.0 */
/* sources.h: finds the files with bookmarks on this machine. */
#ifndef SOURCES_H
#define SOURCES_H

#include "bookmarks.h"

/* The maximum numbers of all files, and of the files or profiles of one folder. */
enum { MAX_SOURCES = 256, MAX_FOLDERS = 64 };

/* The exported files that had bookmarks at the last reading, each by a hash of its key. If such
 * a file is empty or another kind of file now, its bookmarks stay. Further files are not
 * remembered. */
enum { MAX_EXPORTED = 31 };
struct exported {
    uint64_t hashes[MAX_EXPORTED];
    size_t count;
};
bool exported_has(const struct exported *exported, uint64_t hash);

typedef enum reading (*source_reader)(const char *path, struct work *work, bookmark_taker take, void *context,
                                      struct problem *problem);

/* A file with bookmarks. It owns its texts. */
struct source {
    char *key;  /* stable, e.g. "firefox/x1y2.default"; the prefix of its bookmarks' identifiers */
    char *name; /* for users, e.g. "Firefox" */
    char *path;
    source_reader read;
};

/* All sources, in order of precedence. Of a bookmark in several sources, only the first is
 * shown. */
struct sources {
    struct source *list;
    size_t count;
    /* True if there may be further sources; `problem` says why. */
    bool is_incomplete;
    struct problem problem;
    /* The user's list and its lines that lead to no folder, as written; "" if there are none. */
    struct problem misnamed;
    size_t left_out; /* files and profiles left out, in folders that have too many */
};

/* Finds the sources. It opens only settings and possible exported files, which it recognizes by
 * their first bytes. `exported`: the files that had bookmarks. Returns false if memory is short.
 * Call sources_free in any case. */
bool sources_find(struct sources *sources, const struct exported *exported);
/* Returns true if a file with that path may be a source or a setting that names sources. */
bool sources_concern(const char *path);
void sources_free(struct sources *sources);

#endif
