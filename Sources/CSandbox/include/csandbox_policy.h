/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's policy, which the host writes and the kernel enforces.
 *
 * The host writes one policy to the socket at the worker's CSANDBOX_POLICY_FD. It consists of a
 * csandbox_policy, its rules (each a csandbox_rule, the path, and a zero byte), and two seccomp
 * programs (8 bytes per instruction). The first program forwards denied calls to the host, so that
 * they can be reported. The second is for kernels that cannot forward calls.
 *
 * All numbers are in this machine's byte order, because both ends come from one build. The worker
 * answers with a csandbox_report, together with the listener descriptor for forwarded calls.
 */
#ifndef SEARCHLIGHT_CSANDBOX_POLICY_H
#define SEARCHLIGHT_CSANDBOX_POLICY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The number of the descriptor with a worker's policy socket. */
#define CSANDBOX_POLICY_FD 4

#define CSANDBOX_POLICY_MAGIC 0x50534c53u /* "SLSP" */
#define CSANDBOX_REPORT_MAGIC 0x52534c53u /* "SLSR" */
#define CSANDBOX_VERSION 3u

/* Limits. Both ends reject a policy that exceeds them. The whole policy fits into a socket's
 * buffer. */
#define CSANDBOX_MAXIMUM_BYTES (96u << 10)
#define CSANDBOX_MAXIMUM_RULES 512u
#define CSANDBOX_MAXIMUM_PATH 4095u
#define CSANDBOX_MAXIMUM_INSTRUCTIONS 4096u

/* A placeholder in filters for the worker's process ID, which the host cannot know in advance. */
#define CSANDBOX_SELF_PLACEHOLDER 0x5ea2c4a1u

/* Protections: requested in a policy; applied or missing in a report. */
enum {
    CSANDBOX_PRIVILEGES = 1 << 0,    /* no new privileges and no capabilities */
    CSANDBOX_LIMITS = 1 << 1,        /* memory, files, descriptors */
    CSANDBOX_FILES = 1 << 2,         /* Landlock: files outside the rules (kernel 5.13) */
    CSANDBOX_TRUNCATION = 1 << 3,    /* Landlock: truncating them (6.2) */
    CSANDBOX_TCP = 1 << 4,           /* Landlock: TCP (6.7) */
    CSANDBOX_DEVICES = 1 << 5,       /* Landlock: control of devices (6.10) */
    CSANDBOX_SCOPES = 1 << 6,        /* Landlock: others' signals and abstract sockets (6.12) */
    CSANDBOX_CODE = 1 << 7,          /* memory that was written cannot become code (6.3) */
    CSANDBOX_SYSTEM_CALLS = 1 << 8,  /* the system call filter */
    CSANDBOX_TELLING = 1 << 9,       /* denials are reported to the host (5.5) */
    CSANDBOX_END_WITH_HOST = 1 << 10, /* the worker exits with its host */
    CSANDBOX_PROCESSES = 1 << 11     /* the host opens the worker's own files in /proc for it (5.19) */
};

/* Measures of a background worker: requested in a policy; applied or missing in a report. */
enum {
    CSANDBOX_IDLE_CPU = 1 << 0,     /* SCHED_IDLE, which cannot be undone without privileges */
    CSANDBOX_IDLE_DISK = 1 << 1,    /* the idle I/O class, if the disk scheduler supports classes */
    CSANDBOX_IDLE_SESSION = 1 << 2, /* autogroup nice 19; without it SCHED_IDLE works only in the session */
    CSANDBOX_IDLE_TIMERS = 1 << 3,  /* timers may be late, so that they share wake-ups */
    CSANDBOX_IDLE_MEMORY = 1 << 4   /* the first to be killed when memory runs out */
};
#define CSANDBOX_IDLE_ALL 31u
#define CSANDBOX_MAXIMUM_TIMER_SLACK 1000000000u /* nanoseconds */
#define CSANDBOX_MAXIMUM_OOM_SCORE 1000u

/*
 * A rule's access to its path and everything below it: one of the first two, combined with the
 * others for reading. A rule with CSANDBOX_UNLESS_SERVED applies only if the host cannot open files
 * in /proc for the worker.
 */
enum { CSANDBOX_READ = 1, CSANDBOX_WRITE = 2, CSANDBOX_WITHOUT_LISTING = 4, CSANDBOX_UNLESS_SERVED = 8 };

