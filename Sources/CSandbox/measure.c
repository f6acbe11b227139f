/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a worker's resources for which the kernel has no limit. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "csandbox_internal.h"

enum { MAXIMUM_DEPTH = 64, MAXIMUM_INODES = 1024, MAXIMUM_MAPS = 65536 };

static int is_entry(const char *name) { return strcmp(name, ".") != 0 && strcmp(name, "..") != 0; }

/*
 * Opens a folder inside another folder for reading. A folder that its owner may not read is made
 * readable, because a worker must not hide its files. On failure, returns -1 and sets errno.
 */
static int open_below(int folder, const char *name) {
    enum { HOW = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
    int below = openat(folder, name, HOW);
    if (below >= 0 || errno != EACCES) return below;
    /* Refers to the same folder, even if another file takes over its name. */
    int named = openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (named < 0) return -1;
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/self/fd/%d", named);
    int error = fstat(named, &status) == 0 && chmod(path, (status.st_mode & 07777) | 0700) == 0 ? 0 : errno;
    if (error == 0 && (below = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) error = errno;
    close(named);
    errno = error;
    return below;
}

/* Returns 1 if an error means that the name was removed or now belongs to another file. */
static int has_changed(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

/* Adds up the contents of a folder and closes it. Returns 0 or an errno; see
 * csandbox_measure_folder. */
static int add_folder(int folder, int depth, uint64_t maximum, csandbox_size *size) {
    if (depth >= MAXIMUM_DEPTH) {
        close(folder);
        return E2BIG;
    }
    DIR *entries = fdopendir(folder);
    if (entries == NULL) {
        int error = errno;
        close(folder);
        return error;
    }
    int error = 0;
    while (error == 0) {
        struct stat status;
        errno = 0;
        struct dirent *entry = readdir(entries);
        if (entry == NULL) {
            error = errno;
            break;
        }
        if (!is_entry(entry->d_name)) continue;
        if (fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            if (!has_changed(errno)) error = errno;
            continue;
        }
        size->bytes += (uint64_t)status.st_blocks * 512;
        if (++size->files > maximum) error = ENOSPC;
        if (!S_ISDIR(status.st_mode) || error != 0) continue;
        int below = open_below(dirfd(entries), entry->d_name);
        if (below >= 0)
            error = add_folder(below, depth + 1, maximum, size);
        else if (!has_changed(errno))
            error = errno;
    }
    closedir(entries);
    return error;
}

int csandbox_measure_folder(const char *path, uint64_t maximum, csandbox_size *size) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) return add_folder(folder, 0, maximum, size);
    return errno == ENOENT ? 0 : errno;
}

int csandbox_is_memory(const char *path) {
    struct statfs status;
    if (statfs(path, &status) != 0) return 0;
    return (uint32_t)status.f_type == 0x01021994 /* tmpfs */ || (uint32_t)status.f_type == 0x858458f6 /* ramfs */;
}

/* Returns the number of the folder that contains a path; -1 if there is none. In `places`, each
 * path ends with a zero byte, and the list ends with an empty path. */
static int place_of(const char *path, const char *places) {
    for (int number = 0; *places != 0; number++) {
        size_t length = strlen(places);
        if (strncmp(path, places, length) == 0 && path[length] == '/') return number;
        places += length + 1;
    }
    return -1;
}

/* Returns 1 if a path in /proc names a deleted file. */
static int is_removed(const char *path) {
    static const char ending[] = " (deleted)";
    size_t length = strlen(path), end = sizeof ending - 1;
    return length > end && strcmp(path + length - end, ending) == 0;
}

/* Reads what the kernel reports about one descriptor: the number of descriptors in flight in a
 * socket (since 5.10), and the number of locks. Returns 0 or an errno. */
static int read_descriptor(pid_t process, const char *number, csandbox_descriptors *found) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%.16s", process, number);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    /* The extension may close the descriptor at any time. */
    if (file < 0) return errno == ENOENT ? 0 : errno;
    int is_start = 1, is_first = 1;
    for (ssize_t count; found->locks <= CSANDBOX_MAXIMUM_LOCKS && (count = read(file, text, sizeof text - 1)) > 0; is_first = 0) {
        text[count] = 0;
        const char *line = is_first ? strstr(text, "scm_fds:") : NULL;
        if (line != NULL) found->in_flight += (uint32_t)strtoul(line + 8, NULL, 10);
        for (ssize_t i = 0; i < count; i++) {
            /* "lock:"; no other line starts with an l. */
            if (is_start && text[i] == 'l') found->locks++;
            is_start = text[i] == '\n';
        }
    }
    close(file);
    return 0;
}

static int is_known(const ino_t *inodes, size_t count, ino_t inode) {
    for (size_t i = 0; i < count; i++)
        if (inodes[i] == inode) return 1;
    return 0;
}

