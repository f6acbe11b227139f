/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c: see snapshot.h.
 *
 * Copies the database first, then its write-ahead log. Between two checkpoints, the writer changes
 * pages only in the log. A checkpoint copies pages from the log to the database, and they stay in
 * the log. So if the writer did not restart the log during the copy, which the log header shows,
 * applying the committed frames to the copy gives a committed state. Without a log, the copy is
 * valid only if the database did not change while it was copied. This file applies the frames
 * itself, according to the published format, because SQLite would need to write files.
 */
#include "snapshot.h"

#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 5, CHUNK = 1 << 20, LOG_HEADER = 32, FRAME_HEADER = 24 };

int snapshot_open_file(const char *path, int64_t maximum, int64_t *size, enum reading *reading, struct problem *problem) {
    struct stat status;
    /* Opened without blocking, because the path may be a pipe. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        int error = errno;
        *reading = error == ENOENT || error == ENOTDIR ? READING_GONE
                   : error == ELOOP || error == ENXIO || error == ENAMETOOLONG ? READING_USELESS : READING_LATER;
        problem_set(problem, "%s cannot be opened: %s", path, strerror(error));
        return -1;
    }
    *reading = READING_USELESS;
    if (fstat(file, &status) != 0) {
        *reading = READING_LATER;
        problem_set(problem, "%s cannot be checked: %s", path, strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        *reading = READING_FOREIGN;
        problem_set(problem, "%s is not a file", path);
    } else if (status.st_size > maximum) {
        problem_set(problem, "%s is larger than %lld MiB", path, (long long)(maximum >> 20));
    } else {
        *size = status.st_size;
        return file;
    }
    close(file);
    return -1;
}

/* The attributes that must be the same before and after copying. */
struct stamp {
    struct stat database, log;
    bool has_log, has_journal;
    unsigned char log_header[LOG_HEADER];
};

static bool same_file(const struct stat *one, const struct stat *other) {
    return one->st_ino == other->st_ino && one->st_dev == other->st_dev;
}
static bool unchanged(const struct stat *one, const struct stat *other) {
    return same_file(one, other) && one->st_size == other->st_size && one->st_mtim.tv_sec == other->st_mtim.tv_sec &&
           one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}

/* The paths of a database and its companion files. */
struct place {
    char database[4096], log[4096 + 8], journal[4096 + 12];
};

static bool take_stamp(const struct place *place, struct stamp *stamp) {
    struct stat journal;
    memset(stamp, 0, sizeof *stamp);
    if (stat(place->database, &stamp->database) != 0) return false;
    int log = open(place->log, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (log >= 0) {
        stamp->has_log = fstat(log, &stamp->log) == 0 && S_ISREG(stamp->log.st_mode) && stamp->log.st_size > 0;
        bool read_all =
            !stamp->has_log || pread(log, stamp->log_header, LOG_HEADER, 0) == LOG_HEADER || stamp->log.st_size < LOG_HEADER;
        close(log);
        if (!read_all) return false;
    } else if (errno != ENOENT) {
        return false;
    }
    stamp->has_journal = stat(place->journal, &journal) == 0 && journal.st_size > 0;
    return true;
}

static bool is_same_state(const struct stamp *one, const struct stamp *other) {
    if (one->has_log != other->has_log || !same_file(&one->database, &other->database)) return false;
    if (!one->has_log) return unchanged(&one->database, &other->database);
    return same_file(&one->log, &other->log) && memcmp(one->log_header, other->log_header, LOG_HEADER) == 0;
}

/* Copies a file of at most `maximum` bytes, with shared blocks if the file system supports them.
 * Returns 0 or an error number: ECANCELED if the work was cancelled, EFBIG if the file is
 * larger. */
static int copy(int from, int to, int64_t maximum, struct work *work, int64_t total) {
    int64_t done = 0;
    bool by_kernel = true;
    char *chunk = NULL;
    int error = 0;
    while (error == 0) {
        ssize_t count = -1;
        if (by_kernel) {
            off_t in = done, out = done;
            count = copy_file_range(from, &in, to, &out, 8 * CHUNK, 0);
            if (count < 0 || (count == 0 && done == 0)) by_kernel = false;
        }
        if (!by_kernel) {
            if (chunk == NULL && (chunk = malloc(CHUNK)) == NULL) error = ENOMEM;
            if (error == 0 && (count = pread(from, chunk, CHUNK, done)) < 0) error = errno;
            for (ssize_t put = 0, n; error == 0 && put < count; put += n)
                if ((n = pwrite(to, chunk + put, (size_t)(count - put), done + put)) <= 0) {
                    error = n < 0 ? errno : EIO;
                    break;
                }
        }
        if (error != 0 || count == 0) break;
        done += count;
        if (done > maximum) error = EFBIG;
        else if (!work->goes_on(work->context, (uint64_t)(done >> 20), (uint64_t)(total >> 20))) error = ECANCELED;
    }
    free(chunk);
    return error;
}

static uint32_t big(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}
static uint32_t little(const unsigned char *bytes) {
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

/* Adds a multiple of eight bytes to a checksum in the log's format. */
static void add_checksum(const unsigned char *bytes, size_t length, bool is_big, uint32_t sum[2]) {
    for (size_t i = 0; i + 8 <= length; i += 8) {
        sum[0] += (is_big ? big(bytes + i) : little(bytes + i)) + sum[1];
        sum[1] += (is_big ? big(bytes + i + 4) : little(bytes + i + 4)) + sum[0];
    }
}

/* Applies the committed frames of a log to a copy of its database. Both files are private. An
 * incomplete frame at the end of the log was never committed, or belongs to an earlier use of the
 * log. Returns 0 or an error number. */
static int apply_log(int log, int database, struct work *work) {
    unsigned char header[LOG_HEADER];
    if (pread(log, header, LOG_HEADER, 0) != LOG_HEADER) return 0;
    uint32_t magic = big(header), page = big(header + 8), sum[2] = {0, 0};
    bool is_big = (magic & 1) != 0;
    if ((magic & ~1u) != 0x377F0682u || page < 512 || page > 65536 || (page & (page - 1)) != 0) return 0;
    add_checksum(header, 24, is_big, sum);
    if (sum[0] != big(header + 24) || sum[1] != big(header + 28)) return 0;
    unsigned char *frame = malloc(FRAME_HEADER + page);
    if (frame == NULL) return ENOMEM;
    const uint32_t first[2] = {sum[0], sum[1]};
    int64_t committed = 0, pages = 0;
    int error = 0;
    /* The first pass finds the last commit. The second pass writes the frames up to it. */
    for (int writing = 0; writing < 2 && error == 0; writing++) {
        sum[0] = first[0], sum[1] = first[1];
        for (int64_t number = 0; writing == 0 || number < committed; number++) {
            off_t place = LOG_HEADER + number * (int64_t)(FRAME_HEADER + page);
            if (pread(log, frame, FRAME_HEADER + page, place) != (ssize_t)(FRAME_HEADER + page)) break;
            if (big(frame) == 0 || memcmp(frame + 8, header + 16, 8) != 0) break;
            add_checksum(frame, 8, is_big, sum);
            add_checksum(frame + FRAME_HEADER, page, is_big, sum);
            if (sum[0] != big(frame + 16) || sum[1] != big(frame + 20)) break;
            if (writing == 0 && big(frame + 4) != 0) {
                committed = number + 1;
                pages = big(frame + 4);
            }
            off_t target = (off_t)(big(frame) - 1) * page;
            if (writing == 1 && target < SNAPSHOT_MAX_DATABASE + SNAPSHOT_MAX_LOG &&
                pwrite(database, frame + FRAME_HEADER, page, target) != (ssize_t)page) {
                error = errno == 0 ? EIO : errno;
                break;
            }
            if (!work_step(work, 0, 0)) {
                error = ECANCELED;
                break;
            }
        }
    }
    free(frame);
    if (error == 0 && committed > 0 && pages * page <= SNAPSHOT_MAX_DATABASE + SNAPSHOT_MAX_LOG &&
        ftruncate(database, pages * page) != 0)
        error = errno;
    return error;
}

static int temporary_file(char *path, size_t capacity) {
    const char *folder = getenv("TMPDIR");
    if (snprintf(path, capacity, "%s/snapshot-XXXXXX", folder == NULL || *folder != '/' ? "/tmp" : folder) >= (int)capacity)
        return -1;
    return mkostemp(path, O_CLOEXEC);
}

/* Copies the log and applies it to the copy of the database. Returns 0 or an error number. */
static int copy_log(const struct place *place, int64_t size, int to, struct work *work) {
    char path[4096];
    int log = open(place->log, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (log < 0) return errno == ENOENT ? EAGAIN : errno;
    int error = 0, kept = temporary_file(path, sizeof path);
    if (kept < 0) {
        error = errno;
    } else {
        unlink(path);
        error = copy(log, kept, SNAPSHOT_MAX_LOG, work, size);
        if (error == 0) error = apply_log(kept, to, work);
        close(kept);
    }
    close(log);
    return error;
}

/* Makes one attempt. Returns 0; ECANCELED; EAGAIN if the writer interfered; another error number;
 * or -1 with `reading` and `problem` set. */
static int copy_once(const struct place *place, int to, struct work *work, enum reading *reading, struct problem *problem) {
    struct stamp before, after;
    struct stat opened;
    int64_t size;
    int original = snapshot_open_file(place->database, SNAPSHOT_MAX_DATABASE, &size, reading, problem);
    if (original < 0) return -1;
    int error = 0;
    if (!take_stamp(place, &before) || fstat(original, &opened) != 0) error = errno == ENOENT ? EAGAIN : EIO;
    /* If a rollback journal exists, the database alone may be an incomplete transaction. */
    else if (before.has_journal || !same_file(&before.database, &opened)) error = EAGAIN;
    else if (ftruncate(to, 0) != 0) error = errno;
    if (error == 0) error = copy(original, to, SNAPSHOT_MAX_DATABASE, work, size);
    if (error == 0 && before.has_log) error = copy_log(place, before.log.st_size, to, work);
    close(original);
    if (error != 0) return error;
    if (!take_stamp(place, &after)) return errno == ENOENT ? EAGAIN : EIO;
    return is_same_state(&before, &after) && !after.has_journal ? 0 : EAGAIN;
}

/* Opens the copy, which no other process can access. */
static enum reading open_copy(const char *copy_path, int file, const char *path, sqlite3 **database, struct problem *problem) {
    /* Sets the write and read format versions as in a database without a log. */
    const unsigned char versions[2] = {1, 1};
    char name[3 * 4096], uri[sizeof name + 32];
    if (pwrite(file, versions, 2, 18) != 2) {
        problem_set(problem, "the copy of %s cannot be written: %s", path, strerror(errno));
        return READING_LATER;
    }
    text_encode(name, sizeof name, slice_of(copy_path), "/.");
    snprintf(uri, sizeof uri, "file:%s?immutable=1", name);
    if (sqlite3_open_v2(uri, database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE, NULL) != SQLITE_OK) {
        problem_set(problem, "the copy of %s cannot be opened: %s", path,
                    *database == NULL ? "out of memory" : sqlite3_errmsg(*database));
        sqlite3_close(*database);
        *database = NULL;
        return READING_LATER;
    }
    /* Prevents code in the file from running, and limits values to the sizes that browsers use. */
    sqlite3_db_config(*database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(*database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(*database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_limit(*database, SQLITE_LIMIT_LENGTH, 16 << 20);
    sqlite3_exec(*database, "PRAGMA cell_size_check=ON; PRAGMA cache_size=-8192", NULL, NULL, NULL);
    return READING_DONE;
}

enum reading snapshot_open(const char *path, struct work *work, sqlite3 **database, struct problem *problem) {
    struct place place;
    char copy_path[4096];
    enum reading reading = READING_LATER;
    *database = NULL;
    if (snprintf(place.database, sizeof place.database, "%s", path) >= (int)sizeof place.database) return READING_GONE;
    snprintf(place.log, sizeof place.log, "%s-wal", path);
    snprintf(place.journal, sizeof place.journal, "%s-journal", path);
    int file = temporary_file(copy_path, sizeof copy_path);
    int error = file < 0 ? errno : EAGAIN;
    for (int attempt = 0; error == EAGAIN && attempt < ATTEMPTS; attempt++) {
        if (attempt > 0) usleep(20000);
        error = copy_once(&place, file, work, &reading, problem);
    }
    if (error == 0) {
        /* SQLite has opened the file, so its name can be removed. */
        reading = open_copy(copy_path, file, path, database, problem);
    } else if (error == ECANCELED) {
        reading = READING_CANCELLED;
    } else if (error == EFBIG) {
        reading = READING_USELESS;
        problem_set(problem, "%s or its log is too large to be copied", path);
    } else if (error == EAGAIN) {
        problem_set(problem, "%s is being written to all the time", path);
    } else if (error > 0) {
        problem_set(problem, "%s cannot be copied: %s", path, strerror(error));
    }
    if (error > 0 && error != ECANCELED && error != EFBIG) reading = READING_LATER;
    if (file >= 0) {
        close(file);
        unlink(copy_path);
    }
    return reading;
}