typedef struct csandbox_policy {
    uint32_t magic;
    uint32_t version;
    uint32_t byte_count;  /* of the whole policy */
    uint32_t protections; /* the requested protections */
    uint64_t data_limit;  /* bytes of private writable memory */
    uint64_t address_limit;
    uint64_t file_limit; /* bytes of one file */
    uint32_t descriptor_limit;
    uint32_t host; /* the host process; the worker exits with it */
    uint32_t allows_tcp; /* 1: connections, but no listening */
    uint32_t rule_count;
    uint32_t telling_count; /* instructions of the filter that forwards calls */
    uint32_t plain_count;   /* instructions of the other filter */
    uint32_t idle;          /* the requested CSANDBOX_IDLE_…; the worker must lead a session */
    uint32_t timer_slack;   /* nanoseconds, with CSANDBOX_IDLE_TIMERS */
    uint32_t oom_score;     /* oom_score_adj, with CSANDBOX_IDLE_MEMORY */
    uint32_t signal_limit;  /* the user's timers and queued signals at which the worker gets no more */
} csandbox_policy;

typedef struct csandbox_rule {
    uint32_t access;
    uint32_t length; /* of the path, without the zero byte */
} csandbox_rule;

typedef struct csandbox_report {
    uint32_t magic;
    uint32_t version;
    uint32_t applied;
    uint32_t missing;
    uint32_t landlock_revision;
    uint32_t granted; /* rules */
    uint32_t absent;  /* rules whose path does not exist */
    uint32_t unsafe;  /* rules whose path has gained a symbolic link since the host resolved it */
    uint32_t idle_applied;
    uint32_t idle_missing;
    uint64_t inherited_peak; /* bytes: the worker's peak memory before its start */
} csandbox_report;

/* A checked policy. Its pointers refer to the policy's bytes. */
typedef struct csandbox_parsed {
    csandbox_policy head;
    const unsigned char *rules;
    const unsigned char *telling;
    const unsigned char *plain;
} csandbox_parsed;

/* Checks all lengths and numbers of a policy. Returns 0 or EINVAL. */
int csandbox_parse(const unsigned char *bytes, size_t count, csandbox_parsed *parsed);

/*
 * Gives up everything that the policy at CSANDBOX_POLICY_FD does not allow, except system calls.
 * Must be called while the process has only one thread. Protections that the kernel lacks are
 * reported; they are not an error. Returns 0, or an errno with the step that failed.
 */
int csandbox_restrict_self(const char **step);

/*
 * Applies the seccomp filter to all threads, sends the report, and closes the policy descriptor.
 * Must be called once, before any extension code is loaded.
 *
 * Set up the connection to the host before this call, so that its system calls are not forwarded to
 * the host. Until this call, some files in /proc that the host opens afterwards may be
 * inaccessible; libdispatch's threads read some of them. Does nothing in a process that did not
 * call csandbox_restrict_self. Returns 0, or an errno with the step that failed.
 */
int csandbox_restrict_calls(const char **step);

/*
 * Opens an absolute path with O_PATH if no component of it is a symbolic link. Returns the
 * descriptor or -errno, which is -ELOOP for a link. by_names is for tests: 1 simulates a kernel
 * without openat2.
 */
int csandbox_open_exactly(const char *path, int by_names);

/* Returns the protections that this kernel supports, and the revision of its Landlock ABI. Changes
 * nothing. */
uint32_t csandbox_available(uint32_t *landlock_revision);

/*
 * Applies the policy's background measures to this process, as far as the kernel allows, and fills
 * in the report. Waits up to 0.3 s while the kernel rejects changes to autogroups (it accepts ten
 * per second from all unprivileged processes).
 */
void csandbox_apply_idle(const csandbox_policy *head, csandbox_report *report);


/* --- The host's side --- */

/* Writes a policy to a socket's buffer without blocking. */
int csandbox_send_policy(int socket, const void *bytes, size_t count);

/* Waits for the report. listener is -1 if the kernel cannot forward calls. ECONNRESET: the worker
 * has exited. */
int csandbox_receive_report(int socket, csandbox_report *report, int *listener);

/* A forwarded system call that waits for the host's answer. */
typedef struct csandbox_attempt {
    uint64_t id;
    uint64_t arguments[6];
    int32_t number;
    uint32_t architecture;
    int32_t thread;
} csandbox_attempt;

/* Makes answers wake the worker immediately on the same processor, if the kernel supports that
 * (6.6). */
void csandbox_hasten(int listener);

