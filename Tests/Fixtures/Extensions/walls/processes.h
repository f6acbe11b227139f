/* SPDX-License-Identifier: Apache-2.0 */
/* Other processes: their entries in /proc, signals, priorities, tracing, and starting processes. */

static const char *const open_parts[] = {
    "mem", "environ", "maps", "smaps", "smaps_rollup", "numa_maps", "map_files", "pagemap", "fd", "fd/0", "fdinfo", "fdinfo/0",
    "root", "root/etc/passwd", "cwd", "exe", "auxv", "io", "stack", "syscall", "ns", "ns/mnt", "ns/net", "personality", "timers",
    "clear_refs", "mountinfo", "mounts", "mountstats", "cmdline", "status", "stat", "statm", "comm", "cgroup", "limits",
    "wchan", "sched", "schedstat", "oom_score", "net/tcp", "net/unix", "task", "attr/current", "coredump_filter",
};

static void look_into(pid_t process) {
    for (size_t i = 0; i < sizeof open_parts / sizeof *open_parts; i++) {
        const char *path = format_path("/proc/%d/%s", process, open_parts[i]);
        struct stat status;
        if (lstat(path, &status) != 0 && errno == ENOENT) continue;
        want("process %d (%s", process, path);
        int descriptor = open(path, O_RDONLY | O_NONBLOCK);
        char buffer[64];
        long count = descriptor < 0 ? -1 : read(descriptor, buffer, sizeof buffer);
        /* If a folder can be opened, it is listed. */
        if (count < 0 && descriptor >= 0 && errno == EISDIR)
            count = syscall(SYS_getdents64, descriptor, (char[4096]){0}, 4096);
        int code = errno;
        if (descriptor >= 0) close(descriptor);
        errno = count == 0 ? EIO : code;
        tell(count > 0 ? 0 : -1, "read %s of process %s", open_parts[i], process == host ? "host" : "1");
    }
}
static void processes_proc_host(void) { look_into(host); }
static void processes_proc_init(void) { look_into(1); }

static void processes_proc_links(void) {
    static const char *const links[] = {"exe", "cwd", "root", "fd/0", "fd/1", "fd/2", "ns/mnt", "ns/pid", "ns/net", "ns/user"};
    char buffer[4096];
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        want("- where a link of another process leads is closed by the kernel's check for tracing, which tells nobody");
        tell(readlink(format_path("/proc/%d/%s", host, links[i]), buffer, sizeof buffer), "readlink %s of its host", links[i]);
    }
    static const char *const ways[] = {"/proc/self/../%d/environ", "/proc/./%d/environ", "//proc//%d//environ", "/proc/%d/./environ",
                                       "/proc/self/root/proc/%d/environ", "/proc/%d/task/%d/environ", "/proc/%d/task/%d/mem",
                                       "/proc/%d/task/%d/maps", "/proc/%d/task/%d/fd", "/proc/%d/task/%d/cmdline"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        const char *path = format_path(ways[i], host, host);
#pragma GCC diagnostic pop
        want("process %d (", host);
        int descriptor = open(path, O_RDONLY);
        tell(descriptor < 0 ? -1 : read(descriptor, buffer, 16) < 0 && errno != EISDIR ? -1 : 0, "open %s", ways[i]);
    }
    int folder = open(format_path("/proc/%d", host), O_PATH | O_DIRECTORY);
    want("process %d (", host);
    tell(openat(folder, "environ", O_RDONLY), "open below a descriptor of the host's folder");
    want("process %d (", host);
    tell(open_how(folder, "mem", O_RDWR, 0, 0), "openat2 below that descriptor");
    want("process %d (", host);
    tell(open(format_path("/proc/self/fd/%d/environ", folder), O_RDONLY), "open through that descriptor");
    want("process %d (", host);
    tell((symlink(format_path("/proc/%d", host), own("host")), open(own("host/environ"), O_RDONLY)), "open through a link");
    want("process %d (", host);
    tell(chdir(format_path("/proc/%d", host)) != 0 ? -1 : open("environ", O_RDONLY), "open in its folder");
    chdir("/");
    static const char *const written[] = {"mem", "oom_score_adj", "timerslack_ns", "coredump_filter", "comm", "clear_refs", "autogroup",
                                          "sched", "attr/current"};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const char *path = format_path("/proc/%d/%s", host, written[i]);
        if (access(path, F_OK) != 0) continue;
        want("/proc/%d/%s", host, written[i]);
        tell(open(path, O_WRONLY), "write to %s of its host", written[i]);
    }
}

