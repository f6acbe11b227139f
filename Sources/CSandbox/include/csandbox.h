/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel interfaces that Swift cannot use on its own. They start a worker with exactly the
 * descriptors that it may have, and drop privileges before the first thread exists.
 *
 * Functions return 0, or the errno of the step that failed.
 */
#ifndef SEARCHLIGHT_CSANDBOX_H
#define SEARCHLIGHT_CSANDBOX_H

#include <stdint.h>
#include <sys/types.h>

#include "csandbox_policy.h"

/* The number of the descriptor with a worker's connection to the host. */
#define CSANDBOX_CONNECTION_FD 3

/*
 * Starts a program as the leader of its own process group, so that a terminal's Ctrl-C reaches only
 * the host.
 *
 * The program gets these descriptors and no others: 0 from /dev/null, 1 and 2 from output_fd,
 * CSANDBOX_CONNECTION_FD from connection_fd, CSANDBOX_POLICY_FD from policy_fd. It gets default
 * signal handlers and an empty signal mask. argv and envp end with NULL. With own_session, it also
 * leads a session, and therefore has its own autogroup.
 */
int csandbox_spawn(const char *path, char *const argv[], char *const envp[], int connection_fd, int policy_fd,
                   int output_fd, int own_session, pid_t *pid);

/* Creates a connected pair of local stream sockets, close-on-exec. */
int csandbox_socket_pair(int descriptors[2]);

/* Returns the path of the library or program in this process that contains a function; NULL if none
 * contains it. */
const char *csandbox_library_with(const char *function);

/* Creates a pipe: bytes written to descriptors[1] are read from descriptors[0]; close-on-exec. */
int csandbox_pipe(int descriptors[2]);

/* Makes standard output line-buffered, even if it is not a terminal. Must be called before anything
 * is printed. */
void csandbox_print_lines(void);

/* Writes the buffered part of standard output. */
void csandbox_flush_output(void);

/* Creates an unnamed in-memory file, which is freed with its last descriptor; close-on-exec. On
 * failure, returns -1 and sets errno. */
int csandbox_memory_file(void);

/*
 * Removes a folder with its contents, whatever its owner has done: however deep it is, and even if
 * folders in it cannot be read. Links are removed but not followed. No process may write to the
 * folder during the call. Returns 0, even if the folder does not exist, or an errno.
 */
int csandbox_remove_tree(const char *path);

/* The identity of a file at a path. */
typedef struct csandbox_place {
    uint64_t device, inode;
    int64_t made; /* nanoseconds since 1970; 0: unknown; inode numbers may be reused */
    uint64_t size;
    int64_t modified; /* nanoseconds since 1970 */
} csandbox_place;

/* Reads the identity of a path's target. Opens and mounts nothing. */
int csandbox_look(const char *path, csandbox_place *place);

/* Returns 1 if a path leads to a file system in this machine's memory or on its disks, which
 * responds immediately. If the path does not exist, its nearest existing parent is checked. Returns
 * 0 for network and FUSE file systems, and if it is unknown. */
int csandbox_is_local(const char *path);

/* The results of csandbox_probe. */
enum {
    CSANDBOX_PROBE_PROCESS_HANDLES = 1 << 0, /* pidfd_open and pidfd_getfd (kernel 5.6) */
    CSANDBOX_PROBE_OPEN_BENEATH = 1 << 1,    /* openat2 (kernel 5.6) */
    CSANDBOX_PROBE_FOLDER_WATCH = 1 << 2,    /* another inotify descriptor is available */
    CSANDBOX_PROBE_IDLE_CPU = 1 << 3,        /* SCHED_IDLE is allowed */
    CSANDBOX_PROBE_IDLE_DISK = 1 << 4        /* the idle I/O class is allowed */
};

/* Tests what the kernel allows this process to do. The calling thread is left at idle priority, so
 * it should exit afterwards. */
uint32_t csandbox_probe(void);

/* Returns the soft limit on this process's descriptors; UINT64_MAX for no limit. */
uint64_t csandbox_descriptor_limit(void);

#endif
