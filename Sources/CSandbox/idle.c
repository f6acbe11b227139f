/* SPDX-License-Identifier: Apache-2.0 */
/* The measures that make a background worker yield to all other processes. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "csandbox_policy.h"

/* From <linux/ioprio.h>, which older distributions lack. */
enum { IOPRIO_CLASS_OF_IDLE = 3, IOPRIO_CLASS_BITS = 13, IOPRIO_PROCESS = 1 };

/* The number of attempts while the kernel rejects a change to the autogroup, and the time between
 * them. The kernel accepts one change every tenth of a second. */
enum { AUTOGROUP_TRIES = 4, AUTOGROUP_WAIT_NS = 100000000 };

static int write_number(const char *path, unsigned number) {
    char text[16];
    int length = snprintf(text, sizeof text, "%u", number);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return errno;
    int error = write(file, text, (size_t)length) == length ? 0 : errno;
    close(file);
    return error;
}

static int set_idle_cpu(void) {
    struct sched_param none = {0};
    if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) return errno;
    /* A login may grant its processes a better nice value, which would undo this. */
    struct rlimit zero = {0, 0};
    return setrlimit(RLIMIT_NICE, &zero) == 0 ? 0 : errno;
}

static int set_idle_disk(void) {
    int idle = IOPRIO_CLASS_OF_IDLE << IOPRIO_CLASS_BITS;
    return syscall(SYS_ioprio_set, IOPRIO_PROCESS, 0, idle) == 0 ? 0 : errno;
}

static int set_idle_session(void) {
    /* In a shared session, the change would also slow down the other processes. */
    if (getsid(0) != getpid()) return EPERM;
    int error = write_number("/proc/self/autogroup", 19);
    for (int tries = 1; error == EAGAIN && tries < AUTOGROUP_TRIES; tries++) {
        struct timespec pause = {0, AUTOGROUP_WAIT_NS};
        nanosleep(&pause, NULL);
        error = write_number("/proc/self/autogroup", 19);
    }
    return error;
}

int csandbox_begin_session(void) {
    if (getsid(0) == getpid()) return 0;
    /* A process that was started at a terminal must exit with it. */
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal >= 0) {
        close(terminal);
        return EPERM;
    }
    return setsid() < 0 ? errno : 0;
}

int csandbox_set_session_nice(pid_t child, unsigned nice) {
    /* In a shared session, the change would also affect the other processes. */
    if (getsid(child) != child) return EPERM;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/autogroup", (int)child);
    return write_number(path, nice);
}

void csandbox_apply_idle(const csandbox_policy *head, csandbox_report *report) {
    uint32_t wanted = head->idle, applied = 0;
    if ((wanted & CSANDBOX_IDLE_SESSION) && set_idle_session() == 0) applied |= CSANDBOX_IDLE_SESSION;
    if ((wanted & CSANDBOX_IDLE_CPU) && set_idle_cpu() == 0) applied |= CSANDBOX_IDLE_CPU;
    if ((wanted & CSANDBOX_IDLE_DISK) && set_idle_disk() == 0) applied |= CSANDBOX_IDLE_DISK;
    if ((wanted & CSANDBOX_IDLE_TIMERS) && prctl(PR_SET_TIMERSLACK, (unsigned long)head->timer_slack, 0, 0, 0) == 0)
        applied |= CSANDBOX_IDLE_TIMERS;
    if ((wanted & CSANDBOX_IDLE_MEMORY) && write_number("/proc/self/oom_score_adj", head->oom_score) == 0)
        applied |= CSANDBOX_IDLE_MEMORY;
    report->idle_applied = applied;
    report->idle_missing = wanted & ~applied;
}
