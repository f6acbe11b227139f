/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.c: see sources.h. The extension searches only the paths that Info.plist requests, which
 * README.md lists. It accesses no other paths, because the host reports each attempt.
 */
#include "sources.h"

#include "settings.h"
#include "snapshot.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* The maximum number of entries listed in a folder, and of files in it that are opened to recognize
 * an export. */
enum { MAX_ENTRIES = 1 << 20, MAX_OPENED = 10000 };

/* The user's folders. All are owned; NULL means none. */
struct places {
    char *home, *config, *documents, *downloads;
};

/* Returns true if a file exists or may exist. A file may exist if permissions prevent the check. */
static bool exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

static void is_unsure(struct sources *sources, enum reading reading, const struct problem *problem) {
    if (reading != READING_LATER || sources->is_incomplete) return;
    sources->is_incomplete = true;
    sources->problem = *problem;
}

/* Adds the file at `path` if it exists, and frees `path`. `within` is its name among the files of
 * its kind. */
static bool add(struct sources *sources, const char *kind, struct slice within, const char *name, char *path,
                source_reader read) {
    char encoded[MAX_KEY - 64], key[MAX_KEY];
    if (path == NULL) return false;
    if (sources->count >= MAX_SOURCES || !exists(path)) {
        free(path);
        return true;
    }
    text_encode(encoded, sizeof encoded, within, ".");
    snprintf(key, sizeof key, "%s/%s", kind, encoded);
    for (size_t i = 0; i < sources->count; i++)
        if (strcmp(sources->list[i].key, key) == 0) {
            free(path);
            return true;
        }
    struct source *source = &sources->list[sources->count];
    *source = (struct source){strdup(key), strdup(name), path, read};
    sources->count++;
    return source->key != NULL && source->name != NULL;
}

static void hash_path(const char *path, char hash[17]) {
    snprintf(hash, 17, "%016llx", (unsigned long long)text_hash(TEXT_HASH, slice_of(path)));
}

/* Does the same for a file that is identified by its path. */
static bool add_by_path(struct sources *sources, const char *kind, const char *name, char *path, source_reader read) {
    char hash[17];
    if (path == NULL) return false;
    hash_path(path, hash);
    return add(sources, kind, slice_of(hash), name, path, read);
}

/* Returns true if no component of a path is "..". */
static bool stays_below(const char *path) {
    for (const char *at = path; at != NULL; at = strchr(at, '/')) {
        while (*at == '/') at++;
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == 0)) return false;
    }
    return true;
}

static bool add_firefox(struct sources *sources, const char *base, const char *folder, const char *kind) {
    struct problem problem;
    enum reading reading;
    struct profile profiles[MAX_PROFILES];
    char *root = settings_join(base, folder), *file = root == NULL ? NULL : settings_join(root, "profiles.ini");
    bool is_good = file != NULL;
    char *text = !is_good || !exists(file) ? NULL : settings_read(file, &reading, &problem);
    if (text != NULL) {
        size_t count = settings_profiles(text, profiles);
        for (size_t i = 0; i < count && is_good; i++) {
            const struct profile *profile = &profiles[i];
            char name[200], *where = NULL;
            /* A profile elsewhere is readable only if it is in the user's list, and is found
             * through that list. */
            if (!profile->is_relative || *profile->path == '/' || !stays_below(profile->path)) continue;
            snprintf(name, sizeof name, count > 1 && profile->name != NULL ? "Firefox (%.100s)" : "Firefox",
                     profile->name == NULL ? "" : profile->name);
            where = settings_join(root, profile->path);
            is_good = where != NULL && add(sources, kind, slice_of(profile->path), name,
                                           settings_join(where, "places.sqlite"), firefox_read);
            free(where);
        }
    } else if (is_good && exists(file)) {
        is_unsure(sources, reading, &problem);
    }
    free(text), free(file), free(root);
    return is_good;
}

/* A folder whose names are listed. */
struct look {
    const char *folder;
    bool is_listed; /* the folder is in the user's list */
    const struct exported *exported;
    size_t opened;
};
typedef bool (*liking)(struct look *look, const char *name);

/* Returns the names in a folder that pass a test, sorted, with a terminating NULL. Free them with
 * free_names. */
static char **names_in(struct look *look, liking likes, struct sources *sources) {
    const char *folder = look->folder;
    size_t count = 0, seen = 0;
    char **names = calloc(MAX_FOLDERS + 1, sizeof *names);
    DIR *stream = names == NULL ? NULL : opendir(folder);
    if (names != NULL && stream == NULL && errno != ENOENT && errno != ENOTDIR) {
        struct problem problem;
        problem_set(&problem, "%s cannot be listed: %s", folder, strerror(errno));
        is_unsure(sources, READING_LATER, &problem);
    }
    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL; seen++) {
        if (seen == MAX_ENTRIES || look->opened == MAX_OPENED) {
            struct problem problem;
            problem_set(&problem, "%s has too many files to check all of them; move some elsewhere", folder);
            is_unsure(sources, READING_LATER, &problem);
            break;
        }
        if (!likes(look, entry->d_name)) continue;
        size_t place = count;
        while (place > 0 && strcmp(names[place - 1], entry->d_name) > 0) place--;
        if (count == MAX_FOLDERS) sources->left_out++;
        if (place == MAX_FOLDERS) continue;
        char *name = strdup(entry->d_name);
        if (name == NULL) break;
        if (count == MAX_FOLDERS) free(names[--count]);
        memmove(names + place + 1, names + place, (count - place) * sizeof *names);
        names[place] = name;
        count++;
    }
    if (stream != NULL) closedir(stream);
    return names;
}

