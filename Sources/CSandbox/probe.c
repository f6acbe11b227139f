/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of kernel features that csandbox_available does not cover. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "csandbox.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif

enum { IOPRIO_IDLE = 3 << 13, IOPRIO_THREAD = 1 };

static int has_process_handles(void) {
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (process < 0) return 0;
    /* The descriptor does not exist, so a kernel that supports and allows the call answers
     * EBADF. */
    int copy = (int)syscall(SYS_pidfd_getfd, process, -1, 0);
    int knows = copy < 0 && errno == EBADF;
    close(process);
    return knows;
}

static int has_open_beneath(void) {
    struct {
        uint64_t flags, mode, resolve;
    } how = {O_PATH | O_CLOEXEC, 0, 0x08 /* RESOLVE_BENEATH */};
    int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int found = (int)syscall(SYS_openat2, folder, ".", &how, sizeof how);
    if (found >= 0) close(found);
    if (folder >= 0) close(folder);
    return found >= 0;
}

static int has_folder_watch(void) {
    int watch = inotify_init1(IN_CLOEXEC);
    if (watch >= 0) close(watch);
    return watch >= 0;
}

uint32_t csandbox_probe(void) {
    struct sched_param none = {0};
    uint32_t found = 0;
    if (has_process_handles()) found |= CSANDBOX_PROBE_PROCESS_HANDLES;
    if (has_open_beneath()) found |= CSANDBOX_PROBE_OPEN_BENEATH;
    if (has_folder_watch()) found |= CSANDBOX_PROBE_FOLDER_WATCH;
    /* In both calls, 0 means this thread. */
    if (syscall(SYS_ioprio_set, IOPRIO_THREAD, 0, IOPRIO_IDLE) == 0) found |= CSANDBOX_PROBE_IDLE_DISK;
    if (sched_setscheduler(0, SCHED_IDLE, &none) == 0) found |= CSANDBOX_PROBE_IDLE_CPU;
    return found;
}

uint64_t csandbox_descriptor_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}
