/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h: small text files that say where things are: profiles.ini, user-dirs.dirs, the person's own list of folders. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "bookmarks.h"

/* Reads a small file as text, which the caller frees; NULL with the reason in `reading` and `problem`. */
char *settings_read(const char *path, enum reading *reading, struct problem *problem);

/* Takes the next line of a text: its beginning, NUL-terminated and without spaces around it; NULL at the end. Changes the
 * text. */
char *settings_line(char **text);

/* A profile of profiles.ini. Borrowed from the text. */
struct profile {
    const char *path, *name;
    bool is_relative, is_default;
};
enum { MAX_PROFILES = 64 };

/* The profiles that a profiles.ini names, those that Firefox starts with first. Changes the text. Returns their number. */
size_t settings_profiles(char *text, struct profile profiles[MAX_PROFILES]);

/* A folder as user-dirs.dirs names it ("XDG_DOCUMENTS_DIR"), without a slash at its end, which the caller frees; NULL if it
 * names none. */
char *settings_folder(const char *text, const char *name, const char *home);

/* "FOLDER/NAME", which the caller frees; NULL if memory is short. */
char *settings_join(const char *folder, const char *name);

#endif
