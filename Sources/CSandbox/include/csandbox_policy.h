/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker may do, as the host says it and the kernel enforces it.
 *
 * The host writes one policy into a socket that the worker finds at CSANDBOX_POLICY_FD: a csandbox_policy, then its
 * rules (a csandbox_rule, the path, a zero byte), then two programs of the kernel's system call filter (8 bytes an
 * instruction): one that asks the host about what is refused, so that it can be told, and one for kernels where that
 * is not possible. All numbers are this machine's, for both ends are one build. The worker answers with a
 * csandbox_report, and with it the descriptor by which the host is asked.
 */
#ifndef SEARCHLIGHT_CSANDBOX_POLICY_H
#define SEARCHLIGHT_CSANDBOX_POLICY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The descriptor number at which a worker finds its policy. */
#define CSANDBOX_POLICY_FD 4

#define CSANDBOX_POLICY_MAGIC 0x50534c53u /* "SLSP" */
#define CSANDBOX_REPORT_MAGIC 0x52534c53u /* "SLSR" */
#define CSANDBOX_VERSION 3u

/* Bounds; what goes beyond them is refused by both ends. The whole fits into a socket's buffer. */
#define CSANDBOX_MAXIMUM_BYTES (96u << 10)
#define CSANDBOX_MAXIMUM_RULES 512u
#define CSANDBOX_MAXIMUM_PATH 4095u
#define CSANDBOX_MAXIMUM_INSTRUCTIONS 4096u

/* In a filter, stands for the number of the worker's process, which the host cannot know. */
#define CSANDBOX_SELF_PLACEHOLDER 0x5ea2c4a1u

/* Protections: what a policy wants, what a report says was given or is missing. */
enum {
    CSANDBOX_PRIVILEGES = 1 << 0,    /* no new privileges, and no capabilities */
    CSANDBOX_LIMITS = 1 << 1,        /* memory, files, descriptors */
    CSANDBOX_FILES = 1 << 2,         /* Landlock: files outside the rules (kernel 5.13) */
    CSANDBOX_TRUNCATION = 1 << 3,    /* Landlock: truncating them (6.2) */
    CSANDBOX_TCP = 1 << 4,           /* Landlock: TCP (6.7) */
    CSANDBOX_DEVICES = 1 << 5,       /* Landlock: control of devices (6.10) */
    CSANDBOX_SCOPES = 1 << 6,        /* Landlock: signals and abstract sockets of others (6.12) */
    CSANDBOX_CODE = 1 << 7,          /* memory that was written cannot become code (6.3) */
    CSANDBOX_SYSTEM_CALLS = 1 << 8,  /* the filter of system calls */
    CSANDBOX_TELLING = 1 << 9,       /* the host is told what was refused (5.5) */
    CSANDBOX_END_WITH_HOST = 1 << 10, /* the worker ends with its host */
    CSANDBOX_PROCESSES = 1 << 11     /* the host opens files in /proc for the worker, its own only (5.19) */
};

/* What makes a background worker give way: what a policy wants, what a report says was set or is missing. */
enum {
    CSANDBOX_IDLE_CPU = 1 << 0,     /* SCHED_IDLE, for good: no way back without privileges */
    CSANDBOX_IDLE_DISK = 1 << 1,    /* the idle class of disk schedulers, where they know classes */
    CSANDBOX_IDLE_SESSION = 1 << 2, /* autogroup 19: without it SCHED_IDLE counts within the worker's session only */
    CSANDBOX_IDLE_TIMERS = 1 << 3,  /* its timers may be late, so that they wake a processor together with others */
    CSANDBOX_IDLE_MEMORY = 1 << 4   /* ended before others when memory runs out */
};
#define CSANDBOX_IDLE_ALL 31u
#define CSANDBOX_MAXIMUM_TIMER_SLACK 1000000000u /* nanoseconds */
#define CSANDBOX_MAXIMUM_OOM_SCORE 1000u

/*
 * What a rule allows, at its path and below it: one of the first two, and with reading also the others. A rule with
 * CSANDBOX_UNLESS_SERVED counts only where the host cannot open files in /proc for the worker.
 */
