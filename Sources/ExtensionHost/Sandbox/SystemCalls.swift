// SPDX-License-Identifier: Apache-2.0

/// The system calls that a worker may make.
///
/// This is an allow list, because kernels gain calls every year (`io_uring` made most deny lists
/// worthless). A call that is in none of the lists fails with ENOSYS, as on an older kernel, so
/// that libraries use their fallback. A denied call fails with EPERM. Names that the architecture
/// or an older libseccomp does not know are skipped.
enum SystemCalls {
    /// Calls for memory, threads, time, waiting, and open files, which do not affect other
    /// processes. Includes calls that only query and that Landlock does not cover (`stat`,
    /// `readlink`).
    static let allowed = [
        // Memory
        "brk", "munmap", "madvise", "mincore", "msync", "mlock", "mlock2", "munlock",
        "pkey_alloc", "pkey_free", "get_mempolicy", "membarrier", "cachestat",
        // Threads, and the process itself
        "exit", "exit_group", "futex", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue", "set_robust_list",
        "set_tid_address", "gettid", "getpid", "getppid", "getpgrp", "getuid",
        "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "arch_prctl", "rseq",
        "sched_yield", "sched_get_priority_max", "sched_get_priority_min", "getrlimit", "getrusage", "getcpu", "times",
        "wait4", "waitid", "umask", "restart_syscall",
        "riscv_flush_icache", "riscv_hwprobe", "cacheflush", "set_thread_area",
        // Signals to the process itself
        "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait",
        "sigaltstack", "pause", "alarm", "getitimer", "setitimer",
        // Time
        "gettimeofday", "nanosleep", "time", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime",
        "timerfd_gettime", "timerfd_settime",
        // Waiting
        "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "poll", "ppoll", "select", "pselect6",
        // Open descriptors
        "read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev", "pwritev2", "lseek",
        "close", "dup2", "dup3", "fstat", "fstatfs", "fsync", "fdatasync", "sync_file_range",
        "ftruncate", "fadvise64", "readahead", "flock", "getdents", "getdents64", "sendfile",
        "copy_file_range", "fgetxattr", "flistxattr", "fchdir",
        // Path queries
        "stat", "lstat", "newfstatat", "statx", "statfs", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
        "getcwd", "chdir",
        // Open sockets: the worker's connection, and socket pairs
        "recvfrom", "recvmsg", "recvmmsg", "shutdown", "getsockopt",
        "getsockname", "getpeername",
        // The machine
        "getrandom", "sysinfo", "uname",
    ]

    /// Calls that allocate a limited resource. They are forwarded to the host, which reports a
    /// limit that is reached and lets the calls proceed. If the kernel cannot forward calls, they
    /// are allowed.
    static let limited = [
        "pipe", "pipe2", "epoll_create", "epoll_create1", "eventfd", "eventfd2", "timerfd_create", "signalfd",
        "signalfd4", "dup", "mremap", "fallocate",
    ]

    /// Calls that read extended attributes by path. Landlock does not cover them, so the host
    /// performs them for granted files.
    static let attributes = ["getxattr", "lgetxattr", "listxattr", "llistxattr"]

    /// Calls that are only allowed for bundles with symbol bindings: libffi's closures are code
    /// generated at run time. As its last fallback, libffi would use memfd_create. That call is
    /// denied, because no limit counts its pages, and libffi then uses a file in the temporary
    /// folder.
    static let newCode = ["mprotect", "pkey_mprotect"]

    /// Calls that access a file. Landlock decides, and the host reports denials. If the kernel
    /// cannot forward calls, they are allowed.
    static let files = [
        "open", "openat", "openat2", "creat", "truncate", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "rename",
        "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "mknod", "mknodat",
    ]

    /// Calls that are denied without a report, because libraries try them when they are loaded. For
    /// example, libheif loads libnuma, and libnuma checks whether it can set a memory policy.
    static let unreported = ["set_mempolicy"]

