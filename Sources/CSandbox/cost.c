/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel queries about a worker that the host has started. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "csandbox_policy.h"

static uint64_t nanoseconds_of(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

int csandbox_reap(pid_t process, int *status, csandbox_cost *cost) {
    struct rusage usage;
    pid_t reaped;
    do reaped = wait4(process, status, 0, &usage);
    while (reaped < 0 && errno == EINTR);
    if (reaped < 0) return errno;
    cost->peak = (uint64_t)usage.ru_maxrss * 1024;
    cost->cpu = nanoseconds_of(usage.ru_utime) + nanoseconds_of(usage.ru_stime);
    /* Blocks of 512 bytes, independent of the file system's block size. */
    cost->written = (uint64_t)usage.ru_oublock * 512;
    cost->wake_ups = (uint64_t)usage.ru_nvcsw;
    return 0;
}

int csandbox_processor_time(pid_t process, uint64_t *nanoseconds) {
    clockid_t clock;
    struct timespec time;
    int error = clock_getcpuclockid(process, &clock);
    if (error != 0) return error;
    if (clock_gettime(clock, &time) != 0) return errno;
    *nanoseconds = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    return 0;
}

int csandbox_is_stopped(pid_t child) {
    siginfo_t information = {0};
    if (waitid(P_PID, (id_t)child, &information, WSTOPPED | WNOHANG | WNOWAIT) != 0) return 0;
    return information.si_pid == child && information.si_code == CLD_STOPPED;
}
