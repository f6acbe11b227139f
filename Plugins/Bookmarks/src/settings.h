/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h: reads small text files that contain paths: profiles.ini, user-dirs.dirs, and the
 * user's list of folders. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "bookmarks.h"

/* Reads a small file as text, which the caller frees. Returns NULL with the reason in `reading` and
 * `problem`. */
char *settings_read(const char *path, enum reading *reading, struct problem *problem);

/* Returns the next line of a text, NUL-terminated and without leading and trailing spaces; NULL at
 * the end. Modifies the text. */
char *settings_line(char **text);

/* A profile in profiles.ini. Its strings point into the text. */
struct profile {
    const char *path, *name;
    bool is_relative, is_default;
};
enum { MAX_PROFILES = 64 };

/* Reads the profiles in a profiles.ini, default profiles first. Modifies the text. Returns the
 * number of profiles. */
size_t settings_profiles(char *text, struct profile profiles[MAX_PROFILES]);

/* Returns the folder for a name ("XDG_DOCUMENTS_DIR") in user-dirs.dirs, without a trailing slash;
 * NULL if there is none. The caller frees it. */
char *settings_folder(const char *text, const char *name, const char *home);

/* Returns "FOLDER/NAME", which the caller frees; NULL if memory runs out. */
char *settings_join(const char *folder, const char *name);

#endif
