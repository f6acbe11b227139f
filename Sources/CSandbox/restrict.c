/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "csandbox.h"
#include "csandbox_internal.h"

#ifdef CSANDBOX_SANITIZED
#include <fcntl.h>
#include <stdio.h>
#endif

/* Older distributions' <linux/prctl.h> and <linux/seccomp.h> lack these names. */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_GET_MDWE 66
#endif
#ifndef PR_MDWE_REFUSE_EXEC_GAIN
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif
#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif
#ifndef SECCOMP_FILTER_FLAG_TSYNC_ESRCH
#define SECCOMP_FILTER_FLAG_TSYNC_ESRCH (1UL << 4)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

_Static_assert(sizeof(struct sock_filter) == 8, "the size of an instruction is part of the policy's form");

static const uint32_t landlock_protections =
    CSANDBOX_FILES | CSANDBOX_TRUNCATION | CSANDBOX_TCP | CSANDBOX_DEVICES | CSANDBOX_SCOPES;

uint32_t csandbox_landlock_protections(uint32_t revision) {
    uint32_t protections = 0;
    if (revision >= 1) protections |= CSANDBOX_FILES;
    if (revision >= 3) protections |= CSANDBOX_TRUNCATION;
    if (revision >= 4) protections |= CSANDBOX_TCP;
    if (revision >= 5) protections |= CSANDBOX_DEVICES;
    if (revision >= 6) protections |= CSANDBOX_SCOPES;
    return protections;
}

/* A kernel with this Landlock revision (5.19) also allows a host to answer a call with a descriptor
 * (5.14). */
enum { REVISION_WITH_HANDING_OVER = 2 };

/* Applies to all threads of this process, with an error if one of them cannot be confined, and with
 * a listener for the host. */
static const unsigned long telling_flags =
    SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH;

static int can_tell(void) {
    uint32_t action = SECCOMP_RET_USER_NOTIF;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) return 0;
    /* A kernel that supports the flags continues to read the filter, which is NULL here. */
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, telling_flags, NULL) != 0 && errno == EFAULT;
}

/*
 * Returns 1 if the host will open files in /proc for this process, so that no Landlock rule is
 * needed. The kernel must support that, and no filter may be installed yet, because only one
 * listener is possible.
 */
static int will_be_served(const csandbox_policy *head) {
    uint32_t needed = CSANDBOX_PROCESSES | CSANDBOX_SYSTEM_CALLS | CSANDBOX_FILES;
    return (head->protections & needed) == needed && head->telling_count > 0 && can_tell() &&
           csandbox_landlock_revision() >= REVISION_WITH_HANDING_OVER && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0;
}

uint32_t csandbox_available(uint32_t *landlock_revision) {
    uint32_t available = CSANDBOX_PRIVILEGES | CSANDBOX_LIMITS | CSANDBOX_END_WITH_HOST;
    *landlock_revision = csandbox_landlock_revision();
    available |= csandbox_landlock_protections(*landlock_revision);
    if (prctl(PR_GET_MDWE, 0, 0, 0, 0) >= 0) available |= CSANDBOX_CODE;
    uint32_t action = SECCOMP_RET_ERRNO;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0) available |= CSANDBOX_SYSTEM_CALLS;
    if (can_tell()) {
        available |= CSANDBOX_TELLING;
        if (*landlock_revision >= REVISION_WITH_HANDING_OVER) available |= CSANDBOX_PROCESSES;
    }
    return available;
}

/* Capabilities would allow root to inspect other processes in spite of Landlock. */
static int drop_privileges(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    return syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

static int limit(__rlimit_resource_t resource, uint64_t value) {
    struct rlimit now;
    if (getrlimit(resource, &now) != 0) return errno;
    rlim_t wanted = value < now.rlim_max ? (rlim_t)value : now.rlim_max;
    struct rlimit both = {wanted, wanted};
    return setrlimit(resource, &both) == 0 ? 0 : errno;
}

#ifdef CSANDBOX_SANITIZED
/* Returns the base for the memory limit: everything that has been reserved so far, plus the
 * sanitizer's own needs. */
static uint64_t sanitizer_memory(void) {
    enum { OF_ITS_OWN = 1 << 30 };
    char text[4096];
    unsigned long long kibibytes = 0;
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0) return OF_ITS_OWN;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    text[count > 0 ? count : 0] = 0;
    const char *line = strstr(text, "VmData:");
    if (line != NULL) (void)sscanf(line, "VmData: %llu kB", &kibibytes);
    return (uint64_t)kibibytes * 1024 + OF_ITS_OWN;
}
#endif

