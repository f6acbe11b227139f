/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c: see settings.h. */
#include "settings.h"

#include "snapshot.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

char *settings_read(const char *path, enum reading *reading, struct problem *problem) {
    int64_t size;
    int file = snapshot_open_file(path, 1 << 20, &size, reading, problem);
    if (file < 0) return NULL;
    char *text = malloc((size_t)size + 1);
    ssize_t count = text == NULL ? -1 : pread(file, text, (size_t)size, 0);
    if (count < 0) {
        *reading = READING_LATER;
        problem_set(problem, "%s cannot be read: %s", path, text == NULL ? "out of memory" : strerror(errno));
        free(text);
        text = NULL;
    } else {
        text[count] = 0;
        *reading = READING_DONE;
    }
    close(file);
    return text;
}

char *settings_line(char **text) {
    if (*text == NULL || **text == 0) return NULL;
    char *line = *text, *end = strchr(line, '\n');
    *text = end == NULL ? NULL : end + 1;
    if (end == NULL) end = line + strlen(line);
    while (line < end && strchr(" \t\r", *line) != NULL) line++;
    while (end > line && strchr(" \t\r", end[-1]) != NULL) end--;
    *end = 0;
    return line;
}

/* Returns the value in a line "KEY=VALUE"; NULL if the line has a different key. */
static const char *value(const char *line, const char *key) {
    size_t length = strlen(key);
    return strncasecmp(line, key, length) == 0 && line[length] == '=' ? line + length + 1 : NULL;
}

size_t settings_profiles(char *text, struct profile profiles[MAX_PROFILES]) {
    /* The default profiles of Firefox installations. They take precedence over the default flag
     * from versions before 67. */
    const char *installed[MAX_PROFILES];
    size_t count = 0, installations = 0;
    bool in_profile = false, in_installation = false;
    for (char *line; (line = settings_line(&text)) != NULL;) {
        const char *found;
        if (*line == '[') {
            /* A section without a path is not a profile. */
            if (in_profile && profiles[count - 1].path == NULL) count--;
            in_installation = strncasecmp(line, "[Install", 8) == 0;
            in_profile = strncasecmp(line, "[Profile", 8) == 0 && count < MAX_PROFILES;
            if (in_profile) profiles[count++] = (struct profile){NULL, NULL, true, false};
        } else if (in_installation && (found = value(line, "Default")) != NULL && installations < MAX_PROFILES) {
            installed[installations++] = found;
        } else if (in_profile) {
            struct profile *profile = &profiles[count - 1];
            if ((found = value(line, "Path")) != NULL && *found != 0) profile->path = found;
            if ((found = value(line, "Name")) != NULL) profile->name = found;
            if ((found = value(line, "IsRelative")) != NULL) profile->is_relative = strcmp(found, "0") != 0;
            if ((found = value(line, "Default")) != NULL) profile->is_default = strcmp(found, "1") == 0;
        }
    }
    if (in_profile && profiles[count - 1].path == NULL) count--;
    size_t front = 0;
    for (size_t round = 0; round < installations + 1; round++)
        for (size_t i = front; i < count; i++) {
            bool is_first = round < installations ? strcmp(profiles[i].path, installed[round]) == 0 : profiles[i].is_default;
            if (!is_first) continue;
            struct profile moved = profiles[i];
            memmove(profiles + front + 1, profiles + front, (i - front) * sizeof *profiles);
            profiles[front++] = moved;
        }
    return count;
}

char *settings_folder(const char *text, const char *name, const char *home) {
    char *copy = strdup(text), *rest = copy, *result = NULL;
    for (char *line; copy != NULL && (line = settings_line(&rest)) != NULL;) {
        const char *found = value(line, name);
        size_t length = found == NULL ? 0 : strlen(found);
        if (length < 3 || found[0] != '"' || found[length - 1] != '"') continue;
        line[strlen(line) - 1] = 0;
        free(result);
        if (strncmp(found + 1, "$HOME/", 6) == 0) result = settings_join(home, found + 7);
        else result = found[1] == '/' ? strdup(found + 1) : NULL;
        size_t end = result == NULL ? 0 : strlen(result);
        while (end > 1 && result[end - 1] == '/') result[--end] = 0;
    }
    free(copy);
    return result;
}

char *settings_join(const char *folder, const char *name) {
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL) snprintf(path, size, "%s/%s", folder, name);
    return path;
}
