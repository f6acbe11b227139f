/* SPDX-License-Identifier: Apache-2.0 */
#include "csandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int prepare_descriptors(posix_spawn_file_actions_t *actions, int connection_fd, int output_fd) {
    int error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, output_fd, 1);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, output_fd, 2);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, connection_fd, CSANDBOX_CONNECTION_FD);
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(actions, CSANDBOX_CONNECTION_FD + 1);
    return error;
}

static int prepare_attributes(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &all);
    if (error == 0) error = posix_spawnattr_setpgroup(attributes, 0);
    if (error == 0)
        error = posix_spawnattr_setflags(attributes,
                                         POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return error;
}

int csandbox_spawn(const char *path, char *const argv[], char *const envp[], int connection_fd, int output_fd,
                   pid_t *pid) {
    /* A source below the target numbers would be overwritten by the dup2 of another; move it out of the way. */
    int connection = fcntl(connection_fd, F_DUPFD_CLOEXEC, 10);
    if (connection < 0) return errno;
    int output = fcntl(output_fd, F_DUPFD_CLOEXEC, 10);
    if (output < 0) {
        int error = errno;
        close(connection);
        return error;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = posix_spawnattr_init(&attributes);
        if (error == 0) {
            error = prepare_descriptors(&actions, connection, output);
            if (error == 0) error = prepare_attributes(&attributes);
            if (error == 0) error = posix_spawn(pid, path, &actions, &attributes, argv, envp);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    close(connection);
    close(output);
    return error;
}

int csandbox_socket_pair(int descriptors[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, descriptors) == 0 ? 0 : errno;
}

int csandbox_restrict_self(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
    return 0;
}

int csandbox_pipe(int descriptors[2]) { return pipe2(descriptors, O_CLOEXEC) == 0 ? 0 : errno; }

int csandbox_memory_file(void) { return memfd_create("searchlight", MFD_CLOEXEC); }
