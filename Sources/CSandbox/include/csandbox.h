/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Swift cannot say to the kernel by itself: starting a worker with exactly the descriptors it may have, and
 * giving up rights before the first thread exists.
 *
 * Functions return 0, or the errno of the step that failed.
 */
#ifndef SEARCHLIGHT_CSANDBOX_H
#define SEARCHLIGHT_CSANDBOX_H

#include <stdint.h>
#include <sys/types.h>

#include "csandbox_policy.h"

/* The descriptor number at which a worker finds its connection to the host. */
#define CSANDBOX_CONNECTION_FD 3

/*
 * Starts a program as the leader of a process group of its own, so that a terminal's Ctrl-C reaches the host only.
 * It gets: descriptor 0 from /dev/null, 1 and 2 to output_fd, CSANDBOX_CONNECTION_FD from connection_fd,
 * CSANDBOX_POLICY_FD from policy_fd, and nothing else; default signal handlers and an empty signal mask. argv and envp
 * end with NULL. With own_session it leads a session too, and so has a scheduling group (autogroup) of its own.
 */
int csandbox_spawn(const char *path, char *const argv[], char *const envp[], int connection_fd, int policy_fd,
                   int output_fd, int own_session, pid_t *pid);

/* A connected pair of local stream sockets, close-on-exec. */
int csandbox_socket_pair(int descriptors[2]);

/* The path of the library or program in this process that has a function of a name; NULL if none has. */
const char *csandbox_library_with(const char *function);

/* An anonymous stream: bytes written to descriptors[1] are read from descriptors[0]; close-on-exec. */
int csandbox_pipe(int descriptors[2]);

/* Has standard output be written at the end of each line, whatever it is. To be called before anything is printed. */
void csandbox_print_lines(void);

/* Writes what was printed on standard output and is kept in memory still. */
void csandbox_flush_output(void);

/* A file in memory, without a name, gone with its last descriptor; close-on-exec. -1, and errno, on failure. */
int csandbox_memory_file(void);

/*
 * Removes a folder with all in it, whatever its owner has done: however deep it is, and though folders in it may not be
 * read. Links are removed and not followed. Nobody may write there meanwhile. 0, also if there is none, or an errno.
 */
int csandbox_remove_tree(const char *path);

/* What tells what stands at a path from what stood there before. */
typedef struct csandbox_place {
    uint64_t device, inode;
    int64_t made; /* nanoseconds since 1970; 0 where the file system does not say. Numbers may be given again at once. */
    uint64_t size;
    int64_t modified; /* nanoseconds since 1970 */
} csandbox_place;

/* Looks at what a path leads to. Nothing is opened or mounted for it. */
int csandbox_look(const char *path, csandbox_place *place);

/* Whether a path leads to a file system that is in this machine's memory or on its disks, and so answers; what does not exist
 * counts as the nearest folder above it that does. 0 also where that is not known: a network's, or a program's. */
int csandbox_is_local(const char *path);

/* What csandbox_probe found. */
enum {
    CSANDBOX_PROBE_PROCESS_HANDLES = 1 << 0, /* pidfd_open and pidfd_getfd (kernel 5.6) */
    CSANDBOX_PROBE_OPEN_BENEATH = 1 << 1,    /* openat2 (kernel 5.6) */
    CSANDBOX_PROBE_FOLDER_WATCH = 1 << 2,    /* one more inotify descriptor may be had */
    CSANDBOX_PROBE_IDLE_CPU = 1 << 3,        /* SCHED_IDLE may be taken */
    CSANDBOX_PROBE_IDLE_DISK = 1 << 4        /* the idle class of disks may be taken */
};

/* Tries what the kernel lets this process do. The calling thread is idle afterwards, for good: one that ends then. */
uint32_t csandbox_probe(void);

/* How many descriptors this process may have, by the soft limit; UINT64_MAX for any number. */
uint64_t csandbox_descriptor_limit(void);

#endif
