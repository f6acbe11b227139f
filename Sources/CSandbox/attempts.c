/* SPDX-License-Identifier: Apache-2.0 */
/* The host's part of the system call filter. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "csandbox_policy.h"

/* Older distributions' <linux/seccomp.h> lacks these. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS _IOW('!', 4, uint64_t)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1UL
#endif
#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
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

int csandbox_next_attempt(int listener, int stop, int milliseconds, csandbox_attempt *attempt) {
    struct pollfd descriptors[2] = {{listener, POLLIN, 0}, {stop, POLLIN, 0}};
    int ready = poll(descriptors, 2, milliseconds);
    if (ready == 0) return ETIMEDOUT;
    if (ready < 0) return errno == EINTR ? EINTR : ENOTCONN;
    if (!(descriptors[0].revents & POLLIN)) {
        if (descriptors[0].revents != 0) return ENOTCONN;
        return ECANCELED;
    }
    struct seccomp_notif question;
    memset(&question, 0, sizeof question);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0)
        /* ENOENT: the calling thread was killed in the meantime. */
        return errno == ENOENT || errno == EINTR ? EINTR : ENOTCONN;
    attempt->id = question.id;
    attempt->number = question.data.nr;
    attempt->architecture = question.data.arch;
    attempt->thread = (int32_t)question.pid;
    memcpy(attempt->arguments, question.data.args, sizeof attempt->arguments);
    return 0;
}

static void respond(int listener, uint64_t id, int64_t value, int error, uint32_t flags) {
    struct seccomp_notif_resp answer = {.id = id, .val = value, .error = -error, .flags = flags};
    while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 && errno == EINTR) {
    }
}

