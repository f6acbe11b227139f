/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of the system call filter. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "csandbox_policy.h"

/* <linux/seccomp.h> of older distributions lacks these. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS _IOW('!', 4, uint64_t)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1UL
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int csandbox_send_policy(int socket, const void *bytes, size_t count) {
    ssize_t sent = send(socket, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return errno;
    return (size_t)sent == count ? 0 : EMSGSIZE;
}

int csandbox_receive_report(int socket, csandbox_report *report, int *listener) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {report, sizeof *report};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    *listener = -1;
    ssize_t count;
    do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    while (count < 0 && errno == EINTR);
    if (count < 0) return errno;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(listener, CMSG_DATA(header), sizeof(int));
    if (count == (ssize_t)sizeof *report && report->magic == CSANDBOX_REPORT_MAGIC &&
        report->version == CSANDBOX_VERSION)
        return 0;
    if (*listener >= 0) close(*listener);
    *listener = -1;
    return ECONNRESET;
}

void csandbox_hasten(int listener) {
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}

int csandbox_next_attempt(int listener, int stop, csandbox_attempt *attempt) {
    struct pollfd descriptors[2] = {{listener, POLLIN, 0}, {stop, POLLIN, 0}};
    if (poll(descriptors, 2, -1) < 0) return errno == EINTR ? EINTR : ENOTCONN;
    if (!(descriptors[0].revents & POLLIN)) {
        if (descriptors[0].revents != 0) return ENOTCONN;
        return ECANCELED;
    }
    struct seccomp_notif question;
    memset(&question, 0, sizeof question);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0)
        /* ENOENT: who asked was killed meanwhile. */
        return errno == ENOENT || errno == EINTR ? EINTR : ENOTCONN;
    attempt->id = question.id;
    attempt->number = question.data.nr;
    attempt->architecture = question.data.arch;
    attempt->thread = (int32_t)question.pid;
    memcpy(attempt->arguments, question.data.args, sizeof attempt->arguments);
    return 0;
}

static void respond(int listener, uint64_t id, int error, uint32_t flags) {
    struct seccomp_notif_resp answer = {.id = id, .val = 0, .error = -error, .flags = flags};
    while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 && errno == EINTR) {
    }
}

void csandbox_continue_attempt(int listener, uint64_t id) {
    respond(listener, id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

void csandbox_answer_attempt(int listener, uint64_t id, int error) { respond(listener, id, error, 0); }

int csandbox_attempt_is_waiting(int listener, uint64_t id) {
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

ssize_t csandbox_read_text(pid_t thread, uint64_t address, char *text, size_t capacity) {
    enum { PAGE = 4096 }; /* the smallest there is; a read never crosses the end of what is mapped */
    size_t length = 0;
    if (capacity == 0) return -1;
    while (length < capacity - 1) {
        size_t part = PAGE - (size_t)((address + length) % PAGE);
        if (part > capacity - 1 - length) part = capacity - 1 - length;
        struct iovec here = {text + length, part};
        struct iovec there = {(void *)(uintptr_t)(address + length), part};
        ssize_t count = process_vm_readv(thread, &here, 1, &there, 1, 0);
        if (count <= 0) break;
        char *end = memchr(text + length, 0, (size_t)count);
        if (end != NULL) return end - text;
        length += (size_t)count;
        if ((size_t)count < part) break;
    }
    text[length] = 0;
    return length == 0 ? -1 : (ssize_t)length;
}

int csandbox_read_memory(pid_t thread, uint64_t address, void *bytes, size_t count) {
    struct iovec here = {bytes, count};
    struct iovec there = {(void *)(uintptr_t)address, count};
    ssize_t done = process_vm_readv(thread, &here, 1, &there, 1, 0);
    if (done < 0) return errno;
    return (size_t)done == count ? 0 : EFAULT;
}

int csandbox_change_mode(pid_t process, int listener, uint64_t id, int descriptor, unsigned mode) {
    int reference = (int)syscall(SYS_pidfd_open, process, 0);
    if (reference < 0) return errno;
    /* Who still waits has not ended, so that its number was nobody else's when it was looked up. */
    if (!csandbox_attempt_is_waiting(listener, id)) {
        close(reference);
        return ESRCH;
    }
    int copy = (int)syscall(SYS_pidfd_getfd, reference, descriptor, 0);
    int error = copy < 0 ? errno : 0;
    close(reference);
    if (copy < 0) return error;
    struct stat status;
    int flags = fcntl(copy, F_GETFL);
    /* Landlock has let it be opened for writing, so it lies where the worker may change things. */
    if (flags < 0 || (flags & O_PATH) || (flags & O_ACCMODE) == O_RDONLY)
        error = EPERM;
    else if (fstat(copy, &status) != 0)
        error = errno;
    else if (!S_ISREG(status.st_mode))
        error = EPERM;
    else if (fchmod(copy, (mode_t)(mode & 0777)) != 0)
        error = errno;
    close(copy);
    return error;
}
