/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bookmarks.h: what the parts of this extension have in common: a bookmark as a reader finds it, how a reading ends, and the
 * work that a reading is part of.
 */
#ifndef BOOKMARKS_H
#define BOOKMARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of what is kept, in bytes where nothing else is said. Longer texts are cut, longer addresses left out. */
enum {
    MAX_URL = 8192,
    MAX_TITLE = 1024,
    MAX_DESCRIPTION = 4096,
    MAX_KEYWORD = 256,
    MAX_FOLDER = 2048, /* a folder's whole path; what is deeper counts as being in the last one that fits */
    MAX_TAGS = 4096,   /* all tags of one bookmark */
    MAX_TAG_COUNT = 64,
    MAX_LOCAL = 200,    /* a bookmark's name within its source */
    MAX_KEY = 600,      /* a source's name */
    MAX_BOOKMARKS = 1000000, /* of one source */
    MAX_PROBLEM = 1024
};

/* A bookmark as it stands in its source: nothing is checked, all texts may be cut or broken. Borrowed for a call. */
struct slice {
    const char *bytes; /* may be NULL if length is 0 */
    size_t length;
};
struct bookmark {
    struct slice local; /* its name in the source; empty: made from address and folder */
    struct slice url;
    struct slice title;
    struct slice page_title; /* what the page calls itself, for want of a title */
    struct slice description;
    struct slice keyword;
    struct slice folder; /* the folders it is in, outer ones first, '\n' between them */
    struct slice tags;   /* '\n' between them */
    double added, modified, visited; /* seconds since 1970; 0: not known */
    int64_t visits;                  /* -1: not known */
};

/* How reading a source ended. */
enum reading {
    READING_DONE,
    READING_GONE,     /* it is not there (any more) */
    READING_FOREIGN,  /* it is something else, in which there never were bookmarks */
    READING_USELESS,  /* nothing is known of what is in it, and waiting does not help: damaged, or too large */
    READING_LATER,    /* it cannot be read now; nothing is known of what is in it */
    READING_CANCELLED /* nobody waits any more, or the taker wants no more */
};

/* Why, in words; empty if there is nothing to say. */
struct problem {
    char text[MAX_PROBLEM];
};
void problem_set(struct problem *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Takes a bookmark; false to end the reading. */
typedef bool (*bookmark_taker)(void *context, const struct bookmark *bookmark);

/* The request that something is done for. */
struct work {
    void *context;
    /* Says how far it is (total: 0 if that is not known), and asks whether anybody still waits. */
    bool (*goes_on)(void *context, uint64_t completed, uint64_t total);
    unsigned steps;
};
/* Asks now and then; to be called with every small step. */
bool work_step(struct work *work, uint64_t completed, uint64_t total);

/* The readers. path: absolute. */
enum reading firefox_read(const char *path, struct work *work, bookmark_taker take, void *context,
                          struct problem *problem);
enum reading chromium_read(const char *path, struct work *work, bookmark_taker take, void *context,
                           struct problem *problem);
enum reading netscape_read(const char *path, struct work *work, bookmark_taker take, void *context,
                           struct problem *problem);
enum reading backup_read(const char *path, struct work *work, bookmark_taker take, void *context,
                         struct problem *problem);

/* Whether a file that begins so is one for the reader of exported pages, or of Firefox's backups. */
bool netscape_recognizes(const char *head, size_t length);
bool backup_recognizes(const char *head, size_t length);

#endif