/*
 * Waits for the next forwarded call, for at most the given time (ETIMEDOUT). ENOTCONN: the worker
 * has exited. EINTR: call again. ECANCELED: stop became readable. If listener is -1, there are no
 * calls.
 */
int csandbox_next_attempt(int listener, int stop, int milliseconds, csandbox_attempt *attempt);

/* Lets the kernel execute the call within the Landlock rules. */
void csandbox_continue_attempt(int listener, uint64_t id);

/* Answers the call with an error, or with success for 0. */
void csandbox_answer_attempt(int listener, uint64_t id, int error);

/* Answers the call with a result. */
void csandbox_answer_value(int listener, uint64_t id, int64_t value);

/*
 * Opens a file for reading and passes its descriptor to the worker as the result of the call.
 * Returns 0 if the call has been answered, or an errno if it still waits. Only O_DIRECTORY,
 * O_NOFOLLOW, O_NONBLOCK and O_CLOEXEC are used from flags.
 */
int csandbox_open_for_attempt(int listener, uint64_t id, const char *path, int flags);

/*
 * Copies a TCP socket of the worker, so that the worker cannot replace it. Returns 0 or an errno;
 * EPERM for anything other than a TCP socket.
 */
int csandbox_copy_tcp_socket(pid_t process, int listener, uint64_t id, int descriptor, int *copied);

/* Connects with the socket's flags, so it may block for as long as the kernel tries. Returns 0 or
 * an errno. */
int csandbox_connect(int socket, const void *address, uint32_t length);

/* Stops a csandbox_connect that is blocked on this socket. */
void csandbox_stop_connecting(int socket);

/*
 * Returns the type of the kernel's route to an address (RTN_… in <linux/rtnetlink.h>), ignoring the
 * port, or -errno. Sends nothing over the network.
 */
int csandbox_kind_of_way(const void *address, uint32_t length);

/* Returns 1 if the calling thread is still waiting. */
int csandbox_attempt_is_waiting(int listener, uint64_t id);

/* Reads the worker's memory up to a zero byte. Returns the length or -1. The text always ends with
 * a zero byte. */
ssize_t csandbox_read_text(pid_t thread, uint64_t address, char *text, size_t capacity);

/* Reads exactly count bytes. Returns 0 or an errno. */
int csandbox_read_memory(pid_t thread, uint64_t address, void *bytes, size_t count);

/* Writes exactly count bytes. Returns 0 or an errno. */
int csandbox_write_memory(pid_t thread, uint64_t address, const void *bytes, size_t count);

/*
 * Reads an extended attribute of an open file, or the list of names if name is NULL. Writes it to
 * the worker's memory as the system call would. Returns the size or -errno. descriptor may be an
 * O_PATH descriptor. If size is 0, only queries the size.
 */
int64_t csandbox_read_attribute(int descriptor, const char *name, pid_t thread, uint64_t address, uint64_t size);

/*
 * Changes the mode of a file that the worker has open for writing, and clears its set-ID bits.
 * Returns 0 or an errno. id identifies the worker's call, which must still be waiting. The worker's
 * own descriptor is used, so that it cannot be replaced.
 */
int csandbox_change_mode(pid_t process, int listener, uint64_t id, int descriptor, unsigned mode);

/* The contents of a folder. */
typedef struct csandbox_size {
    uint64_t bytes; /* allocated, so holes do not count */
    uint64_t files; /* including folders and links */
} csandbox_size;

/*
 * Adds up a folder and everything below it, without following links. Folders that their owner may
 * not read are made readable. Returns 0, even if the folder does not exist, or an errno:
 *
 *   - ENOSPC: there are more than maximum files.
 *   - E2BIG: folders are nested more than 64 deep.
 *   - EMFILE, ENFILE, ENOMEM: this process lacks a resource.
 */
int csandbox_measure_folder(const char *path, uint64_t maximum, csandbox_size *size);

/* Returns 1 if a file is on an in-memory file system. */
int csandbox_is_memory(const char *path);

#define CSANDBOX_MAXIMUM_HIDDEN 1024u
#define CSANDBOX_MAXIMUM_LOCKS 4096u

/* A file without a name or a descriptor that exists only through mappings, so that its size is
 * unknown. */
typedef struct csandbox_hidden {
    uint64_t inode;
    uint64_t bytes; /* the mapped bytes, if it was in the first folder */
} csandbox_hidden;

