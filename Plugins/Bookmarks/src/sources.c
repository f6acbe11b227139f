/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.c: see sources.h. What is looked for is what Info.plist asks for; README.md lists it. Nothing that is not declared
 * is touched, since the host tells each attempt.
 */
#include "sources.h"

#include "settings.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { MAX_ENTRIES = 10000, MAX_FOLDERS = 64 };

/* Folders of the person's. All owned; NULL where there is none. */
struct places {
    char *home, *config, *documents;
};

/* Whether something is there, or might be: what may not be looked at is not gone. */
static bool exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

static void is_unsure(struct sources *sources, enum reading reading, const struct problem *problem) {
    if (reading != READING_LATER || sources->is_incomplete) return;
    sources->is_incomplete = true;
    sources->problem = *problem;
}

/* Adds the file at `path`, which is freed here, if there is one. `within`: its name among those of its kind. */
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

/* The same for a file that only its path names. */
static bool add_by_path(struct sources *sources, const char *kind, const char *name, char *path, source_reader read) {
    char hash[17];
    if (path == NULL) return false;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)text_hash(TEXT_HASH, slice_of(path)));
    return add(sources, kind, slice_of(hash), name, path, read);
}

/* Whether a path has no ".." among its names. */
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
            /* One that lies elsewhere is found if it is in the person's list, which is what lets it be read. */
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

/* Names in a folder that a test likes, in their order. Ends with NULL; all to be freed with free_names. */
static char **names_in(const char *folder, bool (*likes)(const char *), struct sources *sources) {
    size_t count = 0, seen = 0;
    char **names = calloc(MAX_FOLDERS + 1, sizeof *names);
    DIR *stream = names == NULL ? NULL : opendir(folder);
    if (names != NULL && stream == NULL && errno != ENOENT && errno != ENOTDIR) {
        struct problem problem;
        problem_set(&problem, "%s cannot be listed: %s", folder, strerror(errno));
        is_unsure(sources, READING_LATER, &problem);
    }
    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL && seen < MAX_ENTRIES; seen++) {
        if (!likes(entry->d_name)) continue;
        size_t place = count;
        while (place > 0 && strcmp(names[place - 1], entry->d_name) > 0) place--;
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

static bool is_profile(const char *name) { return strcmp(name, "Default") == 0 || strncmp(name, "Profile ", 8) == 0; }

static bool is_page(const char *name) {
    const char *ending = strrchr(name, '.');
    return *name != '.' && ending != NULL && (strcasecmp(ending, ".html") == 0 || strcasecmp(ending, ".htm") == 0);
}

static bool add_chromium(struct sources *sources, const char *base, const char *folder, const char *kind, const char *browser) {
    char *root = settings_join(base, folder);
    if (root == NULL) return false;
    char **names = !exists(root) ? NULL : names_in(root, is_profile, sources);
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

/* Notes a line of the person's list that leads to no folder. */
static void is_misnamed(struct sources *sources, const char *file, const char *line) {
    char *text = sources->misnamed.text;
    size_t length = strlen(text), capacity = sizeof sources->misnamed.text;
    if (length + 8 >= capacity) return;
    length += (size_t)(length > 0 ? snprintf(text + length, capacity - length, ", ")
                                  : snprintf(text + length, capacity - length, "%.500s: ", file));
    /* What does not fit ends so. */
    if (length + strlen(line) + 8 < capacity) snprintf(text + length, capacity - length, "%s", line);
    else snprintf(text + length, capacity - length, "...");
}

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? S_ISDIR(status.st_mode) : errno != ENOENT && errno != ENOTDIR;
}

/* A folder of the person's list: a profile, or exported files. */
static bool add_listed(struct sources *sources, const char *folder) {
    bool is_good = add_by_path(sources, "firefox-profile", "Firefox", settings_join(folder, "places.sqlite"), firefox_read) &&
                   add_by_path(sources, "chromium-profile", "Chromium", settings_join(folder, "Bookmarks"), chromium_read);
    char **names = names_in(folder, is_page, sources);
    for (size_t i = 0; names != NULL && names[i] != NULL && is_good; i++)
        is_good = add_by_path(sources, "html", names[i], settings_join(folder, names[i]), netscape_read);
    free_names(names);
    return is_good;
}

static bool add_list(struct sources *sources, const struct places *places) {
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
        else if (is_good) is_good = add_listed(sources, folder);
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
    places->documents = text == NULL ? NULL : settings_documents(text, home);
    if (places->documents == NULL) places->documents = settings_join(home, "Documents");
    free(text), free(file);
    return places->documents != NULL;
}

bool sources_find(struct sources *sources) {
    struct places places = {NULL, NULL, NULL};
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
                  add_list(sources, &places) &&
                  add_by_path(sources, "html", "bookmarks.html", settings_join(places.documents, "bookmarks.html"),
                              netscape_read) &&
                  add_by_path(sources, "html", "bookmarks.html", settings_join(home, "Downloads/bookmarks.html"), netscape_read);
    }
    free(places.home), free(places.config), free(places.documents);
    return is_good;
}

bool sources_concern(const char *path) {
    static const char *const names[] = {"places.sqlite", "places.sqlite-wal", "places.sqlite-journal", "Bookmarks",
                                        "profiles.ini", "folders", "user-dirs.dirs"};
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return is_page(name);
}

void sources_free(struct sources *sources) {
    for (size_t i = 0; sources->list != NULL && i < sources->count; i++)
        free(sources->list[i].key), free(sources->list[i].name), free(sources->list[i].path);
    free(sources->list);
    *sources = (struct sources){0};
}