/* Adds a mapping of a file that has neither a name nor a descriptor. */
static void add_hidden(uint32_t *count, csandbox_hidden *hidden, ino_t inode, uint64_t bytes, int is_own) {
    uint32_t i = 0;
    while (i < *count && hidden[i].inode != inode) i++;
    if (i == CSANDBOX_MAXIMUM_HIDDEN) return;
    if (i == *count) hidden[(*count)++] = (csandbox_hidden){inode, 0};
    if (is_own) hidden[i].bytes += bytes;
}

/* Adds mapped files that have no descriptor. Only the length of their mappings is known. Returns 0
 * or an errno. */
static int add_maps(pid_t process, const char *places, const ino_t *known, size_t known_count, csandbox_descriptors *found,
                    csandbox_hidden *hidden) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "re");
    if (maps == NULL) return errno;
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t length; found->maps <= MAXIMUM_MAPS && (length = getline(&line, &capacity, maps)) > 0;) {
        found->maps++;
        if (line[length - 1] == '\n') line[length - 1] = 0;
        if (!is_removed(line)) continue;
        uint64_t first, last, inode;
        int name = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64 " %n", &first, &last, &inode, &name) < 3 || name == 0)
            continue;
        int place = place_of(line + name, places);
        if (place < 0 || is_known(known, known_count, (ino_t)inode)) continue;
        add_hidden(&found->hidden_count, hidden, (ino_t)inode, last - first, place == 0);
    }
    int error = ferror(maps) ? EIO : 0;
    free(line);
    fclose(maps);
    return found->maps > MAXIMUM_MAPS ? E2BIG : error;
}

int csandbox_measure_descriptors(pid_t process, const char *places, uint64_t connection, csandbox_descriptors *found,
                                 csandbox_hidden *hidden) {
    char path[64], own[64];
    ino_t inodes[MAXIMUM_INODES];
    size_t known = 0;
    memset(found, 0, sizeof *found);
    snprintf(own, sizeof own, "socket:[%" PRIu64 "]", connection);
    snprintf(path, sizeof path, "/proc/%d/fd", process);
    DIR *entries = opendir(path);
    if (entries == NULL) return errno;
    int error = 0;
    while (error == 0) {
        char target[4352];
        errno = 0;
        struct dirent *entry = readdir(entries);
        if (entry == NULL) {
            error = errno;
            break;
        }
        if (!is_entry(entry->d_name)) continue;
        found->open++;
        ssize_t length = readlinkat(dirfd(entries), entry->d_name, target, sizeof target - 1);
        /* The path may be too long to be read. */
        int is_told = length > 0;
        if (!is_told && errno != ENAMETOOLONG) {
            if (errno != ENOENT) error = errno;
            continue;
        }
        target[is_told ? length : 0] = 0;
        if (strncmp(target, "socket:", 7) == 0) {
            if (strcmp(target, own) != 0) error = read_descriptor(process, entry->d_name, found);
        } else if (!is_told || (target[0] == '/' && strncmp(target, "/dev/", 5) != 0)) {
            struct stat status;
            error = read_descriptor(process, entry->d_name, found);
            int place = !is_told ? 0 : is_removed(target) ? place_of(target, places) : -1;
            if (place < 0 || fstatat(dirfd(entries), entry->d_name, &status, 0) != 0 || status.st_nlink != 0 ||
                !S_ISREG(status.st_mode) || is_known(inodes, known, status.st_ino))
                continue;
            if (known < MAXIMUM_INODES) inodes[known++] = status.st_ino;
            *(place == 0 ? &found->removed_bytes : &found->removed_elsewhere) += (uint64_t)status.st_blocks * 512;
            if (place == 0) found->removed_files++;
        }
    }
    closedir(entries);
    return error != 0 ? error : add_maps(process, places, inodes, known, found, hidden);
}

uint32_t csandbox_in_flight(int socket) {
    csandbox_descriptors found = {0};
    char number[16];
    snprintf(number, sizeof number, "%d", socket);
    (void)read_descriptor(getpid(), number, &found);
    return found.in_flight;
}

/* Reads a small file in a process's /proc folder. Returns 0 or an errno. */
static int read_page(pid_t process, const char *name, char *text, size_t capacity) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", process, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    ssize_t count = read(file, text, capacity - 1);
    int error = count < 0 ? errno : count == 0 ? ESRCH : 0;
    close(file);
    text[count > 0 ? count : 0] = 0;
    return error;
}

/* Returns the number that follows a word in a text, multiplied by a unit in bytes; 0 if the word is
 * missing. */
static uint64_t number_after(const char *text, const char *word, uint64_t unit) {
    const char *line = strstr(text, word);
    return line == NULL ? 0 : (uint64_t)strtoull(line + strlen(word), NULL, 10) * unit;
}