typedef struct csandbox_descriptors {
    uint64_t removed_bytes;     /* in files from the first folder that have a descriptor but no name */
    uint64_t removed_elsewhere; /* in such files from other folders */
    uint32_t removed_files;     /* the number of such files from the first folder */
    uint32_t open;
    uint32_t in_flight;    /* sent but not received, in its own sockets except the connection (5.10) */
    uint32_t locks;        /* on its files; counted up to CSANDBOX_MAXIMUM_LOCKS + 1 */
    uint32_t maps;         /* mappings */
    uint32_t hidden_count; /* at most CSANDBOX_MAXIMUM_HIDDEN, which also means more */
} csandbox_descriptors;

/*
 * Measures the descriptors and mappings of a child. Returns 0 or an errno; E2BIG for more than
 * 65,536 mappings. places contains paths without links, each followed by a zero byte, with one more
 * at the end. connection is the inode of the socket to ignore. hidden has room for
 * CSANDBOX_MAXIMUM_HIDDEN entries, of which found->hidden_count are filled in.
 */
int csandbox_measure_descriptors(pid_t process, const char *places, uint64_t connection, csandbox_descriptors *found,
                                 csandbox_hidden *hidden);

/* Returns the number of descriptors in a socket of this process that are not received yet. */
uint32_t csandbox_in_flight(int socket);

/* The activity of a child so far. */
typedef struct csandbox_activity {
    uint64_t written; /* bytes written to files by calls or mappings; 0 if the kernel does not count */
    uint64_t faulted; /* bytes of pages that were touched for the first time */
    int is_headless;  /* the main thread has exited, so /proc lacks most facts */
} csandbox_activity;

/* Reads the activity of a child. Returns 0 or an errno; ESRCH if the child is about to exit. */
int csandbox_measure_activity(pid_t process, csandbox_activity *activity);

/* Returns 1 if all threads of a child have exited. Changes nothing. */
int csandbox_has_ended(pid_t child);

/* Measures a child's private memory, whether resident or swapped out. The result is exact if it
 * exceeds `suspicious` bytes. Returns 0 or an errno. */
int csandbox_measure_private(pid_t process, uint64_t suspicious, uint64_t *bytes);

/* Returns the maximum private memory that the limit on writable memory does not cover: the stack,
 * relocated pages, and generated code. */
uint64_t csandbox_unlimited_memory(int makes_code);

typedef struct csandbox_memory {
    uint64_t data;          /* bytes counted for RLIMIT_DATA, plus the main thread's stack */
    uint64_t address_space; /* bytes counted for RLIMIT_AS */
    uint64_t resident;      /* private resident bytes */
} csandbox_memory;

/* Measures a child's memory. Returns 0 or an errno. */
int csandbox_measure_memory(pid_t process, csandbox_memory *memory);

/* Reads the number of timers and queued signals of a child's user, and the child's limit. Returns 0
 * or an errno. */
int csandbox_measure_signals(pid_t process, uint64_t *queued, uint64_t *limit);

/* Returns the number of a child's open descriptors; 0 if the kernel does not report it (before
 * 6.2). */
int64_t csandbox_count_descriptors(pid_t process);

/* The resources used by a process and its reaped children, as counted by the kernel. */
typedef struct csandbox_cost {
    uint64_t peak;     /* bytes: its peak memory */
    uint64_t cpu;      /* nanoseconds of processor time of all threads */
    uint64_t written;  /* bytes written to disks */
    uint64_t wake_ups; /* voluntary context switches */
} csandbox_cost;

/* Waits for a child, reaps it, and returns its resource usage. */
int csandbox_reap(pid_t process, int *status, csandbox_cost *cost);

/* Reads the processor time used so far by all threads of a process, including exited ones, in
 * nanoseconds. Returns 0 or an errno. */
int csandbox_processor_time(pid_t process, uint64_t *nanoseconds);

/* Returns 1 if all threads of a child have stopped after SIGSTOP. Changes nothing. */
int csandbox_is_stopped(pid_t child);

/*
 * Sets the nice value of the session that a child leads: 0 for normal, up to 19. Returns 0 or an
 * errno: EPERM if the child leads no session, EAGAIN if the kernel temporarily rejects the change.
 */
int csandbox_set_session_nice(pid_t child, unsigned nice);

/* Makes this process a session leader, unless it already is one. Returns 0 or an errno. EPERM: it
 * leads a process group, or it was started at a terminal and must exit with it. */
int csandbox_begin_session(void);

#endif