    /// The denied calls, by the kind under which they are reported.
    static let refused: [(SandboxRefusal.Kind, [String])] = [
        (.process, ["fork", "vfork", "clone", "clone3"]),
        (.program, ["execve", "execveat", "uselib"]),
        (
            .network,
            ["socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "sendto", "sendmsg", "sendmmsg"]
        ),
        (
            .signal,
            [
                "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal",
            ]
        ),
        (
            .inspection,
            [
                "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_open",
                "pidfd_getfd", "kcmp", "sched_setaffinity", "sched_setparam", "sched_setscheduler", "sched_setattr",
                "setpriority", "ioprio_set", "prlimit64", "migrate_pages", "move_pages", "setpgid", "setsid",
                "sched_getaffinity", "sched_getparam", "sched_getscheduler", "sched_getattr", "sched_rr_get_interval",
                "getpriority", "ioprio_get", "getpgid", "getsid", "get_robust_list", "capget", "clock_gettime",
                "clock_getres", "clock_nanosleep",
            ]
        ),
        (
            .permissions,
            [
                // The host performs fchmod for files that are open for writing.
                "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes",
                "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr",
                "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
            ]
        ),
        (
            .kernel,
            [
                "vmsplice", "splice", "tee", "close_range", "map_shadow_stack",
                "setsockopt", "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "perf_event_open",
                "userfaultfd",
                "add_key", "keyctl", "request_key", "memfd_create", "memfd_secret", "mmap", "mprotect", "pkey_mprotect",
                "shmget", "shmat", "shmctl",
                "shmdt",
                "semget", "semop", "semctl", "semtimedop", "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open",
                "mq_unlink",
                "mount", "umount2", "umount", "pivot_root", "chroot", "unshare", "setns", "fsopen", "fsconfig",
                "fsmount",
                "fspick", "move_mount", "open_tree", "mount_setattr", "swapon", "swapoff", "quotactl", "quotactl_fd",
                "acct", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot",
                "syslog", "personality", "modify_ldt", "iopl", "ioperm", "vhangup", "sethostname", "setdomainname",
                "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "setuid", "setgid", "setreuid",
                "setregid",
                "setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups", "capset", "seccomp", "prctl", "ioctl",
                "fcntl", "setrlimit", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
                "inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch", "fanotify_init",
                "fanotify_mark", "name_to_handle_at", "open_by_handle_at", "mbind",
                "set_mempolicy_home_node", "remap_file_pages", "sync", "syncfs", "lookup_dcookie", "nfsservctl",
                "sysfs",
                "ustat", "_sysctl", "io_setup", "io_submit", "io_destroy", "io_getevents", "io_cancel", "mlockall",
                "munlockall",
            ]
        ),
    ]

    /// Calls that target a process, thread or group, with the index of that argument. `kind` is the
    /// argument that selects one of the three, with its value for a process.
    static let targeted: [(name: String, target: UInt32, kind: (argument: UInt32, process: UInt64)?)] = [
        ("sched_setaffinity", 0, nil), ("sched_setparam", 0, nil), ("sched_setscheduler", 0, nil),
        ("sched_setattr", 0, nil), ("sched_getaffinity", 0, nil), ("sched_getparam", 0, nil),
        ("sched_getscheduler", 0, nil), ("sched_getattr", 0, nil), ("sched_rr_get_interval", 0, nil),
        ("getpgid", 0, nil), ("getsid", 0, nil), ("get_robust_list", 0, nil), ("prlimit64", 0, nil),
        // PRIO_PROCESS is 0; PRIO_PGRP and PRIO_USER affect other processes. ioprio_set is not
        // listed, because with it a background worker could leave the idle I/O class.
        // IOPRIO_WHO_PROCESS is 1.
        ("setpriority", 1, (argument: 0, process: 0)), ("getpriority", 1, (argument: 0, process: 0)),
        ("ioprio_get", 1, (argument: 0, process: 1)),
    ]
    /// The flags of `clone` for a thread rather than a process: CLONE_VM, _FS, _FILES, _SIGHAND and
    /// _THREAD. A thread with its own descriptors or its own working directory could hide open
    /// files from the host, and paths in reports would be wrong.
    static let threadFlags: UInt64 = 0x10F00
    /// Calls that name a clock. A negative number stands for the CPU time of a process or thread.
    static let clocks = ["clock_gettime", "clock_getres", "clock_nanosleep"]

    /// Bits in the protection and flags of `mmap`.
    enum Mapping {
        static let writable: UInt64 = 2
        static let executable: UInt64 = 4
        static let shared: UInt64 = 1
        static let fixed: UInt64 = 0x10
        static let anonymous: UInt64 = 0x20
        /// A stack that the kernel grows without counting it as requested memory.
        static let growsDown: UInt64 = 0x100
        static let huge: UInt64 = 0x40000
        /// The size in bytes from which requests are forwarded to the host, so that it can report
        /// denied memory. malloc requests this much at once when it cannot extend its heap. The
        /// pages of a smaller mapping cost about as much as the request to the host.
        static let large: UInt64 = 128 << 10
        /// The corresponding size for files and for memory that is only reserved. These requests
        /// are forwarded because address space is limited too.
        static let vast: UInt64 = 1 << 30
    }

    /// The allowed socket options, by level. They use no memory, select no device or route, load
    /// nothing into the kernel, and do not change the address that was checked.
    static let socketOptions: [(level: UInt64, options: [UInt64])] = [
        // SOL_SOCKET: SO_REUSEADDR, errors, keepalive, linger, credentials, timeouts, time stamps,
        // peek offset.
        (1, [2, 4, 6, 9, 10, 12, 13, 15, 16, 18, 20, 21, 42, 66, 67]),
        // IPPROTO_IP: IP_TOS, IP_TTL, IP_PKTINFO, IP_MTU_DISCOVER, IP_RECVERR, IP_RECVTTL,
        // IP_RECVTOS, IP_BIND_ADDRESS_NO_PORT.
        (0, [1, 2, 8, 10, 11, 12, 13, 24]),
        // IPPROTO_TCP: TCP_NODELAY, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT,
        // TCP_LINGER2, TCP_QUICKACK, TCP_USER_TIMEOUT, TCP_NOTSENT_LOWAT. TCP_SYNCNT is excluded:
        // the host connects, and the worker could prolong its attempts.
        (6, [1, 3, 4, 5, 6, 8, 12, 18, 25]),
        // IPPROTO_IPV6: IPV6_UNICAST_HOPS, IPV6_MTU_DISCOVER, IPV6_RECVERR, IPV6_V6ONLY,
        // IPV6_RECVPKTINFO, IPV6_DONTFRAG, IPV6_TCLASS.
        (41, [16, 23, 25, 26, 49, 62, 67]),
    ]

    /// A condition on one argument.
    struct Condition: Sendable {
        let argument: UInt32
        /// The bits to compare. The kernel only reads 32 bits of most arguments.
        var mask: UInt64 = 0xFFFF_FFFF
        let value: UInt64

        /// Returns the condition that an argument is less than a power of two. It compares bits,
        /// because libseccomp 2.5 confuses the branches of two size comparisons of the same
        /// argument.
        static func less(_ argument: UInt32, than power: UInt64) -> Condition {
            Condition(argument: argument, mask: ~(power - 1), value: 0)
        }
    }
    /// A call that is allowed if all of the conditions are true.
    typealias Rule = (name: String, conditions: [Condition])

    /// A placeholder for the worker's process identifier. The worker replaces it.
    static let selfPlaceholder: UInt64 = 0x5EA2_C4A1

    /// Returns the calls that are allowed under conditions. A call with several rules is allowed if
    /// one of them matches. Other uses are denied or forwarded to the host.
    ///
    /// Every argument that can name another process is checked. A call that targets anything other
    /// than the worker itself is forwarded to the host, which lets it proceed only if the target is
    /// one of the worker's threads.
    ///
    /// - Parameter asksHost: `true` if the filter forwards everything else to the host. The host
    ///   then also counts threads and queued signals, and checks large mappings.
    static func conditional(allowsNetwork: Bool, allowsNewCode: Bool, asksHost: Bool) -> [Rule] {
        var rules: [Rule] = []
        func allow(_ name: String, _ conditions: Condition...) { rules.append((name, conditions)) }
        func allow(_ name: String, _ argument: UInt32, mask: UInt64 = 0xFFFF_FFFF, _ values: UInt64...) {
            for value in values { allow(name, Condition(argument: argument, mask: mask, value: value & mask)) }
        }
        addMemory(allowsNewCode: allowsNewCode, asksHost: asksHost, &rules)
        for name in ["kill", "tgkill"] { allow(name, 0, selfPlaceholder) }
        if !asksHost {
            allow("clone", 0, mask: threadFlags, threadFlags)
            allow("timer_create", 0, mask: 0x8000_0000, 0)
            for name in ["rt_sigqueueinfo", "rt_tgsigqueueinfo"] { allow(name, 0, selfPlaceholder) }
            // Copies of descriptors (F_DUPFD, F_DUPFD_CLOEXEC).
            allow("fcntl", 1, 0, 1030)
        }
        for call in targeted {
            for own in [0, selfPlaceholder] {
                let target = Condition(argument: call.target, value: own)
                if let kind = call.kind {
                    allow(call.name, target, Condition(argument: kind.argument, value: kind.process))
                } else {
                    allow(call.name, target)
                }
            }
        }
        // Without CLOSE_RANGE_UNSHARE, which gives a thread its own descriptor table.
        allow("close_range", 2, mask: ~4, 0)
        // Excludes the CPU time of other processes, whose clock numbers are negative.
        for name in clocks { allow(name, 0, mask: 0x8000_0000, 0) }
        // Pairs of stream (1) or seqpacket (5) sockets; a datagram socket could be connected to
        // another address. The type is in the low four bits. AF_UNIX is 1 and has one protocol.
        for type: UInt64 in [1, 5] {
            allow(
                "socketpair", Condition(argument: 0, value: 1), Condition(argument: 1, mask: 0xF, value: type),
                Condition(argument: 2, value: 0))
        }
        if allowsNetwork {
            // TCP: AF_INET (2) or AF_INET6 (10), SOCK_STREAM (1), the default protocol or
            // IPPROTO_TCP (6). Other protocols can connect in ways that are not checked.
            for family: UInt64 in [2, 10] {
                for transport: UInt64 in [0, 6] {
                    allow(
                        "socket", Condition(argument: 0, value: family), Condition(argument: 1, mask: 0xF, value: 1),
                        Condition(argument: 2, value: transport))
                }
            }
        }
        // Denies MSG_FASTOPEN, which connects to an address that the filter cannot check.
        for (name, flags) in [("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)] as [(String, UInt32)] {
            allow(name, flags, mask: 0x2000_0000, 0)
        }
        for (level, options) in socketOptions {
            for option in options {
                allow("setsockopt", Condition(argument: 1, value: level), Condition(argument: 2, value: option))
            }
        }
        // F_GETFD to F_SETLKW, pipe sizes, seals and hints. Excluded are:
        //
        // - copies, which the host counts,
        // - signal recipients, leases, and directory notifications,
        // - open-file-description locks (F_OFD_SETLK), which a mapping keeps after their
        //   descriptors are closed,
        // - larger pipes, whose pages the kernel counts per user.
        allow("fcntl", 1, 1, 2, 3, 4, 5, 6, 7, 9, 1032, 1033, 1034, 1036, 1037, 1038, 1039)
        // Terminal queries, the number of readable bytes, blocking mode, close-on-exec, and block
        // sharing.
        allow("ioctl", 1, 0x5401, 0x802C_542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x4004_9409, 0x4020_940D)
        // Thread and memory names, and queries.
        allow("prctl", 0, 15, 16, 0x5356_4D41, 2, 3, 21, 23, 27, 30, 39, 66)
        allow("personality", 0, 0xFFFF_FFFF)
        return rules
    }

    /// Adds the mappings that need no limit check: files, and private memory that is small or not
    /// yet writable.
    private static func addMemory(allowsNewCode: Bool, asksHost: Bool, _ rules: inout [Rule]) {
        let kind = Mapping.shared | Mapping.anonymous | Mapping.growsDown | Mapping.huge
        let ofFile = Condition(argument: 3, mask: kind & ~Mapping.shared, value: 0)
        let ofMemory = Condition(argument: 3, mask: kind, value: Mapping.anonymous)
        let small = asksHost ? [Condition.less(1, than: Mapping.large)] : []
        let code = Condition(argument: 2, mask: Mapping.executable, value: Mapping.executable)
        let noCode = Condition(argument: 2, mask: Mapping.executable, value: 0)
        let unused = Condition(argument: 2, mask: Mapping.executable | Mapping.writable, value: 0)
        let inReach = asksHost ? [Condition.less(1, than: Mapping.vast)] : []
        rules.append(("mmap", [ofFile, noCode] + inReach))
        rules.append(("mmap", [ofMemory, noCode] + small))
        if asksHost {
            rules.append(("mmap", [ofMemory, unused] + inReach))
            // A mapping that replaces (and thereby frees) other memory, such as the
            // zero-initialised data that a loader maps.
            let inPlace = Mapping.anonymous | Mapping.fixed
            rules.append(("mmap", [Condition(argument: 3, mask: kind | Mapping.fixed, value: inPlace), noCode]))
        }
        if allowsNewCode {
            rules.append(("mmap", [ofFile, code]))
            rules.append(("mmap", [ofMemory, code]))
            return
        }
        // Libraries are mapped as code directly. The host checks that the worker could not have
        // written the file.
        let codeAtOnce = Condition(
            argument: 2, mask: Mapping.executable | Mapping.writable, value: Mapping.executable)
        if !asksHost { rules.append(("mmap", [ofFile, codeAtOnce])) }
        // Existing memory never becomes code. The kernel's PR_SET_MDWE checks more, where it
        // exists, but reports nothing.
        for name in ["mprotect", "pkey_mprotect"] {
            rules.append((name, [noCode] + small))
            if asksHost { rules.append((name, [unused])) }
        }
    }
}