static void processes_signals(void) {
    /* Signals that would do no harm. */
    static const int signals[] = {0, SIGCONT, SIGURG, SIGWINCH};
    const struct { pid_t target; const char *name; } targets[] = {
        {host, "its host"}, {1, "process 1"}, {0, "its group"}, {-1, "everybody"}, {-host, "the host's group"},
        {-getpgrp(), "its group by number"}, {-getpid(), "a group of its own number"}};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (size_t s = 0; s < sizeof signals / sizeof *signals; s++) {
            if (signals[s] != 0 && targets[i].target == 1) continue;
            want("tried to send a signal to");
            tell(kill(targets[i].target, signals[s]), "kill %s with %d", targets[i].name, signals[s]);
        }
    siginfo_t information = {.si_code = SI_QUEUE};
    const pid_t others[] = {host, 1};
    for (size_t i = 0; i < 2; i++) {
        want("tried to send a signal to");
        tell(syscall(SYS_tkill, others[i], i == 0 ? SIGURG : 0), "tkill %s", i == 0 ? "its host" : "process 1");
        want("tried to send a signal to");
        tell(syscall(SYS_tgkill, others[i], others[i], i == 0 ? SIGURG : 0), "tgkill %s", i == 0 ? "its host" : "process 1");
        information.si_signo = SIGURG;
        want("tried to send a signal to");
        tell(syscall(SYS_rt_sigqueueinfo, others[i], i == 0 ? SIGURG : 0, &information), "rt_sigqueueinfo %s", i == 0 ? "its host" : "process 1");
        want("tried to send a signal to");
        tell(syscall(SYS_rt_tgsigqueueinfo, others[i], others[i], i == 0 ? SIGURG : 0, &information), "rt_tgsigqueueinfo %s", i == 0 ? "its host" : "process 1");
    }
    want("tried to send a signal to");
    tell(syscall(SYS_pidfd_send_signal, open(format_path("/proc/%d", host), O_RDONLY | O_DIRECTORY), 0, NULL, 0), "pidfd_send_signal");
    want("tried to reach");
    tell(setpgid(0, 0), "setpgid");
    want("tried to reach");
    tell(setpgid(0, getpgid(host)), "setpgid to the host's group");
    want("tried to reach");
    tell(setsid(), "setsid");
}