enum { CSANDBOX_READ = 1, CSANDBOX_WRITE = 2, CSANDBOX_WITHOUT_LISTING = 4, CSANDBOX_UNLESS_SERVED = 8 };

typedef struct csandbox_policy {
    uint32_t magic;
    uint32_t version;
    uint32_t byte_count;  /* of everything */
    uint32_t protections; /* those that are wanted */
    uint64_t data_limit;  /* bytes of private writable memory */
    uint64_t address_limit;
    uint64_t file_limit; /* bytes of one file */
    uint32_t descriptor_limit;
    uint32_t host; /* the process whose end is the worker's */
    uint32_t allows_tcp; /* 1: connections, but no listening */
    uint32_t rule_count;
    uint32_t telling_count; /* instructions of the filter that asks the host */
    uint32_t plain_count;   /* instructions of the one that does not */
    uint32_t idle;          /* CSANDBOX_IDLE_… that are wanted; the worker is to lead a session */
    uint32_t timer_slack;   /* nanoseconds, with CSANDBOX_IDLE_TIMERS */
    uint32_t oom_score;     /* oom_score_adj, with CSANDBOX_IDLE_MEMORY */
    uint32_t signal_limit;  /* timers and queued signals of the user beyond which the worker makes none */
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
    uint32_t absent;  /* rules whose path is not there */
    uint32_t unsafe;  /* rules whose path leads through a symbolic link, made after the host had resolved it */
    uint32_t idle_applied;
    uint32_t idle_missing;
    uint64_t inherited_peak; /* bytes: what the kernel counts as the worker's largest size before it has begun */
} csandbox_report;

/* A policy after it was checked; points into its bytes. */
typedef struct csandbox_parsed {
    csandbox_policy head;
    const unsigned char *rules;
    const unsigned char *telling;
    const unsigned char *plain;
} csandbox_parsed;

/* Checks every length and number of a policy before anything is done with it: 0, or EINVAL. */
int csandbox_parse(const unsigned char *bytes, size_t count, csandbox_parsed *parsed);

/*
 * Gives up what the policy at CSANDBOX_POLICY_FD does not allow, all but system calls. To be called while the process has
 * one thread. What the kernel lacks is reported and not an error; 0, or an errno with the step that failed.
 */
int csandbox_restrict_self(const char **step);

/*
 * The rest: confines the system calls of all threads, reports, and closes that descriptor. To be called once before any code
 * of an extension is loaded; the connection to the host is made before, so that the host is not asked about that. Until then
 * files in /proc may be closed that the host opens afterwards, libdispatch's threads among their readers. Does nothing
 * in a process that did not call the other. 0, or an errno with the step that failed.
 */
int csandbox_restrict_calls(const char **step);

/*
 * Opens what stands at an absolute path, only to name it (O_PATH), if no symbolic link is on the way or at its end: the
 * descriptor, or -errno; -ELOOP where there is a link. by_names 1 is for tests: as where the kernel lacks openat2.
 */
int csandbox_open_exactly(const char *path, int by_names);

/* Which protections this kernel has, and the revision of Landlock; changes nothing. */
uint32_t csandbox_available(uint32_t *landlock_revision);

/*
 * Makes this process give way as the policy wants it, as far as the kernel lets it; fills in what was set. Waits up to
 * 0.3 s where the kernel takes no more changes of autogroups for now (ten a second in all, from those without privileges).
 */
void csandbox_apply_idle(const csandbox_policy *head, csandbox_report *report);


/* --- The host's side --- */

/* Puts a policy into a socket's buffer without waiting. */
int csandbox_send_policy(int socket, const void *bytes, size_t count);

/* Waits for the report; listener is -1 where the kernel cannot ask. ECONNRESET: the worker ended before. */
int csandbox_receive_report(int socket, csandbox_report *report, int *listener);

/* A system call that waits for the host's answer. */
typedef struct csandbox_attempt {
    uint64_t id;
    uint64_t arguments[6];
    int32_t number;
    uint32_t architecture;
    int32_t thread;
} csandbox_attempt;

/* Has answers wake the worker at once on the same processor, where the kernel can (6.6). */
void csandbox_hasten(int listener);

/*
 * Waits for the next attempt, for so many milliseconds at most (ETIMEDOUT). ENOTCONN: the worker is gone. EINTR: ask again.
 * ECANCELED: stop became readable. With listener -1 there are no attempts.
 */
