/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel features that no extension needs, and code generated at run time. */

/* A system call by number, with arguments that would have no effect if it were allowed. */
#define CALL(name, number, ...) (want("%s", name), tell(syscall(number, __VA_ARGS__), "%s", name))

static void kernel_namespaces(void) {
    static const struct { int flag; const char *name; } kinds[] = {
        {CLONE_NEWUSER, "user"}, {CLONE_NEWNS, "mount"}, {CLONE_NEWPID, "process"}, {CLONE_NEWNET, "network"}, {CLONE_NEWUTS, "name"},
        {CLONE_NEWIPC, "message"}, {CLONE_NEWCGROUP, "control group"}, {0x80, "time"}, {CLONE_FILES, "descriptor"}, {CLONE_FS, "folder"},
        {CLONE_SYSVSEM, "semaphore"}, {CLONE_NEWUSER | CLONE_NEWNS, "user and mount"}, {0, "no"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        want("unshare");
        tell(syscall(SYS_unshare, kinds[i].flag), "unshare of the %s namespace", kinds[i].name);
    }
    static const char *const spaces[] = {"user", "mnt", "net", "pid"};
    for (size_t i = 0; i < 4; i++) {
        want("setns");
        tell(syscall(SYS_setns, open(format_path("/proc/self/ns/%s", spaces[i]), O_RDONLY), 0), "setns to its own %s", spaces[i]);
    }
    CALL("mount", SYS_mount, "none", own("x"), "tmpfs", 0, "");
    want("mount");
    tell(syscall(SYS_mount, home, own("x"), NULL, MS_BIND, NULL), "mount, to bind");
    want("mount");
    tell(syscall(SYS_mount, NULL, "/", NULL, MS_REMOUNT, NULL), "mount, again");
    CALL("umount2", SYS_umount2, "/proc", MNT_DETACH);
    CALL("pivot_root", SYS_pivot_root, temporary, temporary);
    CALL("chroot", SYS_chroot, temporary);
    CALL("fsopen", 430, "tmpfs", 0);
    CALL("fsconfig", 431, -1, 0, 0, 0, 0);
    CALL("fsmount", 432, -1, 0, 0);
    CALL("fspick", 433, AT_FDCWD, "/", 0);
    CALL("move_mount", 429, AT_FDCWD, "/", AT_FDCWD, "/", 0);
    CALL("open_tree", 428, AT_FDCWD, "/", 1);
    CALL("mount_setattr", 442, AT_FDCWD, "/", 0, NULL, 0);
    CALL("statmount", 457, NULL, NULL, 0, 0);
    CALL("listmount", 458, NULL, NULL, 0, 0);
    CALL("open_tree_attr", 467, AT_FDCWD, "/", 1, NULL, 0);
    CALL("swapon", SYS_swapon, own("x"), 0);
    CALL("swapoff", SYS_swapoff, own("x"));
    CALL("quotactl", SYS_quotactl, 0x800001, NULL, 0, NULL);
    CALL("quotactl_fd", 443, -1, 0, 0, NULL);
    CALL("acct", SYS_acct, NULL);
    CALL("sync", SYS_sync, 0);
    CALL("syncfs", SYS_syncfs, open(temporary, O_RDONLY));
}

static void kernel_facilities(void) {
    char bytes[512] = {0};
    CALL("add_key", SYS_add_key, "user", "x", "y", 1, -3);
    CALL("request_key", SYS_request_key, "user", "x", NULL, -3);
    for (long operation = 0; operation < 8; operation++) {
        want("keyctl");
        tell(syscall(SYS_keyctl, operation, -3, 0, 0, 0), "keyctl %ld", operation);
    }
    for (long command = 0; command < 6; command++) {
        want("bpf");
        tell(syscall(SYS_bpf, command, bytes, 64), "bpf %ld", command);
    }
    CALL("perf_event_open", SYS_perf_event_open, bytes, 0, -1, -1, 0);
    CALL("userfaultfd", SYS_userfaultfd, 0);
    want("userfaultfd");
    tell(syscall(SYS_userfaultfd, 1), "userfaultfd for its own mode");
    CALL("io_uring_setup", 425, 1, bytes);
    CALL("io_uring_enter", 426, -1, 0, 0, 0, NULL, 0);
    CALL("io_uring_register", 427, -1, 0, NULL, 0);
    unsigned long context = 0;
    CALL("io_setup", SYS_io_setup, 1, &context);
    CALL("io_submit", SYS_io_submit, context, 0, NULL);
    CALL("io_getevents", SYS_io_getevents, context, 0, 0, NULL, NULL);
    CALL("io_cancel", SYS_io_cancel, context, NULL, NULL);
    CALL("io_destroy", SYS_io_destroy, context);
    CALL("io_pgetevents", 333, context, 0, 0, NULL, NULL, NULL);
    CALL("inotify_init", SYS_inotify_init, 0);
    CALL("inotify_init1", SYS_inotify_init1, 0);
    CALL("inotify_add_watch", SYS_inotify_add_watch, -1, "/", 1);
    CALL("fanotify_init", SYS_fanotify_init, 0x200, 0);
    CALL("fanotify_mark", SYS_fanotify_mark, -1, 1, 1, AT_FDCWD, "/");
    CALL("mq_open", SYS_mq_open, "x", O_RDWR | O_CREAT, 0600, NULL);
    CALL("mq_unlink", SYS_mq_unlink, "x");
    CALL("shmget", SYS_shmget, 0, 4096, 01600);
    CALL("shmat", SYS_shmat, 0, NULL, 0);
    CALL("shmctl", SYS_shmctl, 0, 14, NULL);
    CALL("semget", SYS_semget, 0, 1, 01600);
    CALL("semctl", SYS_semctl, 0, 0, 19);
    CALL("msgget", SYS_msgget, 0, 01600);
    CALL("msgctl", SYS_msgctl, 0, 12, NULL);
    CALL("seccomp", SYS_seccomp, 0, 0, NULL);
    want("seccomp");
    tell(syscall(SYS_seccomp, 1, 8, &(struct { unsigned short count; void *filter; }){0, NULL}), "seccomp with a listener");
    CALL("landlock_create_ruleset", 444, bytes, 8, 0);
    CALL("landlock_restrict_self", 446, -1, 0);
    CALL("mbind", SYS_mbind, NULL, 0, 0, NULL, 0, 0);
    want("- a call that libraries try when they are loaded");
    tell(syscall(SYS_set_mempolicy, 0, NULL, 0), "set_mempolicy");
    CALL("remap_file_pages", SYS_remap_file_pages, NULL, 0, 0, 0, 0);
    CALL("mlockall", SYS_mlockall, MCL_FUTURE);
    CALL("lsm_set_self_attr", 460, 0, NULL, 0, 0);
}

static void kernel_identity(void) {
    CALL("setuid", SYS_setuid, 0);
    CALL("setgid", SYS_setgid, 0);
    CALL("setreuid", SYS_setreuid, -1, 0);
    CALL("setregid", SYS_setregid, -1, 0);
    CALL("setresuid", SYS_setresuid, -1, 0, -1);
    CALL("setresgid", SYS_setresgid, -1, 0, -1);
    CALL("setfsuid", SYS_setfsuid, -1) ;
    CALL("setfsgid", SYS_setfsgid, -1);
    CALL("setgroups", SYS_setgroups, 0, NULL);
    struct { uint32_t version; int process; } header = {0x20080522, 0};
    CALL("capset", SYS_capset, &header, (uint32_t[6]){~0u, ~0u, ~0u, ~0u, ~0u, ~0u});
    CALL("sethostname", SYS_sethostname, "x", 1);
    CALL("setdomainname", SYS_setdomainname, "x", 1);
    CALL("settimeofday", SYS_settimeofday, NULL, NULL);
    CALL("clock_settime", SYS_clock_settime, 0, NULL);
    CALL("clock_adjtime", SYS_clock_adjtime, 0, (char[256]){0});
    CALL("adjtimex", SYS_adjtimex, (char[256]){0});
    CALL("iopl", SYS_iopl, 3);
    CALL("ioperm", SYS_ioperm, 0x80, 1, 1);
    CALL("modify_ldt", SYS_modify_ldt, 0, NULL, 0);
    CALL("kexec_load", SYS_kexec_load, 0, 0, NULL, 0);
    CALL("kexec_file_load", SYS_kexec_file_load, -1, -1, 0, NULL, 0);
    CALL("init_module", SYS_init_module, NULL, 0, "");
    CALL("finit_module", SYS_finit_module, -1, "", 0);
    CALL("delete_module", SYS_delete_module, "x", 0);
    CALL("reboot", SYS_reboot, 0, 0, 0, NULL);
    CALL("syslog", SYS_syslog, 10, NULL, 0);
    want("syslog");
    tell(syscall(SYS_syslog, 3, (char[64]){0}, 64), "read the kernel's log");
    CALL("vhangup", SYS_vhangup, 0);
    CALL("lookup_dcookie", SYS_lookup_dcookie, 0, NULL, 0);
    CALL("sysfs", SYS_sysfs, 3);
    CALL("ustat", SYS_ustat, 0, (char[64]){0});
    CALL("_sysctl", SYS__sysctl, NULL);
    static const unsigned long personalities[] = {0x0040000 /* no random addresses */, 0x0400000 /* read is execute */, 0x0100000 /* page zero */,
                                                  8 /* 32 bits */, 0x0020000};
    for (size_t i = 0; i < 5; i++) {
        want("personality");
        tell(syscall(SYS_personality, personalities[i]), "personality %#lx", personalities[i]);
    }
}

static void kernel_prctl(void) {
    static const struct { long words[5]; const char *name; } options[] = {
        {{PR_SET_PDEATHSIG, 0}, "PR_SET_PDEATHSIG"}, {{PR_SET_DUMPABLE, 1}, "PR_SET_DUMPABLE"}, {{PR_SET_KEEPCAPS, 1}, "PR_SET_KEEPCAPS"},
        {{PR_SET_FPEMU, 1}, "PR_SET_FPEMU"}, {{PR_SET_TIMING, 0}, "PR_SET_TIMING"}, {{PR_SET_SECCOMP, 1}, "PR_SET_SECCOMP"},
        {{PR_CAPBSET_DROP, 0}, "PR_CAPBSET_DROP"}, {{PR_SET_TSC, 1}, "PR_SET_TSC"}, {{PR_SET_SECUREBITS, 0}, "PR_SET_SECUREBITS"},
        {{PR_SET_TIMERSLACK, 1}, "PR_SET_TIMERSLACK"}, {{PR_TASK_PERF_EVENTS_DISABLE}, "PR_TASK_PERF_EVENTS_DISABLE"},
        {{PR_MCE_KILL, 0}, "PR_MCE_KILL"}, {{PR_SET_MM, 1}, "PR_SET_MM"}, {{PR_SET_PTRACER, -1}, "PR_SET_PTRACER"},
        {{PR_SET_CHILD_SUBREAPER, 1}, "PR_SET_CHILD_SUBREAPER"}, {{PR_SET_THP_DISABLE, 1}, "PR_SET_THP_DISABLE"},
        {{PR_CAP_AMBIENT, 2, 0}, "PR_CAP_AMBIENT"}, {{PR_SET_SPECULATION_CTRL, 0, 2}, "PR_SET_SPECULATION_CTRL"},
        {{57, 1}, "PR_SET_IO_FLUSHER"}, {{59, 0}, "PR_SET_SYSCALL_USER_DISPATCH"}, {{62, 1}, "PR_SCHED_CORE"}, {{65, 0}, "PR_SET_MDWE"},
        {{67, 1}, "PR_SET_MEMORY_MERGE"}, {{55, 1}, "PR_SVE_SET_VL"}, {{72, 1}, "PR_TIMER_CREATE_RESTORE_IDS"}, {{9999}, "an option that nobody knows"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        want("tried to call prctl");
        tell(syscall(SYS_prctl, options[i].words[0], options[i].words[1], options[i].words[2], 0, 0), "%s", options[i].name);
    }
    want("tried to call prctl");
    tell(syscall(SYS_prctl, PR_SET_PDEATHSIG | 0x100000000L, 0, 0, 0, 0), "PR_SET_PDEATHSIG in 64 bits");
}

static void kernel_descriptors(void) {
    int mine = open(own("mine"), O_RDWR | O_CREAT, 0600), pipes[2];
    if (pipe(pipes) != 0) return;
    struct { int type, process; } owner = {1, host};
    static const struct { int command; long argument; const char *name; } controls[] = {
        {F_SETSIG, SIGURG, "F_SETSIG"}, {F_SETLEASE, F_WRLCK, "F_SETLEASE"}, {F_GETLEASE, 0, "F_GETLEASE"}, {F_NOTIFY, 1, "F_NOTIFY"},
        {F_GETSIG, 0, "F_GETSIG"}, {1029, 0, "F_CANCELLK"}, {1040, 1, "F_SET_FILE_RW_HINT"}, {1027, 0, "F_DUPFD_QUERY"}, {9999, 0, "a command that nobody knows"}};
    want("fcntl");
    tell(fcntl(mine, F_SETOWN, host), "F_SETOWN of its host");
    want("fcntl");
    tell(fcntl(pipes[0], F_SETOWN, -getpgrp()), "F_SETOWN of its group");
    want("fcntl");
    tell(fcntl(mine, F_SETOWN_EX, &owner), "F_SETOWN_EX of its host");
    want("fcntl");
    tell(fcntl(pipes[0], F_SETFL, O_ASYNC) == 0 && fcntl(pipes[0], F_GETFL) & O_ASYNC ? fcntl(pipes[0], F_SETOWN, host) : -1, "signals of a pipe for its host");
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
        want("fcntl");
        tell(fcntl(mine, controls[i].command, controls[i].argument), "%s", controls[i].name);
    }
    static const struct { unsigned long request; const char *name; } requests[] = {
        {0x5412, "TIOCSTI"}, {0x540E, "TIOCSCTTY"}, {0x5422, "TIOCNOTTY"}, {0x5423, "TIOCSETD"}, {0x541C, "TIOCLINUX"}, {0x5410, "TIOCSPGRP"},
        {0x5402, "TCSETS"}, {0x5404, "TCSETSF"}, {0x541D, "TIOCCONS"}, {0x5414, "TIOCSWINSZ"}, {0x8901, "FIOSETOWN"}, {0x8902, "SIOCSPGRP"},
        {0x5452, "FIOASYNC"}, {0x8912, "SIOCGIFCONF"}, {0x8914, "SIOCSIFFLAGS"}, {0x8946, "SIOCETHTOOL"}, {0xC020660B, "FIEMAP"},
        {0xC0185879, "FITRIM"}, {0x5331, "CDROM"}, {0x1260, "BLKGETSIZE"}, {0x4B4E, "KDSKBENT"}, {0x125D, "BLKROSET"},
        {0x8004587D, "FIGETFROZEN"}, {0xC0045878, "FITHAW"}, {0x40049409UL, "FICLONE of nothing"}};
    for (int descriptor = 0; descriptor < 2; descriptor++)
        for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
            if (requests[i].request == 0x40049409UL && descriptor == 1) continue;
            want(requests[i].request == 0x40049409UL ? "- blocks of its own files may be shared" : "ioctl");
            tell(ioctl(descriptor == 0 ? 0 : mine, requests[i].request, requests[i].request == 0x40049409UL ? (void *)-1L : (char[256]){0}),
                 "%s on %s", requests[i].name, descriptor == 0 ? "its input" : "its own file");
        }
}

