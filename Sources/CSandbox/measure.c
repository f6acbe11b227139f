/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker uses of what no limit of the kernel counts for it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "csandbox_policy.h"

enum { MAXIMUM_DEPTH = 64, MAXIMUM_INODES = 1024 };

static int is_entry(const char *name) { return strcmp(name, ".") != 0 && strcmp(name, "..") != 0; }

/* Adds up what is in a folder, which it closes: 0, or EMFILE for folders that are too deep, or ENOSPC for too many files. */
static int add_folder(int folder, int depth, uint64_t maximum, csandbox_size *size) {
    DIR *entries = depth < MAXIMUM_DEPTH ? fdopendir(folder) : NULL;
    if (entries == NULL) {
        close(folder);
        return EMFILE;
    }
    int error = 0;
    for (struct dirent *entry; error == 0 && (entry = readdir(entries)) != NULL;) {
        struct stat status;
        if (!is_entry(entry->d_name)) continue;
        if (fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        size->bytes += (uint64_t)status.st_blocks * 512;
        if (++size->files > maximum) error = ENOSPC;
        if (!S_ISDIR(status.st_mode)) continue;
        int below = openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0 && error == 0) error = add_folder(below, depth + 1, maximum, size);
    }
    closedir(entries);
    return error;
}

int csandbox_measure_folder(const char *path, uint64_t maximum, csandbox_size *size) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return folder < 0 ? errno : add_folder(folder, 0, maximum, size);
}

int csandbox_is_memory(const char *path) {
    struct statfs status;
    if (statfs(path, &status) != 0) return 0;
    return (uint32_t)status.f_type == 0x01021994 /* tmpfs */ || (uint32_t)status.f_type == 0x858458f6 /* ramfs */;
}

/* Whether a link of /proc is to a file that is gone and was below a folder. */
static int is_removed(const char *target, const char *folder) {
    static const char ending[] = " (deleted)";
    size_t length = strlen(target), prefix = strlen(folder), end = sizeof ending - 1;
    return prefix > 0 && length > prefix + end && strncmp(target, folder, prefix) == 0 && target[prefix] == '/' &&
           strcmp(target + length - end, ending) == 0;
}

/* How many descriptors wait in a socket that nobody has received yet; the kernel says so since 5.10. */
static uint32_t in_flight(pid_t process, const char *number) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%.16s", process, number);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    text[count > 0 ? count : 0] = 0;
    const char *line = strstr(text, "scm_fds:");
    return line == NULL ? 0 : (uint32_t)strtoul(line + 8, NULL, 10);
}

int csandbox_measure_descriptors(pid_t process, const char *folder, int connection, csandbox_descriptors *found) {
    char path[64];
    ino_t inodes[MAXIMUM_INODES];
    size_t known = 0;
    memset(found, 0, sizeof *found);
    snprintf(path, sizeof path, "/proc/%d/fd", process);
    DIR *entries = opendir(path);
    if (entries == NULL) return errno;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char target[4352];
        if (!is_entry(entry->d_name)) continue;
        found->open++;
        ssize_t length = readlinkat(dirfd(entries), entry->d_name, target, sizeof target - 1);
        if (length <= 0) continue;
        target[length] = 0;
        struct stat status;
        if (strncmp(target, "socket:", 7) == 0) {
            if (atoi(entry->d_name) != connection) found->in_flight += in_flight(process, entry->d_name);
        } else if (is_removed(target, folder) && fstatat(dirfd(entries), entry->d_name, &status, 0) == 0 &&
                   status.st_nlink == 0 && S_ISREG(status.st_mode)) {
            size_t i = 0;
            while (i < known && inodes[i] != status.st_ino) i++;
            if (i < known) continue;
            if (known < MAXIMUM_INODES) inodes[known++] = status.st_ino;
            found->removed_bytes += (uint64_t)status.st_blocks * 512;
        }
    }
    closedir(entries);
    /* What is mapped needs no descriptor. Of a mapping only its length can be known. */
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "re");
    if (maps == NULL) return 0;
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, maps) > 0) {
        uint64_t begin, end, inode;
        int name = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64 " %n", &begin, &end, &inode, &name) < 3 || name == 0)
            continue;
        line[strcspn(line, "\n")] = 0;
        if (!is_removed(line + name, folder)) continue;
        size_t i = 0;
        while (i < known && inodes[i] != (ino_t)inode) i++;
        if (i == known) found->removed_bytes += end - begin;
    }
    free(line);
    fclose(maps);
    return 0;
}

int csandbox_measure_memory(pid_t process, csandbox_memory *memory) {
    char path[64], text[256];
    unsigned long long all, resident, shared, code, library, data;
    snprintf(path, sizeof path, "/proc/%d/statm", process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return ESRCH;
    text[count] = 0;
    if (sscanf(text, "%llu %llu %llu %llu %llu %llu", &all, &resident, &shared, &code, &library, &data) != 6) return EINVAL;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    memory->address_space = all * page;
    memory->data = data * page;
    memory->resident = (resident > shared ? resident - shared : 0) * page;
    return 0;
}

int csandbox_measure_signals(pid_t process, uint64_t *queued, uint64_t *limit) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    text[count > 0 ? count : 0] = 0;
    const char *line = strstr(text, "SigQ:");
    return line != NULL && sscanf(line, "SigQ: %" SCNu64 "/%" SCNu64, queued, limit) == 2 ? 0 : EINVAL;
}

int64_t csandbox_count_descriptors(pid_t process) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd", process);
    /* Since 6.2; 0 before. */
    return stat(path, &status) == 0 ? status.st_size : 0;
}
