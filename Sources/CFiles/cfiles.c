/* SPDX-License-Identifier: Apache-2.0 */
#include "cfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define UNINTERRUPTED(result, call)             \
    do {                                        \
        (result) = (call);                      \
    } while ((result) < 0 && errno == EINTR)

int cfiles_clone(int to, int from) {
    int result;
    UNINTERRUPTED(result, ioctl(to, FICLONE, from));
    return result < 0 ? -errno : 0;
}

int64_t cfiles_copy_range(int from, int64_t from_offset, int to, int64_t to_offset, uint64_t count) {
    loff_t source = from_offset, target = to_offset;
    ssize_t result;
    UNINTERRUPTED(result, copy_file_range(from, &source, to, &target, count, 0));
    return result < 0 ? -errno : result;
}

static int64_t seek(int descriptor, int64_t offset, int whence) {
    off_t result = lseek(descriptor, offset, whence);
    return result < 0 ? -errno : result;
}

int64_t cfiles_next_data(int descriptor, int64_t offset) { return seek(descriptor, offset, SEEK_DATA); }
int64_t cfiles_next_hole(int descriptor, int64_t offset) { return seek(descriptor, offset, SEEK_HOLE); }

int cfiles_open_beneath(int folder, const char *name, int flags) {
    struct open_how how = {
        .flags = (uint64_t)(flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    };
    long result;
    /* EAGAIN: a concurrent rename interfered with the check. Retried a limited number of times. */
    int tries = 0;
    do {
        result = syscall(SYS_openat2, folder, name, &how, sizeof how);
    } while (result < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < 16)));
    return result < 0 ? -errno : (int)result;
}

int cfiles_rename_exclusively(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) < 0 ? -errno : 0;
}

int cfiles_is_readable(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return -errno;
    return (flags & O_PATH) == 0 && (flags & O_ACCMODE) != O_WRONLY;
}

int cfiles_is_made_up(int descriptor) {
    struct statfs status;
    int result;
    UNINTERRUPTED(result, fstatfs(descriptor, &status));
    if (result < 0) return -errno;
    switch ((unsigned long)status.f_type) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case DEVPTS_SUPER_MAGIC:
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
    case DEBUGFS_MAGIC:
    case TRACEFS_MAGIC:
    case SECURITYFS_MAGIC:
    case BPF_FS_MAGIC:
    case PSTOREFS_MAGIC:
    case EFIVARFS_MAGIC:
    case NSFS_MAGIC:
    case SELINUX_MAGIC:
    case 0x62656570UL: /* configfs */
        return 1;
    default: return 0;
    }
}

int cfiles_flag(void) {
    int result = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return result < 0 ? -errno : result;
}

void cfiles_raise(int flag) {
    uint64_t one = 1;
    while (write(flag, &one, sizeof one) < 0 && errno == EINTR) continue;
}
