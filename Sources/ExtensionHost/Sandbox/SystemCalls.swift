// SPDX-License-Identifier: Apache-2.0

/// Which system calls a worker may make.
///
/// A list of what is allowed, not of what is forbidden: a kernel grows calls every year (`io_uring` made most lists of
/// forbidden ones worthless), and what nobody has looked at must not be open. A call in none of the lists fails with
/// ENOSYS, as on an older kernel, so that libraries fall back to what they did before it existed; one that is refused
/// fails with EPERM. Names that a processor or an older libseccomp does not know are passed over.
enum SystemCalls {
    /// Memory, threads, time, waiting, and files that are open already: nothing that reaches anybody else. What Landlock
    /// does not cover and does no more than look (`stat`, `readlink`) is here too.
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
        // Signals to itself
        "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait",
        "sigaltstack", "pause", "alarm", "getitimer", "setitimer",
        // Time
        "gettimeofday", "nanosleep", "time", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime",
        "timerfd_gettime", "timerfd_settime",
        // Waiting
        "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "poll", "ppoll", "select", "pselect6",
        // Descriptors that it has
        "read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev", "pwritev2", "lseek",
        "close", "dup2", "dup3", "fstat", "fstatfs", "fsync", "fdatasync", "sync_file_range",
        "ftruncate", "fadvise64", "readahead", "flock", "getdents", "getdents64", "sendfile",
        "copy_file_range", "fgetxattr", "flistxattr", "fchdir",
        // Looking at names
        "stat", "lstat", "newfstatat", "statx", "statfs", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
        "getcwd", "chdir",
        // Sockets that it has: its connection, and pairs
        "recvfrom", "recvmsg", "recvmmsg", "shutdown", "getsockopt",
        "getsockname", "getpeername",
        // The machine
        "getrandom", "sysinfo", "uname",
    ]

    /// Calls that take something of which there is a limit. The host looks on, so that it can report a limit that was reached, and
    /// lets them go on; where it cannot, they are allowed.
    static let limited = [
        "pipe", "pipe2", "epoll_create", "epoll_create1", "eventfd", "eventfd2", "timerfd_create", "signalfd",
        "signalfd4", "dup", "mremap", "fallocate",
    ]

    /// Calls by which a path's extended attributes are read. Landlock does not cover them, so the host carries them out, for
    /// granted files.
    static let attributes = ["getxattr", "lgetxattr", "listxattr", "llistxattr"]

    /// Only for bundles with symbol bindings: libffi's closures are code made at run time. Where it finds no other way it would
    /// keep them in a file in memory; of these there are none for anybody, since no limit counts their pages, and it goes on
    /// with one in the temporary folder.
    static let newCode = ["mprotect", "pkey_mprotect"]

    /// Calls that lead to a file, which Landlock decides on; the host looks on and tells. Where it cannot, they are allowed.
    static let files = [
        "open", "openat", "openat2", "creat", "truncate", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "rename",
        "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "mknod", "mknodat",
    ]

    /// What is refused, and as what it is told.
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
                // fchmod is carried out by the host, for files that are open for writing.
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
                "fanotify_mark", "name_to_handle_at", "open_by_handle_at", "mbind", "set_mempolicy",
                "set_mempolicy_home_node", "remap_file_pages", "sync", "syncfs", "lookup_dcookie", "nfsservctl",
                "sysfs",
                "ustat", "_sysctl", "io_setup", "io_submit", "io_destroy", "io_getevents", "io_cancel", "mlockall",
                "munlockall",
            ]
        ),
    ]

    /// Calls that name a process, a thread or a group of them, with the argument that does; and, where there is one, the argument that
    /// says which of these it is, with the value for a process.
    static let targeted: [(name: String, target: UInt32, kind: (argument: UInt32, process: UInt64)?)] = [
        ("sched_setaffinity", 0, nil), ("sched_setparam", 0, nil), ("sched_setscheduler", 0, nil),
        ("sched_setattr", 0, nil), ("sched_getaffinity", 0, nil), ("sched_getparam", 0, nil),
        ("sched_getscheduler", 0, nil), ("sched_getattr", 0, nil), ("sched_rr_get_interval", 0, nil),
        ("getpgid", 0, nil), ("getsid", 0, nil), ("get_robust_list", 0, nil), ("prlimit64", 0, nil),
        // PRIO_PROCESS is 0; PRIO_PGRP and PRIO_USER reach others. Not ioprio_set: anybody may leave the idle class of disks,
        // in which a background worker is. IOPRIO_WHO_PROCESS is 1.
        ("setpriority", 1, (argument: 0, process: 0)), ("getpriority", 1, (argument: 0, process: 0)),
        ("ioprio_get", 1, (argument: 0, process: 1)),
    ]
    /// Calls that name a clock; a negative number is the processor time of a process or a thread.
    /// What makes a thread of a new process: CLONE_VM, _FS, _FILES, _SIGHAND and _THREAD. One with its own descriptors or its own folder could hide
    /// from the host what it has open, and be told of under names that mean something else.
    static let threadFlags: UInt64 = 0x10F00
    static let clocks = ["clock_gettime", "clock_getres", "clock_nanosleep"]

    /// Flags of `mmap`.
    enum Mapping {
        static let writable: UInt64 = 2
        static let executable: UInt64 = 4
        static let shared: UInt64 = 1
        static let fixed: UInt64 = 0x10
        static let anonymous: UInt64 = 0x20
        /// A stack that the kernel lets grow, and does not count as memory that the process asked for.
        static let growsDown: UInt64 = 0x100
        static let huge: UInt64 = 0x40000
        /// From so many bytes on the host is asked, so that it can report memory that is not given. malloc asks for so much at once
        /// when it has nothing left to extend; the pages of a smaller piece cost about what asking does.
        static let large: UInt64 = 128 << 10
        /// The same for what is only kept free, or is a file: of addresses there is a limit too.
        static let vast: UInt64 = 1 << 30
    }

    /// Options of sockets that take no memory, choose no device and no way, load nothing into the kernel, and leave the address that was judged
    /// the one that is reached; by level.
    static let socketOptions: [(level: UInt64, options: [UInt64])] = [
        // SOL_SOCKET: reuse, error, keepalive, linger, credentials, times, marks of time, peek, busy polling's absence.
        (1, [2, 4, 6, 9, 10, 12, 13, 15, 16, 18, 20, 21, 42, 66, 67]),
        // IPPROTO_IP: IP_TOS, IP_TTL, IP_PKTINFO, IP_MTU_DISCOVER, IP_RECVERR, IP_RECVTTL, IP_RECVTOS, IP_BIND_ADDRESS_NO_PORT.
        (0, [1, 2, 8, 10, 11, 12, 13, 24]),
        // IPPROTO_TCP: TCP_NODELAY, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, TCP_LINGER2, TCP_QUICKACK, TCP_USER_TIMEOUT,
        // TCP_NOTSENT_LOWAT. Not TCP_SYNCNT: the host connects, and would try as long as the worker wants.
        (6, [1, 3, 4, 5, 6, 8, 12, 18, 25]),
        // IPPROTO_IPV6: IPV6_UNICAST_HOPS, IPV6_MTU_DISCOVER, IPV6_RECVERR, IPV6_V6ONLY, IPV6_RECVPKTINFO, IPV6_DONTFRAG, IPV6_TCLASS.
        (41, [16, 23, 25, 26, 49, 62, 67]),
    ]

    /// A condition on one argument.
    struct Condition: Sendable {
        let argument: UInt32
        /// Only these bits count; the kernel itself looks at no more than 32 of most arguments.
        var mask: UInt64 = 0xFFFF_FFFF
        let value: UInt64

        /// That an argument is less than a power of two. As a comparison of bits: libseccomp 2.5 mixes up the branches of two
        /// different comparisons by size of one argument.
        static func less(_ argument: UInt32, than power: UInt64) -> Condition {
            Condition(argument: argument, mask: ~(power - 1), value: 0)
        }
    }
    /// A call that is allowed under all of these conditions.
    typealias Rule = (name: String, conditions: [Condition])

    /// Stands for the worker's own process, which puts its number there.
    static let selfPlaceholder: UInt64 = 0x5EA2_C4A1

    /// What is allowed under conditions; a call with several rules is allowed under each. Otherwise it is refused, or the host
    /// is asked.
    ///
    /// Every argument that names somebody else is judged: a call whose target is not the worker itself comes before the host, which
    /// lets it go on only for a thread of the worker.
    ///
    /// - Parameter asksHost: Whether the filter asks the host about everything else. Then the host also counts threads and queued
    ///   signals, and looks at large pieces of memory.
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
            // Copies of descriptors.
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
        // Not with CLOSE_RANGE_UNSHARE, which gives a thread descriptors of its own.
        allow("close_range", 2, mask: ~4, 0)
        // Not the processor time of others, whose numbers are negative.
        for name in clocks { allow(name, 0, mask: 0x8000_0000, 0) }
        // Pairs of stream (1) or packet (5) sockets: one of datagrams could be turned to somebody else's address.
        // The type is in the low four bits. AF_UNIX is 1, and has one protocol.
        for type: UInt64 in [1, 5] {
            allow(
                "socketpair", Condition(argument: 0, value: 1), Condition(argument: 1, mask: 0xF, value: type),
                Condition(argument: 2, value: 0))
        }
        if allowsNetwork {
            // TCP: AF_INET (2) or AF_INET6 (10), SOCK_STREAM (1), the default protocol or IPPROTO_TCP (6). Others have ways to
            // connect that nobody judges.
            for family: UInt64 in [2, 10] {
                for transport: UInt64 in [0, 6] {
                    allow(
                        "socket", Condition(argument: 0, value: family), Condition(argument: 1, mask: 0xF, value: 1),
                        Condition(argument: 2, value: transport))
                }
            }
        }
        // Without MSG_FASTOPEN, which connects to an address in memory.
        for (name, flags) in [("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)] as [(String, UInt32)] {
            allow(name, flags, mask: 0x2000_0000, 0)
        }
        for (level, options) in socketOptions {
            for option in options {
                allow("setsockopt", Condition(argument: 1, value: level), Condition(argument: 2, value: option))
            }
        }
        // F_GETFD to F_SETLKW; sizes of pipes, seals, hints. Not copies, which the host counts; not who gets signals, leases or news
        // of folders; no locks of open files (F_OFD_SETLK), which outlive their descriptors in a mapping; and no larger pipes, whose
        // pages the kernel counts per user.
        allow("fcntl", 1, 1, 2, 3, 4, 5, 6, 7, 9, 1032, 1033, 1034, 1036, 1037, 1038, 1039)
        // Whether it is a terminal and how large; how much can be read; blocking; close-on-exec; sharing of blocks.
        allow("ioctl", 1, 0x5401, 0x802C_542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x4004_9409, 0x4020_940D)
        // Names of threads and of memory, and questions.
        allow("prctl", 0, 15, 16, 0x5356_4D41, 2, 3, 21, 23, 27, 30, 39, 66)
        allow("personality", 0, 0xFFFF_FFFF)
        return rules
    }

    /// Mappings that no limit has to be looked at for: of files, and private memory that is small or not yet writable.
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
            // In the place of other memory, which is given back: an array of a library's file, as loaders do it.
            let inPlace = Mapping.anonymous | Mapping.fixed
            rules.append(("mmap", [Condition(argument: 3, mask: kind | Mapping.fixed, value: inPlace), noCode]))
        }
        if allowsNewCode {
            rules.append(("mmap", [ofFile, code]))
            rules.append(("mmap", [ofMemory, code]))
            return
        }
        // Libraries are mapped as code at once. The host sees to it that they are no files which the worker could have written.
        let codeAtOnce = Condition(
            argument: 2, mask: Mapping.executable | Mapping.writable, value: Mapping.executable)
        if !asksHost { rules.append(("mmap", [ofFile, codeAtOnce])) }
        // Nothing that was something else becomes code. The kernel's PR_SET_MDWE looks at more, where there is one, but
        // tells nobody.
        for name in ["mprotect", "pkey_mprotect"] {
            rules.append((name, [noCode] + small))
            if asksHost { rules.append((name, [unused])) }
        }
    }
}
