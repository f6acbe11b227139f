/* SPDX-License-Identifier: Apache-2.0 */
#include "csystem.h"

#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* Converts a time and clamps it: 64 bits of nanoseconds end in the year 2262, and a file may have a
 * later time. */
static int64_t nanoseconds(struct statx_timestamp time) {
    int64_t result;
    if (__builtin_mul_overflow((int64_t)time.tv_sec, (int64_t)1000000000, &result)
        || __builtin_add_overflow(result, (int64_t)time.tv_nsec, &result))
        return time.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return result;
}

int csystem_describe(int folder, const char *name, int follows, struct csystem_file *file) {
    struct statx found;
    int flags = AT_NO_AUTOMOUNT | AT_EMPTY_PATH | (follows ? 0 : AT_SYMLINK_NOFOLLOW);
    if (statx(folder, name, flags, STATX_BASIC_STATS | STATX_BTIME, &found) != 0) return errno;
    file->inode = found.stx_ino;
    file->device = (uint64_t)found.stx_dev_major << 32 | found.stx_dev_minor;
    file->size = (int64_t)found.stx_size;
    file->born = found.stx_mask & STATX_BTIME ? nanoseconds(found.stx_btime) : 0;
    file->modified = nanoseconds(found.stx_mtime);
    file->changed = nanoseconds(found.stx_ctime);
    file->mode = found.stx_mode;
    /* STATX_ATTR_MOUNT_ROOT (Linux 5.8). */
    const uint64_t mount_root = 0x2000;
    file->links = found.stx_nlink;
    file->is_mount = found.stx_attributes_mask & mount_root ? (found.stx_attributes & mount_root) != 0 : -1;
    return 0;
}

int csystem_file_system(int descriptor, uint64_t *number, int64_t *type) {
    struct statfs found;
    if (fstatfs(descriptor, &found) != 0) return errno;
    _Static_assert(sizeof found.f_fsid <= sizeof *number, "a number of a file system");
    *number = 0;
    memcpy(number, &found.f_fsid, sizeof found.f_fsid);
    *type = (int64_t)found.f_type;
    return 0;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

int csystem_has_crc32c(void) { return __builtin_cpu_supports("sse4.2") != 0; }

__attribute__((target("sse4.2"))) uint32_t csystem_crc32c(uint32_t state, const void *bytes, size_t size) {
    const unsigned char *next = bytes;
    uint64_t wide = state, word;
    for (; size >= sizeof word; next += sizeof word, size -= sizeof word) {
        memcpy(&word, next, sizeof word);
        wide = _mm_crc32_u64(wide, word);
    }
    state = (uint32_t)wide;
    for (; size > 0; next++, size--) state = _mm_crc32_u8(state, *next);
    return state;
}
#else
int csystem_has_crc32c(void) { return 0; }

uint32_t csystem_crc32c(uint32_t state, const void *bytes, size_t size) {
    (void)bytes, (void)size;
    return state;
}
#endif

int csystem_start_program(const char *path, char *const arguments[], char *const environment[], const char *folder,
                          int *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    for (int number = 0; number < 3 && error == 0; number++)
        error = posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (error == 0) error = posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &all);
    if (error == 0)
        error = posix_spawnattr_setflags(&attributes,
                                         POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t started = 0;
    if (error == 0) error = posix_spawn(&started, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    *process = started;
    return error;
}