void csandbox_continue_attempt(int listener, uint64_t id) {
    respond(listener, id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

void csandbox_answer_attempt(int listener, uint64_t id, int error) { respond(listener, id, 0, error, 0); }

void csandbox_answer_value(int listener, uint64_t id, int64_t value) { respond(listener, id, value, 0, 0); }

int csandbox_open_for_attempt(int listener, uint64_t id, const char *path, int flags) {
    int opened = open(path, O_RDONLY | O_CLOEXEC | (flags & (O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK)));
    if (opened < 0) return errno;
    struct seccomp_notif_addfd added = {
        .id = id,
        .flags = SECCOMP_ADDFD_FLAG_SEND,
        .srcfd = (uint32_t)opened,
        .newfd_flags = (uint32_t)(flags & O_CLOEXEC),
    };
    int error;
    do error = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &added) < 0 ? errno : 0;
    while (error == EINTR);
    close(opened);
    /* The calling thread was killed. */
    return error == ENOENT ? 0 : error;
}

int csandbox_attempt_is_waiting(int listener, uint64_t id) {
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

ssize_t csandbox_read_text(pid_t thread, uint64_t address, char *text, size_t capacity) {
    enum { PAGE = 4096 }; /* the minimum; a read never crosses the end of a mapping */
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

int csandbox_write_memory(pid_t thread, uint64_t address, const void *bytes, size_t count) {
    struct iovec here = {(void *)(uintptr_t)bytes, count};
    struct iovec there = {(void *)(uintptr_t)address, count};
    ssize_t done = process_vm_writev(thread, &here, 1, &there, 1, 0);
    if (done < 0) return errno;
    return (size_t)done == count ? 0 : EFAULT;
}

int64_t csandbox_read_attribute(int descriptor, const char *name, pid_t thread, uint64_t address, uint64_t size) {
    enum { MAXIMUM = 65536 }; /* XATTR_SIZE_MAX, XATTR_LIST_MAX */
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    size_t capacity = size > MAXIMUM ? MAXIMUM : (size_t)size;
    char *bytes = capacity == 0 ? NULL : malloc(capacity);
    if (capacity > 0 && bytes == NULL) return -ENOMEM;
    ssize_t count = name == NULL ? listxattr(path, bytes, capacity) : getxattr(path, name, bytes, capacity);
    int64_t result = count < 0 ? -errno : count;
    if (count > 0 && capacity > 0) {
        int error = csandbox_write_memory(thread, address, bytes, (size_t)count);
        if (error != 0) result = -error;
    }
    free(bytes);
    return result;
}

/* Returns a copy of one of the worker's descriptors, which the worker cannot replace, or -errno. */
static int copy_of(pid_t process, int listener, uint64_t id, int descriptor) {
    int reference = (int)syscall(SYS_pidfd_open, process, 0);
    if (reference < 0) return -errno;
    /* A thread that is still waiting has not exited, so the process ID belonged to the worker when
     * it was looked up. */
    int copy = -ESRCH;
    if (csandbox_attempt_is_waiting(listener, id)) {
        copy = (int)syscall(SYS_pidfd_getfd, reference, descriptor, 0);
        if (copy < 0) copy = -errno;
    }
    close(reference);
    return copy;
}

int csandbox_change_mode(pid_t process, int listener, uint64_t id, int descriptor, unsigned mode) {
    int copy = copy_of(process, listener, id, descriptor);
    if (copy < 0) return -copy;
    int error = 0;
    struct stat status;
    int flags = fcntl(copy, F_GETFL);
    /* Landlock allowed opening the file for writing, so it is in a writable folder. */
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

static int option(int descriptor, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

static int is_tcp(int descriptor) {
    int family = option(descriptor, SO_DOMAIN);
    return (family == AF_INET || family == AF_INET6) && option(descriptor, SO_TYPE) == SOCK_STREAM &&
           option(descriptor, SO_PROTOCOL) == IPPROTO_TCP;
}

int csandbox_copy_tcp_socket(pid_t process, int listener, uint64_t id, int descriptor, int *copied) {
    *copied = -1;
    int copy = copy_of(process, listener, id, descriptor);
    if (copy < 0) return -copy;
    int flags = fcntl(copy, F_GETFL);
    if (flags < 0 || (flags & O_PATH) || !is_tcp(copy)) {
        close(copy);
        return EPERM;
    }
    *copied = copy;
    return 0;
}

int csandbox_connect(int socket, const void *address, uint32_t length) {
    return connect(socket, address, length) == 0 ? 0 : errno;
}

void csandbox_stop_connecting(int socket) { (void)shutdown(socket, SHUT_RDWR); }

/* Returns the route type in the kernel's answer, or -errno. */
static int kind_of_way(const struct nlmsghdr *message, size_t count) {
    if (!NLMSG_OK(message, count)) return -EBADMSG;
    if (message->nlmsg_type == NLMSG_ERROR && message->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
        int error = ((const struct nlmsgerr *)NLMSG_DATA(message))->error;
        return error < 0 ? error : -EBADMSG;
    }
    if (message->nlmsg_type != RTM_NEWROUTE || message->nlmsg_len < NLMSG_LENGTH(sizeof(struct rtmsg))) return -EBADMSG;
    return ((const struct rtmsg *)NLMSG_DATA(message))->rtm_type;
}

int csandbox_kind_of_way(const void *address, uint32_t length) {
    struct {
        struct nlmsghdr head;
        struct rtmsg way;
        char attributes[RTA_SPACE(16) + RTA_SPACE(4)];
    } question;
    const struct sockaddr *any = address;
    const void *bytes;
    size_t count;
    uint32_t scope = 0;
    memset(&question, 0, sizeof question);
    if (length >= sizeof(struct sockaddr_in) && any->sa_family == AF_INET) {
        bytes = &((const struct sockaddr_in *)address)->sin_addr;
        count = 4;
    } else if (length >= sizeof(struct sockaddr_in6) && any->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = address;
        bytes = &six->sin6_addr;
        count = 16;
        /* Such an address is valid only on one link. The socket may still have an earlier link.
         */
        if (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr)) {
            scope = six->sin6_scope_id;
            if (scope == 0) return -EINVAL;
        }
    } else {
        return -EAFNOSUPPORT;
    }
    question.head.nlmsg_len = NLMSG_LENGTH(sizeof question.way);
    question.head.nlmsg_type = RTM_GETROUTE;
    question.head.nlmsg_flags = NLM_F_REQUEST;
    question.way.rtm_family = (unsigned char)any->sa_family;
    question.way.rtm_dst_len = (unsigned char)(count * 8);
    struct rtattr *attribute = (struct rtattr *)question.attributes;
    attribute->rta_type = RTA_DST;
    attribute->rta_len = (unsigned short)RTA_LENGTH(count);
    memcpy(RTA_DATA(attribute), bytes, count);
    question.head.nlmsg_len += (uint32_t)RTA_SPACE(count);
    if (scope != 0) {
        attribute = (struct rtattr *)(question.attributes + RTA_SPACE(count));
        attribute->rta_type = RTA_OIF;
        attribute->rta_len = RTA_LENGTH(4);
        memcpy(RTA_DATA(attribute), &scope, 4);
        question.head.nlmsg_len += RTA_SPACE(4);
    }
    int tables = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (tables < 0) return -errno;
    /* The kernel answers during the send call. */
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    _Alignas(struct nlmsghdr) char answer[4096];
    int kind = -EIO;
    if (sendto(tables, &question, question.head.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0) {
        kind = -errno;
    } else {
        ssize_t received = recv(tables, answer, sizeof answer, MSG_DONTWAIT);
        kind = received < 0 ? -errno : kind_of_way((const struct nlmsghdr *)answer, (size_t)received);
    }
    close(tables);
    return kind;
}
