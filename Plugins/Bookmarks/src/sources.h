/* SPDX-License-Identifier: Apache-2.0 */
/* sources.h: finds the files on this machine that contain bookmarks. */
#ifndef SOURCES_H
#define SOURCES_H

#include "bookmarks.h"

/* The maximum number of files in total, and of files or profiles in one folder. */
enum { MAX_SOURCES = 256, MAX_FOLDERS = 64 };

/* The exported files that contained bookmarks when they were last read, each as a hash of its
 * key. If such a file is now empty or has a different kind, its bookmarks are kept. Additional
 * files are not recorded. */
enum { MAX_EXPORTED = 31 };
struct exported {
    uint64_t hashes[MAX_EXPORTED];
    size_t count;
};
bool exported_has(const struct exported *exported, uint64_t hash);

typedef enum reading (*source_reader)(const char *path, struct work *work, bookmark_taker take, void *context,
                                      struct problem *problem);

/* A file that contains bookmarks. It owns its texts. */
struct source {
    char *key;  /* stable, e.g. "firefox/x1y2.default"; the prefix of its bookmarks' identifiers */
    char *name; /* for users, e.g. "Firefox" */
    char *path;
    source_reader read;
};

/* All sources, in order of precedence. If a bookmark is in several sources, only the first is
 * shown. */
struct sources {
    struct source *list;
    size_t count;
    /* True if further sources may exist; `problem` explains why. */
    bool is_incomplete;
    struct problem problem;
    /* The user's list, and its lines that lead to no folder, as written; "" if there are none. */
    struct problem misnamed;
    size_t left_out; /* files and profiles left out because their folders have too many */
};

/* Finds the sources. Opens only settings and possible exported files, which it recognizes by their
 * first bytes. `exported` contains the files that had bookmarks. Returns false if memory runs out.
 * Call sources_free in any case. */
bool sources_find(struct sources *sources, const struct exported *exported);
/* Returns true if a file at this path may be a source, or a setting that names sources. */
bool sources_concern(const char *path);
void sources_free(struct sources *sources);

#endif