/* Returns 1 if a thread of a process is running and will not exit together with all others. */
static int is_living(pid_t process, const char *thread) {
    enum { EXITING = 4, KILL = 0x100 };
    char name[64], text[4096], state;
    unsigned flags;
    snprintf(name, sizeof name, "task/%.16s/stat", thread);
    if (read_page(process, name, text, sizeof text) != 0) return 0;
    const char *fields = strrchr(text, ')');
    if (fields == NULL || sscanf(fields + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2) return 1;
    if (state == 'Z' || state == 'X' || (flags & EXITING)) return 0;
    snprintf(name, sizeof name, "task/%.16s/status", thread);
    if (read_page(process, name, text, sizeof text) != 0) return 0;
    const char *pending = strstr(text, "\nSigPnd:");
    return pending == NULL || !(strtoull(pending + 8, NULL, 16) & KILL);
}

static int has_living_thread(pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *threads = opendir(path);
    int found = 0;
    for (struct dirent *entry; threads != NULL && !found && (entry = readdir(threads)) != NULL;)
        found = is_entry(entry->d_name) && is_living(process, entry->d_name);
    if (threads != NULL) closedir(threads);
    return found;
}

int csandbox_measure_activity(pid_t process, csandbox_activity *activity) {
    char text[4096];
    memset(activity, 0, sizeof *activity);
    int error = read_page(process, "stat", text, sizeof text);
    if (error != 0) return error;
    /* The program's name is in parentheses and may contain anything. */
    const char *fields = strrchr(text, ')');
    char state;
    unsigned long long minor, major;
    if (fields == NULL || sscanf(fields + 1, " %c %*d %*d %*d %*d %*d %*u %llu %*u %llu", &state, &minor, &major) != 3)
        return EINVAL;
    if (state == 'Z' || state == 'X') {
        activity->is_headless = has_living_thread(process);
        return activity->is_headless ? 0 : ESRCH;
    }
    activity->faulted = (minor + major) * (uint64_t)sysconf(_SC_PAGESIZE);
    /* Some kernels do not keep this count. */
    if (read_page(process, "io", text, sizeof text) != 0) return 0;
    uint64_t called = number_after(text, "wchar:", 1), dirtied = number_after(text, "\nwrite_bytes:", 1);
    activity->written = called > dirtied ? called : dirtied;
    return 0;
}

int csandbox_has_ended(pid_t child) {
    siginfo_t information = {0};
    if (waitid(P_PID, (id_t)child, &information, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD;
    return information.si_pid == child;
}

int csandbox_measure_private(pid_t process, uint64_t suspicious, uint64_t *bytes) {
    char text[8192];
    csandbox_memory memory;
    int error = csandbox_measure_memory(process, &memory);
    if (error == 0) error = read_page(process, "status", text, sizeof text);
    if (error != 0) return error;
    *bytes = memory.resident + number_after(text, "\nVmSwap:", 1024);
    if (*bytes <= suspicious) return 0;
    /* The kernel sums up per-CPU counters with a delay. This count is exact but takes longer. */
    if (read_page(process, "smaps_rollup", text, sizeof text) == 0)
        *bytes = number_after(text, "\nAnonymous:", 1024) + number_after(text, "\nSwap:", 1024);
    return 0;
}

uint64_t csandbox_unlimited_memory(int makes_code) {
#ifdef CSANDBOX_SANITIZED
    (void)makes_code;
    return UINT64_MAX / 4;
#else
    return (makes_code ? 128u : 64u) << 20;
#endif
}

int csandbox_measure_memory(pid_t process, csandbox_memory *memory) {
    char text[256];
    unsigned long long all, resident, shared, code, library, data;
    int error = read_page(process, "statm", text, sizeof text);
    if (error != 0) return error;
    if (sscanf(text, "%llu %llu %llu %llu %llu %llu", &all, &resident, &shared, &code, &library, &data) != 6) return EINVAL;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    memory->address_space = all * page;
    memory->data = data * page;
    memory->resident = (resident > shared ? resident - shared : 0) * page;
    return 0;
}

int csandbox_measure_signals(pid_t process, uint64_t *queued, uint64_t *limit) {
    char text[4096];
    int error = read_page(process, "status", text, sizeof text);
    if (error != 0) return error;
    const char *line = strstr(text, "SigQ:");
    return line != NULL && sscanf(line, "SigQ: %" SCNu64 "/%" SCNu64, queued, limit) == 2 ? 0 : EINVAL;
}

int64_t csandbox_count_descriptors(pid_t process) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd", process);
    /* Available since 6.2; 0 before that. */
    return stat(path, &status) == 0 ? status.st_size : 0;
}