static void free_names(char **names) {
    for (size_t i = 0; names != NULL && names[i] != NULL; i++) free(names[i]);
    free(names);
}

static bool is_profile(struct look *look, const char *name) {
    (void)look;
    return strcmp(name, "Default") == 0 || strncmp(name, "Profile ", 8) == 0;
}

/* The kind of an exported file, determined by its name. */
struct form {
    const char *kind; /* the prefix of the source's key */
    source_reader read;
    bool (*recognizes)(const char *head, size_t length);
};

static const struct form *form_of(const char *name) {
    static const struct form page = {"html", netscape_read, netscape_recognizes};
    static const struct form backup = {"json", backup_read, backup_recognizes};
    const char *ending = strrchr(name, '.');
    if (*name == '.' || ending == NULL) return NULL;
    if (strcasecmp(ending, ".html") == 0 || strcasecmp(ending, ".htm") == 0) return &page;
    return strcasecmp(ending, ".json") == 0 || strcasecmp(ending, ".jsonlz4") == 0 ? &backup : NULL;
}

/* Returns true if a file begins like a browser's export. The file name is no indication: each
 * browser uses a different one, in the user's language and with a date. */
static bool is_exported(const char *path, const struct form *form) {
    int64_t size;
    enum reading reading;
    struct problem problem;
    char head[4096];
    int file = snapshot_open_file(path, INT64_MAX, &size, &reading, &problem);
    ssize_t count = file < 0 ? -1 : pread(file, head, sizeof head, 0);
    if (file >= 0) close(file);
    return count > 0 && form->recognizes(head, (size_t)count);
}

bool exported_has(const struct exported *exported, uint64_t hash) {
    for (size_t i = 0; i < exported->count; i++)
        if (exported->hashes[i] == hash) return true;
    return false;
}

/* Returns true for a page that is expected to contain bookmarks: one in a folder that the user
 * listed, one with the name of a browser's export, or one that contained bookmarks before. The
 * extension reports such a page if it has no bookmarks. Other pages are recognized as exports by
 * their content. */
static bool is_meant(struct look *look, const char *name) {
    const struct form *form = form_of(name);
    if (form == NULL) return false;
    if (form->read == netscape_read && (look->is_listed || strncasecmp(name, "bookmarks", 9) == 0)) return true;
    char *path = settings_join(look->folder, name), hash[17], key[32];
    if (path == NULL) return false;
    hash_path(path, hash);
    snprintf(key, sizeof key, "%s/%s", form->kind, hash);
    bool is = exported_has(look->exported, text_hash(TEXT_HASH, slice_of(key)));
    if (!is) {
        look->opened++;
        is = is_exported(path, form);
    }
    free(path);
    return is;
}

/* Adds the exported files in a folder. */
static bool add_exported(struct sources *sources, struct look *look) {
    char **names = names_in(look, is_meant, sources);
    bool is_good = true;
    for (size_t i = 0; names != NULL && names[i] != NULL && is_good; i++) {
        const struct form *form = form_of(names[i]);
        is_good = add_by_path(sources, form->kind, names[i], settings_join(look->folder, names[i]), form->read);
    }
    free_names(names);
    return is_good;
}

static bool add_chromium(struct sources *sources, const char *base, const char *folder, const char *kind, const char *browser) {
    char *root = settings_join(base, folder);
    if (root == NULL) return false;
    struct look look = {root, false, NULL, 0};
    char **names = !exists(root) ? NULL : names_in(&look, is_profile, sources);
    bool is_good = true;
    for (size_t i = 0; names != NULL && names[i] != NULL && is_good; i++) {
        char name[200], *where = settings_join(root, names[i]);
        snprintf(name, sizeof name, names[1] == NULL ? "%s" : "%s (%.100s)", browser, names[i]);
        is_good = where != NULL && add(sources, kind, slice_of(names[i]), name, settings_join(where, "Bookmarks"), chromium_read);
        free(where);
    }
    free_names(names), free(root);
    return is_good;
}

/* Records a line in the user's list that leads to no folder. */
static void is_misnamed(struct sources *sources, const char *file, const char *line) {
    char *text = sources->misnamed.text;
    size_t length = strlen(text), capacity = sizeof sources->misnamed.text;
    if (length + 8 >= capacity) return;
    length += (size_t)(length > 0 ? snprintf(text + length, capacity - length, ", ")
                                  : snprintf(text + length, capacity - length, "%.500s: ", file));
    /* Shortens a text that does not fit. */
    if (length + strlen(line) + 8 < capacity) snprintf(text + length, capacity - length, "%s", line);
    else snprintf(text + length, capacity - length, "...");
}

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? S_ISDIR(status.st_mode) : errno != ENOENT && errno != ENOTDIR;
}

