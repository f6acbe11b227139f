/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel calls that Swift cannot make: they are variadic, macros, or need _GNU_SOURCE. Thin, without policy. And the
 * structures of ELF files, which Swift's Glibc leaves out. */
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

/* Elf64_Dyn without the union, of which Swift does not know that its bytes can be copied. */
struct csystem_dynamic {
    Elf64_Sxword tag;
    Elf64_Xword value;
};

/* Names the calling thread for debuggers; at most 15 bytes are kept. */
static inline void csystem_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/* An event descriptor that starts at 0, close-on-exec and non-blocking; negative on failure. */
static inline int csystem_event_descriptor(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/* O_PATH, a descriptor that only stands for a place in the file system. */
enum { csystem_o_path = __O_PATH };

/* Accepts a connection, close-on-exec; negative on failure. */
static inline int csystem_accept(int listener) {
    return (int)syscall(SYS_accept4, listener, NULL, NULL, SOCK_CLOEXEC);
}

/* Makes `number` stand for what `descriptor` stands for, close-on-exec, in one step with the closing of what it stood for
 * before; negative on failure. */
static inline int csystem_replace(int descriptor, int number) {
    return (int)syscall(SYS_dup3, descriptor, number, O_CLOEXEC);
}

/* Who is at the other end of a Unix socket, as the kernel wrote it down when the two were connected; negative on
 * failure. A process that cannot be seen from here has the identifier 0. */
static inline int csystem_peer(int socket, int *process, unsigned *user) {
    struct { int process; unsigned user; unsigned group; } peer;
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return -1;
    *process = peer.process;
    *user = peer.user;
    return 0;
}

/* A descriptor of the process at the other end (SO_PEERPIDFD = 77, Linux 6.5); negative on failure, with ENOPROTOOPT
 * where the kernel has none. The kernel's generic number; the few architectures with their own answer ENOPROTOOPT. */
static inline int csystem_peer_process(int socket) {
    int descriptor = -1;
    socklen_t size = sizeof descriptor;
    return getsockopt(socket, SOL_SOCKET, 77, &descriptor, &size) < 0 ? -1 : descriptor;
}

/* A descriptor of a process by its identifier (Linux 5.3), close-on-exec; negative on failure. */
static inline int csystem_open_process(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

/* The most descriptors one read or write here carries along. */
enum { csystem_maximum_descriptors = 16 };

/* Reads without waiting, with the descriptors that came along, close-on-exec. `truncated` says that there were more
 * descriptors than fit; the kernel has closed these. As recv otherwise. */
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

/* Writes without waiting and without a signal, with up to csystem_maximum_descriptors descriptors that travel with
 * the first byte. As send otherwise. */
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

/* A timer descriptor whose time goes on while the machine sleeps; read(2) waits for it. Negative on failure. */
static inline int csystem_timer_descriptor(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC); }

/* Has a timer descriptor expire once after so many nanoseconds, or never for 0; negative on failure. */
static inline int csystem_set_timer(int descriptor, long nanoseconds) {
    struct itimerspec time = {{0, 0}, {nanoseconds / 1000000000, nanoseconds % 1000000000}};
    return timerfd_settime(descriptor, 0, &time, NULL);
}

/* A file or folder as statx(2) describes it. Times in nanoseconds since 1970; `born` is 0 where the file system does not say. */
struct csystem_file {
    uint64_t inode;
    uint64_t device;
    int64_t size;
    int64_t born;
    int64_t modified;
    int64_t changed;
    uint32_t mode;
    uint32_t links; /* names of the file (hard links) */
    int32_t is_mount; /* 1 for the root of a mounted file system, 0 for others, -1 where the kernel does not say */
};

/* Describes what `name` in an open folder is, or the folder itself for an empty name. `follows`: whether a symbolic link
 * stands for its target. Opens and mounts nothing. Returns 0 or the code of the error. */
int csystem_describe(int folder, const char *name, int follows, struct csystem_file *file);

/* A number that a file system keeps over restarts, or 0 where it has none; and its type (f_type of statfs). Returns 0 or the
 * code of the error. */
int csystem_file_system(int descriptor, uint64_t *number, int64_t *type);

/* Whether the processor has an instruction for CRC-32C that csystem_crc32c uses. */
int csystem_has_crc32c(void);

/* The state of a CRC-32C after some bytes. Only where csystem_has_crc32c says so. */
uint32_t csystem_crc32c(uint32_t state, const void *bytes, size_t size);

/* Gives memory back to the system that the C library keeps for reuse. */
static inline void csystem_trim_memory(void) { malloc_trim(0); }

#endif