static void processes_priorities(void) {
    const struct { int which; id_t who; const char *name; } whose[] = {
        {PRIO_PROCESS, (id_t)host, "its host"}, {PRIO_PROCESS, 1, "process 1"}, {PRIO_PGRP, 0, "its group"},
        {PRIO_PGRP, (id_t)getpgrp(), "its group by number"}, {PRIO_PGRP, (id_t)getpgid(host), "the host's group"},
        {PRIO_USER, 0, "its user"}, {PRIO_USER, getuid(), "its user by number"}};
    for (size_t i = 0; i < sizeof whose / sizeof *whose; i++) {
        want("(setpriority");
        tell(setpriority(whose[i].which, whose[i].who, getpriority(PRIO_PROCESS, 0)), "setpriority of %s", whose[i].name);
        want("(setpriority");
        tell(syscall(SYS_setpriority, whose[i].which, whose[i].who, 19), "a raw setpriority of %s", whose[i].name);
    }
    struct sched_param parameter = {0};
    cpu_set_t processors;
    sched_getaffinity(0, sizeof processors, &processors);
    struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t rest[5]; } attributes = {56, 0, 0, 19, 0, {0}};
    const pid_t others[] = {host, 1};
    for (size_t i = 0; i < 2; i++) {
        const char *name = i == 0 ? "its host" : "process 1";
        want("(sched_setscheduler");
        tell(syscall(SYS_sched_setscheduler, others[i], SCHED_OTHER, &parameter), "sched_setscheduler of %s", name);
        want("(sched_setscheduler");
        tell(syscall(SYS_sched_setscheduler, others[i], 5 /* idle */, &parameter), "sched_setscheduler of %s to idle", name);
        want("(sched_setparam");
        tell(syscall(SYS_sched_setparam, others[i], &parameter), "sched_setparam of %s", name);
        want("(sched_setattr");
        tell(syscall(SYS_sched_setattr, others[i], &attributes, 0), "sched_setattr of %s", name);
        want("(sched_setaffinity");
        tell(syscall(SYS_sched_setaffinity, others[i], sizeof processors, &processors), "sched_setaffinity of %s", name);
        struct rlimit limit;
        static const int kinds[] = {RLIMIT_NOFILE, RLIMIT_CPU, RLIMIT_CORE, RLIMIT_AS};
        for (size_t k = 0; k < 4; k++) {
            want("(prlimit64");
            tell(prlimit(others[i], (enum __rlimit_resource)kinds[k], NULL, &limit), "prlimit of %s, limit %d", name, kinds[k]);
        }
        want("(prlimit64");
        limit = (struct rlimit){1024, 1024};
        tell(prlimit(others[i], RLIMIT_CORE, &limit, NULL), "prlimit of %s to change it", name);
    }
    static const int whiches[] = {0, 1, 2, 3};
    for (size_t i = 0; i < 4; i++) {
        want("ioprio_set");
        tell(syscall(SYS_ioprio_set, whiches[i], 0, 0), "ioprio_set, which %d", whiches[i]);
        want("ioprio_set");
        tell(syscall(SYS_ioprio_set, whiches[i], whiches[i] == 3 ? (int)getuid() : host, (3 << 13)), "ioprio_set, which %d, to idle", whiches[i]);
    }
    struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
    want("- a limit of its own that it may not raise");
    tell(setrlimit(RLIMIT_DATA, &more), "raise the limit of memory");
    tell(prlimit(0, RLIMIT_AS, &more, NULL), "raise the limit of addresses");
    tell(prlimit(getpid(), RLIMIT_NOFILE, &more, NULL), "raise the limit of descriptors");
    tell(syscall(SYS_setpriority, PRIO_PROCESS, 0, -20), "take a higher priority");
    tell(syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &(struct sched_param){1}), "become a real-time process");
    attributes.policy = 6;
    tell(syscall(SYS_sched_setattr, 0, &attributes, 0), "become a deadline process");
}