/* Adds a folder from the user's list: a profile, or exported files. */
static bool add_listed(struct sources *sources, const char *folder, const struct exported *exported) {
    return add_by_path(sources, "firefox-profile", "Firefox", settings_join(folder, "places.sqlite"), firefox_read) &&
           add_by_path(sources, "chromium-profile", "Chromium", settings_join(folder, "Bookmarks"), chromium_read) &&
           add_exported(sources, &(struct look){folder, true, exported, 0});
}

static bool add_list(struct sources *sources, const struct places *places, const struct exported *exported) {
    struct problem problem;
    enum reading reading;
    char *file = settings_join(places->config, "com.searchlight.bookmarks/folders");
    if (file == NULL) return false;
    char *text = exists(file) ? settings_read(file, &reading, &problem) : NULL, *rest = text;
    if (text == NULL && exists(file)) is_unsure(sources, reading, &problem);
    bool is_good = true;
    for (char *line; is_good && text != NULL && (line = settings_line(&rest)) != NULL;) {
        if (*line == 0 || *line == '#') continue;
        char *folder = strncmp(line, "~/", 2) == 0 ? settings_join(places->home, line + 2) : strdup(line);
        is_good = folder != NULL;
        if (is_good && (*folder != '/' || !is_folder(folder))) is_misnamed(sources, file, line);
        else if (is_good) is_good = add_listed(sources, folder, exported);
        free(folder);
    }
    free(text), free(file);
    return is_good;
}

static bool find_places(struct places *places) {
    const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");
    struct problem problem;
    enum reading reading;
    if (home == NULL || *home != '/') return true;
    places->home = strdup(home);
    places->config = config != NULL && *config == '/' ? strdup(config) : settings_join(home, ".config");
    if (places->home == NULL || places->config == NULL) return false;
    char *file = settings_join(places->config, "user-dirs.dirs");
    char *text = file != NULL && exists(file) ? settings_read(file, &reading, &problem) : NULL;
    places->documents = text == NULL ? NULL : settings_folder(text, "XDG_DOCUMENTS_DIR", home);
    places->downloads = text == NULL ? NULL : settings_folder(text, "XDG_DOWNLOAD_DIR", home);
    if (places->documents == NULL) places->documents = settings_join(home, "Documents");
    if (places->downloads == NULL) places->downloads = settings_join(home, "Downloads");
    free(text), free(file);
    return places->documents != NULL && places->downloads != NULL;
}

/* Adds the exported files in a standard folder. Access to a standard folder that is the home folder
 * is never granted. */
static bool add_exported_in(struct sources *sources, const struct places *places, const char *folder,
                            const struct exported *exported) {
    return strcmp(folder, places->home) == 0 || add_exported(sources, &(struct look){folder, false, exported, 0});
}

bool sources_find(struct sources *sources, const struct exported *exported) {
    struct places places = {NULL, NULL, NULL, NULL};
    *sources = (struct sources){.list = calloc(MAX_SOURCES, sizeof *sources->list)};
    bool is_good = sources->list != NULL && find_places(&places);
    if (is_good && places.home != NULL) {
        const char *home = places.home, *config = places.config;
        is_good = add_firefox(sources, home, ".mozilla/firefox", "firefox") &&
                  add_firefox(sources, config, "mozilla/firefox", "firefox-config") &&
                  add_firefox(sources, home, ".var/app/org.mozilla.firefox/.mozilla/firefox", "firefox-flatpak") &&
                  add_firefox(sources, home, "snap/firefox/common/.mozilla/firefox", "firefox-snap") &&
                  add_chromium(sources, config, "chromium", "chromium", "Chromium") &&
                  add_chromium(sources, config, "google-chrome", "google-chrome", "Chrome") &&
                  add_chromium(sources, config, "BraveSoftware/Brave-Browser", "brave", "Brave") &&
                  add_list(sources, &places, exported) &&
                  add_exported_in(sources, &places, places.documents, exported) &&
                  add_exported_in(sources, &places, places.downloads, exported);
    }
    free(places.home), free(places.config), free(places.documents), free(places.downloads);
    return is_good;
}

bool sources_concern(const char *path) {
    static const char *const names[] = {"places.sqlite", "places.sqlite-wal", "places.sqlite-journal", "Bookmarks",
                                        "profiles.ini", "folders", "user-dirs.dirs"};
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return form_of(name) != NULL;
}

void sources_free(struct sources *sources) {
    for (size_t i = 0; sources->list != NULL && i < sources->count; i++)
        free(sources->list[i].key), free(sources->list[i].name), free(sources->list[i].path);
    free(sources->list);
    *sources = (struct sources){0};
}