int csandbox_next_attempt(int listener, int stop, int milliseconds, csandbox_attempt *attempt);

/* Lets the kernel carry the call out, as far as Landlock allows. */
void csandbox_continue_attempt(int listener, uint64_t id);

/* Answers with an error, or with success for 0. */
void csandbox_answer_attempt(int listener, uint64_t id, int error);

/* Answers with the result of the call. */
void csandbox_answer_value(int listener, uint64_t id, int64_t value);

/*
 * Opens a file for reading and gives the worker the descriptor, as the result of its call: 0, and the call is answered; or an
 * errno, and it still waits. Of flags, only O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK and O_CLOEXEC count.
 */
int csandbox_open_for_attempt(int listener, uint64_t id, const char *path, int flags);

/*
 * A descriptor for a TCP socket of the worker's, so that no other can be put in its place: 0 or an errno, EPERM for what is no
 * TCP socket.
 */
int csandbox_copy_tcp_socket(pid_t process, int listener, uint64_t id, int descriptor, int *copied);

/* Connects as the socket is set, so it may block for as long as the kernel tries; 0 or an errno. */
int csandbox_connect(int socket, const void *address, uint32_t length);

/* Has whoever blocks in csandbox_connect with that socket go on. */
void csandbox_stop_connecting(int socket);

/*
 * What kind of way (RTN_… of <linux/rtnetlink.h>) the kernel's tables have to an address, of which the port does not count; or -errno.
 * Sends nothing.
 */
int csandbox_kind_of_way(const void *address, uint32_t length);

/* Whether the one who waits is still the same. */
int csandbox_attempt_is_waiting(int listener, uint64_t id);

/* Reads memory of the worker up to a zero byte: the length, or -1. The text always ends with a zero byte. */
ssize_t csandbox_read_text(pid_t thread, uint64_t address, char *text, size_t capacity);

/* Reads exactly so many bytes: 0 or an errno. */
int csandbox_read_memory(pid_t thread, uint64_t address, void *bytes, size_t count);

/* Writes exactly so many bytes: 0 or an errno. */
int csandbox_write_memory(pid_t thread, uint64_t address, const void *bytes, size_t count);

/*
 * Reads an extended attribute of an open file, or with name NULL the list of their names, and puts it into the worker's memory as the call
 * does: the size, or -errno. descriptor may be one that only names the file (O_PATH). size 0 asks for the size alone.
 */
int64_t csandbox_read_attribute(int descriptor, const char *name, pid_t thread, uint64_t address, uint64_t size);

/*
 * Changes the mode of a file that the worker has open for writing, in its place, but for the set-id bits: 0 or an
 * errno. id is that of its attempt, which must still wait. Its own descriptor is taken, so that nothing can be put in its place meanwhile.
 */
int csandbox_change_mode(pid_t process, int listener, uint64_t id, int descriptor, unsigned mode);

/* What lies in a folder. */
typedef struct csandbox_size {
    uint64_t bytes; /* allocated, so that holes do not count */
    uint64_t files; /* folders and links too */
} csandbox_size;

/*
 * Adds up a folder and everything below it, without following links. Folders that their owner may not read are made readable. 0, also
 * if there is none; or an errno: ENOSPC once there are more than maximum files, E2BIG where folders are nested more than 64 deep;
 * EMFILE, ENFILE or ENOMEM if this process lacks something.
 */
int csandbox_measure_folder(const char *path, uint64_t maximum, csandbox_size *size);

/* Whether a file lies on a file system in memory. */
int csandbox_is_memory(const char *path);

#define CSANDBOX_MAXIMUM_HIDDEN 1024u
#define CSANDBOX_MAXIMUM_LOCKS 4096u

/* A file without a name and without a descriptor, which only maps keep, so that nobody can tell its size. */
typedef struct csandbox_hidden {
    uint64_t inode;
    uint64_t bytes; /* how much of it is mapped, if it was in the first place */
} csandbox_hidden;