/* Limits in bytes: for the main thread's stack, which the kernel does not count as private memory,
 * and for locked memory. */
enum { MAXIMUM_STACK = 8 << 20, MAXIMUM_LOCKED = 1 << 20 };

static int apply_limits(const csandbox_policy *head) {
#ifdef CSANDBOX_SANITIZED
    int error = limit(RLIMIT_DATA, sanitizer_memory() + head->data_limit);
#else
    int error = limit(RLIMIT_DATA, head->data_limit);
    if (error == 0) error = limit(RLIMIT_AS, head->address_limit);
#endif
    if (error == 0) error = limit(RLIMIT_FSIZE, head->file_limit);
    /* The kernel also checks the number of a user's descriptors in flight against this limit. */
    if (error == 0) error = limit(RLIMIT_NOFILE, head->descriptor_limit);
    /* The kernel counts timers and queued signals per user, and compares the sum with the limit of
     * the process that requests another. */
    if (error == 0) error = limit(RLIMIT_SIGPENDING, head->signal_limit);
    if (error == 0) error = limit(RLIMIT_STACK, MAXIMUM_STACK);
    if (error == 0) error = limit(RLIMIT_MEMLOCK, MAXIMUM_LOCKED);
    if (error == 0) error = limit(RLIMIT_MSGQUEUE, 0);
    if (error == 0) error = limit(RLIMIT_NICE, 0);
    if (error == 0) error = limit(RLIMIT_RTPRIO, 0);
    return error;
}

static int install(const unsigned char *program, uint32_t count, unsigned long flags) {
    static struct sock_filter filter[CSANDBOX_MAXIMUM_INSTRUCTIONS];
    memcpy(filter, program, (size_t)count * sizeof *filter);
    for (uint32_t i = 0; i < count; i++)
        if (filter[i].code == (BPF_JMP | BPF_JEQ | BPF_K) && filter[i].k == CSANDBOX_SELF_PLACEHOLDER)
            filter[i].k = (uint32_t)getpid();
    struct sock_fprog description = {(unsigned short)count, filter};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &description);
}

static void apply_filter(const csandbox_parsed *parsed, csandbox_report *report, int *listener) {
    const csandbox_policy *head = &parsed->head;
    if (head->telling_count > 0) {
        /* Without the second flag, any signal would restart a call that waits for the host. */
        unsigned long flags = telling_flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
        *listener = install(parsed->telling, head->telling_count, flags);
        if (*listener < 0 && errno == EINVAL) *listener = install(parsed->telling, head->telling_count, telling_flags);
        if (*listener >= 0) {
            report->applied |= CSANDBOX_SYSTEM_CALLS | CSANDBOX_TELLING;
            return;
        }
    }
    *listener = -1;
    if (head->plain_count > 0 && install(parsed->plain, head->plain_count, SECCOMP_FILTER_FLAG_TSYNC) == 0)
        report->applied |= CSANDBOX_SYSTEM_CALLS;
}