static void kernel_unknown(void) {
    static const long numbers[] = {337, 400, 423, 470, 480, 500, 511, 600, 1023, 4096, 9999, 65535};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        want("tried to call");
        tell(syscall(numbers[i], 0, 0, 0, 0, 0, 0), "call %ld", numbers[i]);
    }
}

/* The system calls of x32 and i386 have different numbers, which a filter that checks only the
 * number misses. They terminate the worker. */
static void kernel_x32(void) {
#ifdef __x86_64__
    const char *path = file();
    want("! forbidden system call");
    tell(syscall(0x40000000 | SYS_open, path, O_RDONLY), "open of x32");
#endif
}

static void kernel_i386(void) {
#ifdef __x86_64__
    want("! forbidden system call");
    long result = 20; /* getpid */
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    if (result < 0) errno = (int)-result, result = -1;
    tell(result, "getpid of i386");
#endif
}

static const unsigned char machine_code[] = {0xB8, 42, 0, 0, 0, 0xC3};

static void kernel_code(void) {
    const int everything = PROT_READ | PROT_WRITE | PROT_EXEC;
    int zero = open("/dev/zero", O_RDWR), zero_read = open("/dev/zero", O_RDONLY);
    int mine = open(own("code"), O_RDWR | O_CREAT, 0700);
    if (write(mine, machine_code, sizeof machine_code) != sizeof machine_code || ftruncate(mine, 8192) != 0) return;
#define CODE(result, name) (want("for code in memory that was written"), tell((result), name))
#define MAP(...) ((long)mmap(__VA_ARGS__) == -1 ? -1 : 0)
    CODE(MAP(NULL, 4096, everything, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), "all rights, private");
    CODE(MAP(NULL, 4096, everything, MAP_SHARED | MAP_ANONYMOUS, -1, 0), "all rights, shared");
    CODE(MAP(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), "to write and run");
    CODE(MAP(NULL, 4096, everything, MAP_PRIVATE, zero_read, 0), "all rights, of zeroes");
    CODE(MAP(NULL, 4096, everything, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0), "all rights, growing");
    CODE(MAP(NULL, 4096, everything, MAP_PRIVATE | MAP_ANONYMOUS | 0x40 /* 32 bits */, -1, 0), "all rights, low");
    CODE(MAP(NULL, 4096, everything, MAP_PRIVATE, mine, 0), "all rights, of its own file");
    CODE(MAP(NULL, 4096, everything, MAP_SHARED, mine, 0), "all rights, of its own file, shared");
    CODE((long)syscall(SYS_mmap, NULL, 4096, everything | 0x100000000L, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -1 ? -1 : 0, "all rights in 64 bits");
    void *data = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(data, machine_code, sizeof machine_code);
    CODE(mprotect(data, 4096, PROT_READ | PROT_EXEC), "mprotect of what was written");
    CODE(mprotect(data, 4096, everything), "mprotect to all rights");
    CODE(mprotect(data, 4096, PROT_EXEC), "mprotect to run alone");
    CODE((mprotect(data, 4096, PROT_NONE), mprotect(data, 4096, PROT_READ | PROT_EXEC)), "mprotect by way of nothing");
    CODE(syscall(SYS_pkey_mprotect, data, 4096, PROT_READ | PROT_EXEC, -1), "pkey_mprotect");
    CODE(syscall(SYS_mprotect, data, 4096, PROT_READ | PROT_EXEC | 0x01000000L), "mprotect downwards");
    char on_stack[8192];
    void *page = (void *)(((uintptr_t)on_stack + 4095) & ~(uintptr_t)4095);
    CODE(mprotect(page, 4096, everything), "the stack as code");
    void *on_heap = aligned_alloc(4096, 4096);
    CODE(mprotect(on_heap, 4096, everything), "the heap as code");
    uintptr_t text = (uintptr_t)&kernel_code & ~(uintptr_t)4095;
    CODE(mprotect((void *)text, 4096, everything), "its own code to be written");
    want("mmap");
    tell(MAP(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, mine, 0), "a file that it wrote, as code");
    want("mmap");
    tell(MAP(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, mine, 0), "a file that it wrote, as code, shared");
    want("mmap");
    tell(MAP(NULL, 4096, PROT_EXEC, MAP_PRIVATE, mine, 0), "a file that it wrote, to run alone");
    want("mmap");
    tell(MAP(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, zero, 0), "zeroes as code, shared");
    void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mine, 0);
    want("mmap");
    tell(shared == MAP_FAILED || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, mine, 0) == MAP_FAILED ? -1 : 0, "two maps of one file");
    want("mmap");
    tell(MAP(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(own("code"), O_RDONLY), 0), "its file opened again, as code");
    want("mprotect");
    tell(mprotect(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, mine, 0), 4096, PROT_READ | PROT_EXEC), "mprotect of a map of its file");
    /* A library that the extension itself has written. */
    int from = open(format_path("%s/library.so", fixture_host->bundle_path), O_RDONLY), to = open(own("copy.so"), O_RDWR | O_CREAT, 0700);
    char buffer[65536];
    for (ssize_t count; (count = read(from, buffer, sizeof buffer)) > 0;)
        if (write(to, buffer, (size_t)count) != count) break;
    close(to);
    want("mmap");
    void *library = dlopen(own("copy.so"), RTLD_NOW);
    errno = EACCES;
    tell(library == NULL ? -1 : 0, "a library that it wrote");
    want("tried to change /proc/");
    tell(open("/proc/self/mem", O_RDWR), "write code through /proc/self/mem");
    struct iovec here = {buffer, 4}, there = {(void *)text, 4};
    want("process_vm_writev");
    tell(process_vm_writev(getpid(), &here, 1, &there, 1, 0), "process_vm_writev to itself");
}