typedef struct csandbox_descriptors {
    uint64_t removed_bytes;     /* of files that were below the first place, have no name left and have a descriptor */
    uint64_t removed_elsewhere; /* of those that were below another place */
    uint32_t removed_files;     /* how many were below the first one */
    uint32_t open;
    uint32_t in_flight;    /* in its own sockets but for the connection: sent and not received (5.10) */
    uint32_t locks;        /* of its files; counted up to one more than CSANDBOX_MAXIMUM_LOCKS */
    uint32_t maps;         /* pieces of memory */
    uint32_t hidden_count; /* CSANDBOX_MAXIMUM_HIDDEN stands for more, too */
} csandbox_descriptors;

/*
 * Looks at the descriptors and mappings of a child: 0 or an errno, E2BIG for more than 65,536 mappings. places are paths without links,
 * each ended by a zero byte and all by one more; connection is the inode of the socket that does not count. hidden has
 * room for CSANDBOX_MAXIMUM_HIDDEN, of which found->hidden_count are filled in.
 */
int csandbox_measure_descriptors(pid_t process, const char *places, uint64_t connection, csandbox_descriptors *found,
                                 csandbox_hidden *hidden);

/* How many descriptors wait in a socket of this process's to be received. */
uint32_t csandbox_in_flight(int socket);

/* What a child has done so far. */
typedef struct csandbox_activity {
    uint64_t written; /* bytes that went into files, by calls or by maps on disks; 0 where the kernel does not count */
    uint64_t faulted; /* bytes of pages that it had not touched before */
    int is_headless;  /* its first thread has ended, and with it all that /proc tells of it */
} csandbox_activity;

/* Asks what a child has done: 0 or an errno; ESRCH if it is about to end. */
int csandbox_measure_activity(pid_t process, csandbox_activity *activity);

/* Whether all threads of a child have ended. Changes nothing. */
int csandbox_has_ended(pid_t child);

/* How much memory of a child is its own, in memory or swapped out; exact where it is more than suspicious bytes. 0 or an errno. */
int csandbox_measure_private(pid_t process, uint64_t suspicious, uint64_t *bytes);

/* How much of that may be beyond the limit, which counts what can be written: a stack, what the loader filled in, new code. */
uint64_t csandbox_unlimited_memory(int makes_code);

typedef struct csandbox_memory {
    uint64_t data;          /* bytes that count for RLIMIT_DATA, and the main thread's stack */
    uint64_t address_space; /* bytes that count for RLIMIT_AS */
    uint64_t resident;      /* bytes of it that are in memory and nobody else's */
} csandbox_memory;

/* How much memory a child has: 0 or an errno. */
int csandbox_measure_memory(pid_t process, csandbox_memory *memory);

/* How many timers and queued signals the user of a child has, and how many are the child's limit: 0 or an errno. */
int csandbox_measure_signals(pid_t process, uint64_t *queued, uint64_t *limit);

/* How many descriptors a child has open; 0 where the kernel does not say (before 6.2). */
int64_t csandbox_count_descriptors(pid_t process);

/* What a process and those of its children that it has reaped have cost, by the kernel's count. */
typedef struct csandbox_cost {
    uint64_t peak;     /* bytes: its largest size */
    uint64_t cpu;      /* nanoseconds of processor time, all threads */
    uint64_t written;  /* bytes it had written to disks */
    uint64_t wake_ups; /* voluntary context switches */
} csandbox_cost;

/* Waits for a child, reaps it, and gives what it has cost. */
int csandbox_reap(pid_t process, int *status, csandbox_cost *cost);

/* The processor time of a process so far, all threads, those that have ended too: nanoseconds. 0, or an errno. */
int csandbox_processor_time(pid_t process, uint64_t *nanoseconds);

/* Whether all threads of a child that was sent SIGSTOP have stopped. Changes nothing. */
int csandbox_is_stopped(pid_t child);

/*
 * How much the session that a child leads yields to other sessions: 0, like anybody's, to 19. 0, or an errno: EPERM where it
 * leads none, EAGAIN where the kernel takes no more changes for now.
 */
int csandbox_set_session_nice(pid_t child, unsigned nice);

/* Has this process lead a session of its own, if it does not. 0, or an errno: EPERM where it leads a group of processes, and
 * where it was started at a terminal, with which it is to end. */
int csandbox_begin_session(void);

#endif
