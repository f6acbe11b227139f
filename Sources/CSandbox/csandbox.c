/* SPDX-License-Identifier: Apache-2.0 */
#include "csandbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static int prepare_descriptors(posix_spawn_file_actions_t *actions, int connection_fd, int policy_fd, int output_fd) {
    int error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, output_fd, 1);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, output_fd, 2);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, connection_fd, CSANDBOX_CONNECTION_FD);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, policy_fd, CSANDBOX_POLICY_FD);
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(actions, CSANDBOX_POLICY_FD + 1);
    return error;
}

static int prepare_attributes(posix_spawnattr_t *attributes, int own_session) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &all);
    if (error == 0) error = posix_spawnattr_setpgroup(attributes, 0);
    /* A session leader also leads its process group. */
    int group = own_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    if (error == 0)
        error = posix_spawnattr_setflags(attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
    return error;
}

int csandbox_spawn(const char *path, char *const argv[], char *const envp[], int connection_fd, int policy_fd,
                   int output_fd, int own_session, pid_t *pid) {
    /* dup2 would overwrite a source whose number is one of the targets, so all sources first get
     * higher numbers. */
    int sources[3] = {connection_fd, policy_fd, output_fd}, moved[3] = {-1, -1, -1};
    int error = 0;
    for (int i = 0; i < 3 && error == 0; i++) {
        moved[i] = fcntl(sources[i], F_DUPFD_CLOEXEC, 10);
        if (moved[i] < 0) error = errno;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (error == 0) error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = posix_spawnattr_init(&attributes);
        if (error == 0) {
            error = prepare_descriptors(&actions, moved[0], moved[1], moved[2]);
            if (error == 0) error = prepare_attributes(&attributes, own_session);
            if (error == 0) error = posix_spawn(pid, path, &actions, &attributes, argv, envp);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    for (int i = 0; i < 3; i++)
        if (moved[i] >= 0) close(moved[i]);
    return error;
}

int csandbox_socket_pair(int descriptors[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, descriptors) == 0 ? 0 : errno;
}

int csandbox_pipe(int descriptors[2]) { return pipe2(descriptors, O_CLOEXEC) == 0 ? 0 : errno; }

void csandbox_print_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }

void csandbox_flush_output(void) { fflush(stdout); }

int csandbox_memory_file(void) { return memfd_create("searchlight", MFD_CLOEXEC); }

const char *csandbox_library_with(const char *function) {
    Dl_info found;
    void *address = dlsym(RTLD_DEFAULT, function);
    return address != NULL && dladdr(address, &found) != 0 ? found.dli_fname : NULL;
}

int csandbox_is_local(const char *path) {
    /* <linux/magic.h> lacks the numbers for XFS, ZFS, F2FS and exFAT. */
    static const uint32_t local[] = {
        0xef53 /* ext2 to ext4 */, 0x58465342 /* XFS */, 0x9123683e /* Btrfs */, 0xca451a4e /* bcachefs */,
        0xf2f52010 /* F2FS */, 0x2fc12fc1 /* ZFS */, 0x01021994 /* tmpfs */, 0x858458f6 /* ramfs */,
        0x794c7630 /* overlayfs */, 0x73717368 /* SquashFS */, 0xe0f5e1e2 /* EROFS */, 0x4d44 /* FAT */,
        0x2011bab0 /* exFAT */, 0x7366746e /* NTFS */, 0x9fa0 /* proc */, 0x62656572 /* sysfs */,
    };
    char rest[PATH_MAX];
    struct statfs status;
    size_t length = strlen(path);
    if (length >= sizeof rest) return 0;
    memcpy(rest, path, length + 1);
    while (statfs(rest, &status) != 0) {
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return 0;
        char *slash = strrchr(rest, '/');
        if (!slash || strcmp(rest, "/") == 0) return 0;
        slash[slash == rest] = 0;
    }
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if ((uint32_t)status.f_type == local[i]) return 1;
    return 0;
}

int csandbox_look(const char *path, csandbox_place *place) {
    struct statx status;
    if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT, STATX_INO | STATX_BTIME | STATX_SIZE | STATX_MTIME, &status) != 0) return errno;
    *place = (csandbox_place){
        .device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor,
        .inode = status.stx_ino,
        .size = status.stx_size,
        .modified = (int64_t)((uint64_t)status.stx_mtime.tv_sec * 1000000000u + status.stx_mtime.tv_nsec),
    };
    if (status.stx_mask & STATX_BTIME)
        place->made = (int64_t)((uint64_t)status.stx_btime.tv_sec * 1000000000u + status.stx_btime.tv_nsec);
    return 0;
}
