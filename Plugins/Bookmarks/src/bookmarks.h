/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bookmarks.h: declarations that all parts of this extension share: a bookmark in its source, the
 * outcome of reading a source, and the work that a read belongs to.
 */
#ifndef BOOKMARKS_H
#define BOOKMARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits, in bytes unless stated otherwise. Longer texts are cut. Bookmarks with longer URLs are
 * left out. */
enum {
    MAX_URL = 8192,
    MAX_TITLE = 1024,
    MAX_DESCRIPTION = 4096,
    MAX_KEYWORD = 256,
    MAX_FOLDER = 2048, /* a folder's whole path; a longer path is cut */
    MAX_TAGS = 4096,   /* all tags of one bookmark */
    MAX_TAG_COUNT = 64,
    MAX_LOCAL = 200,    /* a bookmark's identifier within its source */
    MAX_KEY = 600,      /* a source's key */
    MAX_BOOKMARKS = 1000000, /* in one source */
    MAX_PROBLEM = 1024
};

/* A bookmark as found in its source. Nothing has been checked, and any text may be cut or
 * malformed. Valid only during a call. */
struct slice {
    const char *bytes; /* may be NULL if length is 0 */
    size_t length;
};
struct bookmark {
    struct slice local; /* its identifier in the source; if empty, derived from URL and folder */
    struct slice url;
    struct slice title;
    struct slice page_title; /* the page's title, for a bookmark without one */
    struct slice description;
    struct slice keyword;
    struct slice folder; /* its folders, outermost first, separated by '\n' */
    struct slice tags;   /* separated by '\n' */
    double added, modified, visited; /* seconds since 1970; 0: unknown */
    int64_t visits;                  /* -1: unknown */
};

/* The outcome of reading a source. */
enum reading {
    READING_DONE,
    READING_GONE,     /* the file does not exist, or no longer exists */
    READING_FOREIGN,  /* the file has a different kind and never contained bookmarks */
    READING_USELESS,  /* the file is damaged or too large; its bookmarks are unknown */
    READING_LATER,    /* the file cannot be read now; its bookmarks are unknown */
    READING_CANCELLED /* the request was cancelled, or the taker returned false */
};

/* The reason as text; empty if there is none. */
struct problem {
    char text[MAX_PROBLEM];
};
void problem_set(struct problem *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Receives a bookmark. Returns false to stop reading. */
typedef bool (*bookmark_taker)(void *context, const struct bookmark *bookmark);

/* The request that some work belongs to. */
struct work {
    void *context;
    /* Reports progress (total: 0 if unknown). Returns false if the request was cancelled. */
    bool (*goes_on)(void *context, uint64_t completed, uint64_t total);
    unsigned steps;
};
/* Calls `goes_on` at intervals. Call this in every small step. */
bool work_step(struct work *work, uint64_t completed, uint64_t total);

/* The readers. `path` is absolute. */
enum reading firefox_read(const char *path, struct work *work, bookmark_taker take, void *context,
                          struct problem *problem);
enum reading chromium_read(const char *path, struct work *work, bookmark_taker take, void *context,
                           struct problem *problem);
enum reading netscape_read(const char *path, struct work *work, bookmark_taker take, void *context,
                           struct problem *problem);
enum reading backup_read(const char *path, struct work *work, bookmark_taker take, void *context,
                         struct problem *problem);

/* Returns true if a file that begins with these bytes is an exported page or a Firefox backup. */
bool netscape_recognizes(const char *head, size_t length);
bool backup_recognizes(const char *head, size_t length);

#endif