static void processes_tracing(void) {
    char word[8];
    struct iovec here = {word, sizeof word}, there = {(void *)(uintptr_t)0x400000, sizeof word};
    const pid_t others[] = {host, 1};
    for (size_t i = 0; i < 2; i++) {
        const char *name = i == 0 ? "its host" : "process 1";
        static const int requests[] = {16 /* attach */, 0x4206 /* seize */, 1, 2, 3, 4, 7, 8, 12, 17, 0x4200, 0x4204};
        for (size_t r = 0; r < sizeof requests / sizeof *requests; r++) {
            want("(ptrace)");
            tell(syscall(SYS_ptrace, requests[r], others[i], 0, 0), "ptrace %#x of %s", (unsigned)requests[r], name);
        }
        want("process_vm_readv");
        tell(process_vm_readv(others[i], &here, 1, &there, 1, 0), "process_vm_readv of %s", name);
        want("process_vm_writev");
        tell(process_vm_writev(others[i], &here, 1, &there, 1, 0), "process_vm_writev of %s", name);
        want("pidfd_open");
        tell(syscall(434, others[i], 0), "pidfd_open of %s", name);
        want("pidfd_open");
        tell(syscall(434, others[i], 0x80 /* a thread */), "pidfd_open of a thread of %s", name);
        want("kcmp");
        tell(syscall(SYS_kcmp, getpid(), others[i], 0, 0, 0), "kcmp with %s", name);
        want("migrate_pages");
        unsigned long nodes = 1;
        tell(syscall(SYS_migrate_pages, others[i], 8, &nodes, &nodes), "migrate_pages of %s", name);
        want("move_pages");
        tell(syscall(SYS_move_pages, others[i], 0, NULL, NULL, NULL, 0), "move_pages of %s", name);
        want("- the kernel's check for tracing");
        void *head;
        size_t length;
        tell(syscall(SYS_get_robust_list, others[i], &head, &length), "get_robust_list of %s", name);
        int pidfd = open(format_path("/proc/%d", others[i]), O_PATH | O_DIRECTORY);
        want("pidfd_getfd");
        tell(syscall(438, pidfd, 0, 0), "pidfd_getfd of %s", name);
        want("process_madvise");
        tell(syscall(440, pidfd, &there, 1, 21, 0), "process_madvise of %s", name);
        want("process_mrelease");
        tell(syscall(448, pidfd, 0), "process_mrelease of %s", name);
    }
    want("(ptrace)");
    tell(syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0), "be traced by its host");
    want("perf_event_open");
    tell(syscall(SYS_perf_event_open, (char[128]){0}, host, -1, -1, 0), "count what its host does");
}

/* If a child was created after all, it does nothing, and is waited for. */
static long child(long process) {
    if (process == 0) _exit(0);
    return process;
}

static void processes_programs(void) {
    static const struct { unsigned long flags; const char *name; } kinds[] = {
        {SIGCHLD, "like fork"}, {0, "without a signal"}, {CLONE_VM | SIGCHLD, "with its memory"}, {CLONE_FILES | SIGCHLD, "with its descriptors"},
        {CLONE_FS | CLONE_SIGHAND | CLONE_VM, "with everything but being a thread"}, {CLONE_PARENT | SIGCHLD, "as its host's child"},
        {CLONE_NEWUSER | SIGCHLD, "in a user namespace"}, {CLONE_NEWNS | SIGCHLD, "in a mount namespace"},
        {CLONE_NEWPID | SIGCHLD, "in a namespace of processes"}, {CLONE_NEWNET | SIGCHLD, "in a network namespace"},
        {CLONE_UNTRACED | SIGCHLD, "untraced"}, {CLONE_IO | SIGCHLD, "with its disk priority"},
    };
    want("tried to start a process (");
    tell(child(fork()), "fork");
    want("tried to start a process (fork)");
    tell(child(syscall(SYS_fork)), "a raw fork");
    want("tried to start a process (vfork)");
    tell(child(syscall(SYS_vfork)), "a raw vfork");
    static char stack[65536];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        want("tried to start a process (clone)");
        /* With a stack of zeros, so that a created thread has no return address. */
        if (kinds[i].flags & CLONE_VM)
            tell(syscall(SYS_clone, kinds[i].flags | CLONE_VFORK, stack + sizeof stack - 4096, 0, 0, 0), "clone %s", kinds[i].name);
        else
            tell(child(syscall(SYS_clone, kinds[i].flags, 0, 0, 0, 0)), "clone %s", kinds[i].name);
    }
    struct { uint64_t words[11]; } arguments = {{0, 0, 0, 0, SIGCHLD}};
    want("clone3");
    tell(child(syscall(435, &arguments, sizeof arguments)), "clone3");
    arguments.words[0] = CLONE_NEWUSER;
    want("clone3");
    tell(child(syscall(435, &arguments, sizeof arguments)), "clone3 in a user namespace");
    want("tried to start a process");
    tell(system("true") == 0 ? 0 : -1, "system");
    want("tried to start a process");
    tell(popen("true", "r") == NULL ? -1 : 0, "popen");
    char *const words[] = {"true", NULL}, *const none[] = {NULL};
    pid_t process;
    want("tried to start a process");
    errno = posix_spawn(&process, "/bin/true", NULL, NULL, words, none);
    tell(errno == 0 ? 0 : -1, "posix_spawn");
    static const char *const programs[] = {"/bin/true", "/usr/bin/env", "/lib64/ld-linux-x86-64.so.2", "/proc/self/exe", "/bin/nothing", "/etc/passwd"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        want("tried to run the program %s", programs[i]);
        tell(execve(programs[i], words, none), "execve %s", programs[i]);
    }
    want("tried to run the program /bin/true");
    tell(syscall(SYS_execveat, AT_FDCWD, "/bin/true", words, none, 0), "execveat");
    want("tried to run the program in an open file");
    tell(syscall(SYS_execveat, open("/bin/true", O_PATH), "", words, none, AT_EMPTY_PATH), "execveat of a descriptor");
    want("tried to run the program");
    tell(fexecve(open("/bin/true", O_RDONLY), words, none), "fexecve");
    want("tried to run the program");
    tell(execvp("true", words), "execvp");
    int script = open(own("script"), O_RDWR | O_CREAT, 0755);
    if (write(script, "#!/bin/sh\n", 10) != 10) return;
    close(script);
    want("tried to run the program $TMPDIR/script");
    tell(execve(own("script"), words, none), "run its own script");
    want("tried to run the program");
    tell(syscall(SYS_execveat, AT_FDCWD, own("script"), words, none, 0x10000 /* check only */), "ask whether it might run");
    want("memfd_create");
    tell(syscall(SYS_memfd_create, "x", 0), "memfd_create");
    want("memfd_create");
    tell(syscall(SYS_memfd_create, "x", 0x10 /* to run */), "memfd_create to run");
    want("memfd_secret");
    tell(syscall(447, 0), "memfd_secret");
    want("tried to run the program /bin/true");
    tell(syscall(SYS_uselib, "/bin/true"), "uselib");
}

