/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "csandbox.h"

enum { NO_REPLACE = 1 };

static DIR *list(int folder) {
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return NULL;
    DIR *entries = fdopendir(copy);
    if (entries == NULL) close(copy);
    return entries;
}

static int is_entry(const char *name) { return strcmp(name, ".") != 0 && strcmp(name, "..") != 0; }

static int removed(int folder, const char *name) {
    return unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* Opens a folder inside another folder after making it readable and writable for its owner; -1 for
 * anything else. */
static int open_folder(int folder, const char *name) {
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode)) return -1;
    if ((status.st_mode & 0700) != 0700 && fchmodat(folder, name, 0700, 0) != 0) return -1;
    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Moves a folder to the top level, so that neither its path length nor its depth matters. Returns 1
 * if it was moved. */
static int lifted(int top, int folder, const char *name, unsigned long *number) {
    int opened = open_folder(folder, name);
    if (opened < 0) return 0;
    close(opened);
    char above[32];
    do snprintf(above, sizeof above, "lifted-%lu", (*number)++);
    while (syscall(SYS_renameat2, folder, name, top, above, NO_REPLACE) != 0 && errno == EEXIST);
    return fstatat(folder, name, &(struct stat){0}, AT_SYMLINK_NOFOLLOW) != 0;
}

/* Makes one pass over the top folder. Sets done to 1 if anything was removed or moved, and left to
 * 1 if anything remains. */
static void sweep(int top, unsigned long *number, int *done, int *left) {
    DIR *entries = list(top);
    *done = *left = 0;
    if (entries == NULL) {
        *left = 1;
        return;
    }
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (!is_entry(entry->d_name)) continue;
        if (removed(top, entry->d_name)) {
            *done = 1;
            continue;
        }
        int folder = open_folder(top, entry->d_name);
        DIR *below = folder < 0 ? NULL : list(folder);
        for (struct dirent *next; below != NULL && (next = readdir(below)) != NULL;)
            if (is_entry(next->d_name) && (removed(folder, next->d_name) || lifted(top, folder, next->d_name, number)))
                *done = 1;
        if (below != NULL) closedir(below);
        if (folder >= 0) close(folder);
        *left = 1;
    }
    closedir(entries);
}

int csandbox_remove_tree(const char *path) {
    if (unlink(path) == 0 || rmdir(path) == 0 || errno == ENOENT) return 0;
    int top = open_folder(AT_FDCWD, path);
    if (top < 0) return errno;
    unsigned long number = 0;
    int done, left;
    do sweep(top, &number, &done, &left);
    while (done && left);
    close(top);
    return rmdir(path) == 0 ? 0 : errno;
}
