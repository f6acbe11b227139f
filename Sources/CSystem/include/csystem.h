/* SPDX-License-Identifier: Apache-2.0 */
/* Thin wrappers for system calls that Swift cannot call, because they are variadic, macros, or need
 * _GNU_SOURCE; and the ELF structures, which Swift's Glibc module lacks. */
#ifndef SEARCHLIGHT_CSYSTEM_H
#define SEARCHLIGHT_CSYSTEM_H

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Elf64_Dyn without the union, so that Swift can copy it as plain bytes. */
struct csystem_dynamic {
    Elf64_Sxword tag;
    Elf64_Xword value;
};

/* Names the calling thread for debuggers. Longer names are cut to 15 bytes. */
static inline void csystem_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/* Creates an eventfd with the value 0, close-on-exec and non-blocking; negative on failure. */
static inline int csystem_event_descriptor(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/* O_PATH: the descriptor only refers to a file; it cannot be used to read or write it. */
enum { csystem_o_path = __O_PATH };

/* Accepts a connection, close-on-exec; negative on failure. */
static inline int csystem_accept(int listener) {
    return (int)syscall(SYS_accept4, listener, NULL, NULL, SOCK_CLOEXEC);
}

/* Closes the descriptor `number` and makes it a duplicate of `descriptor`, close-on-exec, in one
 * atomic step (dup3); negative on failure. */
static inline int csystem_replace(int descriptor, int number) {
    return (int)syscall(SYS_dup3, descriptor, number, O_CLOEXEC);
}

/* Reads the process and user at the other end of a Unix socket, as the kernel recorded them when
 * the sockets were connected; negative on failure. A process in another PID namespace has the ID
 * 0. */
static inline int csystem_peer(int socket, int *process, unsigned *user) {
    struct { int process; unsigned user; unsigned group; } peer;
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return -1;
    *process = peer.process;
    *user = peer.user;
    return 0;
}

/* Returns a pidfd for the process at the other end (SO_PEERPIDFD = 77, Linux 6.5); negative on
 * failure, with ENOPROTOOPT on older kernels. 77 is the generic number; the few architectures with
 * a different one also return ENOPROTOOPT. */
static inline int csystem_peer_process(int socket) {
    int descriptor = -1;
    socklen_t size = sizeof descriptor;
    return getsockopt(socket, SOL_SOCKET, 77, &descriptor, &size) < 0 ? -1 : descriptor;
}

/* Returns a pidfd for a process ID (Linux 5.3), close-on-exec; negative on failure. */
static inline int csystem_open_process(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

/* The maximum number of descriptors in one read or write. */
enum { csystem_maximum_descriptors = 16 };

/* Reads from a socket without blocking, together with received descriptors, which are
 * close-on-exec. `truncated` is 1 if more descriptors arrived than fit; the kernel has closed the
 * excess. Returns the result of recvmsg(2). */
static inline ssize_t csystem_receive(int socket, void *bytes, size_t size, int *descriptors, int *count,
                                       int *truncated) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int) * csystem_maximum_descriptors)];
    } control;
    struct iovec part = {bytes, size};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    *count = 0;
    *truncated = 0;
    ssize_t result = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (result < 0) return result;
    *truncated = (message.msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        int number = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        if (number > csystem_maximum_descriptors - *count) number = csystem_maximum_descriptors - *count;
        memcpy(descriptors + *count, CMSG_DATA(header), sizeof(int) * (size_t)number);
        *count += number;
    }
    return result;
}

/* Writes to a socket without blocking and without SIGPIPE, with up to csystem_maximum_descriptors
 * descriptors, which are attached to the first byte. Returns the result of sendmsg(2). */
static inline ssize_t csystem_send(int socket, const void *bytes, size_t size, const int *descriptors, int count) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int) * csystem_maximum_descriptors)];
    } control;
    struct iovec part = {(void *)bytes, size};
    struct msghdr message;
    if (count < 0 || count > csystem_maximum_descriptors) {
        errno = EINVAL;
        return -1;
    }
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * (size_t)count);
    }
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Creates a blocking timerfd on CLOCK_BOOTTIME, which includes system suspends; negative on
 * failure. */
static inline int csystem_timer_descriptor(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC); }

/* Arms a timerfd to expire once after `nanoseconds`, or disarms it for 0; negative on failure. */
static inline int csystem_set_timer(int descriptor, long nanoseconds) {
    struct itimerspec time = {{0, 0}, {nanoseconds / 1000000000, nanoseconds % 1000000000}};
    return timerfd_settime(descriptor, 0, &time, NULL);
}

/* The attributes of a file or folder, from statx(2). Times are in nanoseconds since 1970; `born` is
 * 0 if the file system does not record creation times. */
struct csystem_file {
    uint64_t inode;
    uint64_t device;
    int64_t size;
    int64_t born;
    int64_t modified;
    int64_t changed;
    uint32_t mode;
    uint32_t links; /* the number of hard links */
    int32_t is_mount; /* 1 for the root of a mount, 0 for other files, -1 if unknown */
};

/* Reads the attributes of the file `name` in an open folder, or of the folder itself if `name` is
 * empty. Follows a symbolic link if `follows` is not 0. Neither opens the file nor triggers an
 * automount. Returns 0 or an error code. */
int csystem_describe(int folder, const char *name, int follows, struct csystem_file *file);

/* Reads the persistent number of a file system (f_fsid in statfs), or 0 if it has none, and its
 * type (f_type). Returns 0 or an error code. */
int csystem_file_system(int descriptor, uint64_t *number, int64_t *type);

/* Returns 1 if the processor has a CRC-32C instruction that csystem_crc32c can use, 0 otherwise. */
int csystem_has_crc32c(void);

/* Returns the state of a CRC-32C after some bytes. Call this only if csystem_has_crc32c returns
 * 1. */
uint32_t csystem_crc32c(uint32_t state, const void *bytes, size_t size);

/* Returns memory that malloc keeps for reuse to the kernel. */
static inline void csystem_trim_memory(void) { malloc_trim(0); }

/* Starts a program in its own session, with the working directory `folder`, /dev/null as its
 * standard streams, no other descriptors, an empty signal mask and default signal actions.
 * Returns 0, or an error code, even if the program cannot be executed. */
int csystem_start_program(const char *path, char *const arguments[], char *const environment[], const char *folder,
                          int *process);

#endif