/* Applies everything except the system call filter. */
static int give_up_rights(const csandbox_parsed *parsed, int is_served, csandbox_report *report, const char **step) {
    const csandbox_policy *head = &parsed->head;
    uint32_t wanted = head->protections;
    struct rusage usage;
    *report = (csandbox_report){.magic = CSANDBOX_REPORT_MAGIC, .version = CSANDBOX_VERSION};
    if (getrusage(RUSAGE_SELF, &usage) == 0) report->inherited_peak = (uint64_t)usage.ru_maxrss * 1024;

    struct rlimit none = {0, 0};
    *step = "switching off core dumps";
    if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
    if (wanted & CSANDBOX_END_WITH_HOST) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0) report->applied |= CSANDBOX_END_WITH_HOST;
        /* The host may have exited before the previous call. */
        *step = "finding the host, which has ended";
        if (head->host != 0 && (uint32_t)getppid() != head->host) return ESRCH;
    }
    /* Done while the process still has privileges and may write to /proc. */
    if (head->idle != 0) csandbox_apply_idle(head, report);
    if (wanted & CSANDBOX_PRIVILEGES) {
        *step = "giving up privileges";
        int error = drop_privileges();
        if (error != 0) return error;
        report->applied |= CSANDBOX_PRIVILEGES;
    }
    if (wanted & CSANDBOX_LIMITS) {
        *step = "setting limits";
        int error = apply_limits(head);
        if (error != 0) return error;
        report->applied |= CSANDBOX_LIMITS;
    }
    if ((wanted & CSANDBOX_CODE) && prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0)
        report->applied |= CSANDBOX_CODE;
    if ((wanted & CSANDBOX_FILES) && csandbox_apply_rules(parsed, is_served, report) == 0)
        report->applied |= csandbox_landlock_protections(report->landlock_revision) & wanted & landlock_protections;
    return 0;
}

static int receive_policy(unsigned char *bytes, size_t *count) {
    *count = 0;
    size_t expected = sizeof(csandbox_policy);
    while (*count < expected) {
        ssize_t received = recv(CSANDBOX_POLICY_FD, bytes + *count, expected - *count, 0);
        if (received < 0 && errno == EINTR) continue;
        if (received <= 0) return received == 0 ? ECONNRESET : errno;
        *count += (size_t)received;
        if (*count == sizeof(csandbox_policy) && expected == sizeof(csandbox_policy)) {
            csandbox_policy head;
            memcpy(&head, bytes, sizeof head);
            if (head.byte_count < sizeof head || head.byte_count > CSANDBOX_MAXIMUM_BYTES) return EINVAL;
            expected = head.byte_count;
        }
    }
    return 0;
}

static int send_report(const csandbox_report *report, int listener) {
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {(void *)(uintptr_t)report, sizeof *report};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (listener >= 0) {
        memset(control, 0, sizeof control);
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &listener, sizeof(int));
    }
    return sendmsg(CSANDBOX_POLICY_FD, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *report ? 0 : errno;
}

/* The state of this process between the two steps. */
static csandbox_parsed own;
static csandbox_report own_report;
static int own_is_served, is_filter_due;

int csandbox_restrict_self(const char **step) {
    static unsigned char bytes[CSANDBOX_MAXIMUM_BYTES];
    size_t count;
    *step = "closing what was inherited";
    if (close_range(CSANDBOX_POLICY_FD + 1, ~0U, 0) != 0 && errno != ENOSYS) return errno;
    *step = "receiving its policy";
    int error = receive_policy(bytes, &count);
    if (error != 0) return error;
    *step = "reading its policy";
    error = csandbox_parse(bytes, count, &own);
    if (error != 0) return error;
    own_is_served = will_be_served(&own.head);
    error = give_up_rights(&own, own_is_served, &own_report, step);
    is_filter_due = error == 0;
    return error;
}

int csandbox_restrict_calls(const char **step) {
    if (!is_filter_due) return 0;
    is_filter_due = 0;
    int listener = -1;
    if (own.head.protections & CSANDBOX_SYSTEM_CALLS) apply_filter(&own, &own_report, &listener);
    if (own_is_served) {
        *step = "having the host asked";
        if (listener < 0) return EPERM;
        own_report.applied |= CSANDBOX_PROCESSES;
    }
    own_report.missing = own.head.protections & ~own_report.applied;
    *step = "reporting to the host";
    int error = send_report(&own_report, listener);
    /* The extension must get neither descriptor, because it could answer its own calls. */
    if (listener >= 0) close(listener);
    close(CSANDBOX_POLICY_FD);
    return error;
}