static int nothing(void *unused) {
    (void)unused;
    return 0;
}

/* Threads with tables of their own, in which the host would search in vain; and other processes'
 * clocks for timers. */
static void processes_tables(void) {
    static char stack[65536];
    static const int parts[] = {CLONE_FILES, CLONE_FS, CLONE_FILES | CLONE_FS, 0};
    static const int others[] = {0, CLONE_SYSVSEM, CLONE_IO, CLONE_UNTRACED, CLONE_NEWNS, CLONE_NEWUSER};
    for (size_t p = 0; p < 4; p++)
        for (size_t o = 0; o < 6; o++) {
            if (parts[p] == (CLONE_FILES | CLONE_FS) && o < 4) continue;
            want("- the kernel refuses a thread with a namespace of its own");
            if (parts[p] != (CLONE_FILES | CLONE_FS)) want("tried to start a process (clone)");
            tell(clone(nothing, stack + sizeof stack - 64, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | parts[p] | others[o], NULL),
                 "a thread with flags %#x", (unsigned)(parts[p] | others[o]));
        }
    for (unsigned flags = 2; flags < 16; flags += 4) {
        want("close_range");
        tell(syscall(SYS_close_range, 1000, 1001, flags), "close_range with flags %#x", flags);
        want("close_range");
        tell(syscall(SYS_close_range, ~0u, ~0u, flags | 1u << 31), "close_range with flags %#x", flags | 1u << 31);
    }
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    const pid_t processes[] = {host, 1, 2, getppid()};
    for (size_t i = 0; i < 4; i++)
        for (int kind = 0; kind < 8; kind++) {
            /* PROF, VIRT or SCHED, for a process or (4) for a thread. */
            if ((kind & 3) == 3) continue;
            want("(timer_create)");
            tell(timer_create((clockid_t)(~(unsigned)processes[i] << 3 | (unsigned)kind), &event, &timer), "a timer of the time of process %d, kind %d", processes[i], kind);
        }
}
