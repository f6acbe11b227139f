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
        "brk", "munmap", "mremap", "madvise", "mincore", "msync", "mlock", "mlock2", "munlock",
        "pkey_alloc", "pkey_free", "get_mempolicy", "membarrier", "cachestat",
        // Threads, and the process itself
        "exit", "exit_group", "futex", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue", "get_robust_list",
        "set_robust_list", "set_tid_address", "gettid", "getpid", "getppid", "getpgid", "getpgrp", "getsid", "getuid",
        "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "capget", "arch_prctl", "rseq",
        "sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "sched_getattr",
        "sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval", "getpriority", "ioprio_get",
        "getrlimit", "getrusage", "getcpu", "times", "wait4", "waitid", "umask", "restart_syscall",
        "riscv_flush_icache", "riscv_hwprobe", "cacheflush", "set_thread_area", "map_shadow_stack",
        // Signals to itself
        "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait",
        "sigaltstack", "pause", "alarm", "getitimer", "setitimer", "signalfd", "signalfd4",
        // Time
        "clock_getres", "clock_gettime", "clock_nanosleep", "gettimeofday", "nanosleep", "time", "timer_create",
        "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime", "timerfd_create", "timerfd_gettime",
        "timerfd_settime",
        // Waiting
        "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd",
        "eventfd2",
        "poll", "ppoll", "select", "pselect6", "pipe", "pipe2",
        // Descriptors that it has
        "read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev", "pwritev2", "lseek",
        "close", "close_range", "dup", "dup2", "dup3", "fstat", "fstatfs", "fsync", "fdatasync", "sync_file_range",
        "ftruncate", "fallocate", "fadvise64", "readahead", "flock", "getdents", "getdents64", "sendfile",
        "copy_file_range", "splice", "tee", "vmsplice", "fgetxattr", "flistxattr", "fchdir",
        // Looking at names
        "stat", "lstat", "newfstatat", "statx", "statfs", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
        "getcwd", "chdir", "getxattr", "lgetxattr", "listxattr", "llistxattr",
        // Sockets that it has: its connection, and pairs
        "recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg", "shutdown", "getsockopt", "setsockopt",
        "getsockname", "getpeername",
        // The machine
        "getrandom", "sysinfo", "uname",
    ]

    /// Only with permission for the network. Servers are not part of it.
    static let network = ["connect", "bind"]

    /// Only for bundles with symbol bindings: libffi's closures are code made at run time. Where it finds no other way it would
    /// keep them in a file in memory; of these there are none for anybody, since no limit counts their pages, and it goes on
    /// with one in the temporary folder.
    static let newCode = ["mmap", "mprotect", "pkey_mprotect"]

    /// Calls that lead to a file, which Landlock decides on; the host looks on and tells. Where it cannot, they are allowed.
    static let files = [
        "open", "openat", "openat2", "creat", "truncate", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "rename",
        "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "mknod", "mknodat",
    ]

    /// What is refused, and as what it is told.
    static let refused: [(SandboxRefusal.Kind, [String])] = [
        (.process, ["fork", "vfork", "clone"]),
        (.program, ["execve", "execveat", "uselib"]),
        (.network, ["socket", "socketpair", "connect", "bind", "listen", "accept", "accept4"]),
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
                "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "perf_event_open", "userfaultfd",
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

    /// A condition on one argument.
    struct Condition: Sendable {
        let argument: UInt32
        /// Only these bits count; the kernel itself looks at no more than 32.
        var mask: UInt64 = 0xFFFF_FFFF
        let value: UInt64
    }

    /// Stands for the worker's own process, which puts its number there.
    static let selfPlaceholder: UInt64 = 0x5EA2_C4A1

    /// What is allowed under a condition; a call with several is allowed under each. Otherwise it is refused.
    static func conditional(allowsNetwork: Bool, allowsNewCode: Bool) -> [(name: String, condition: Condition)] {
        var rules: [(name: String, condition: Condition)] = []
        func allow(_ name: String, _ argument: UInt32, mask: UInt64 = 0xFFFF_FFFF, _ values: UInt64...) {
            for value in values {
                rules.append((name, Condition(argument: argument, mask: mask, value: value & mask)))
            }
        }
        if !allowsNewCode {
            // Not both PROT_WRITE (2) and PROT_EXEC (4), and no code of what was something else; libraries are mapped as
            // code at once. The kernel's PR_SET_MDWE looks at more, where there is one, but tells nobody.
            allow("mmap", 2, mask: 6, 0, 2, 4)
            for name in ["mprotect", "pkey_mprotect"] { allow(name, 2, mask: 4, 0) }
        }
        // A thread: CLONE_THREAD.
        allow("clone", 0, mask: 0x10000, 0x10000)
        for name in ["kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"] { allow(name, 0, selfPlaceholder) }
        for name in ["sched_setaffinity", "sched_setparam", "sched_setscheduler", "sched_setattr", "prlimit64"] {
            allow(name, 0, 0, selfPlaceholder)
        }
        // Not ioprio_set: anybody may leave the idle class of disks, in which a background worker is.
        allow("setpriority", 1, 0, selfPlaceholder)
        // Pairs of stream (1) or packet (5) sockets: one of datagrams could be turned to somebody else's address.
        // The type is in the low four bits.
        allow("socketpair", 1, mask: 0xF, 1, 5)
        if allowsNetwork { allow("socket", 0, 2, 10) }  // AF_INET, AF_INET6
        // F_DUPFD to F_SETLKW; its own descriptors of pipes and locks; sizes, seals, hints. Not who gets signals, leases
        // or news of folders.
        allow("fcntl", 1, 0, 1, 2, 3, 4, 5, 6, 7, 9, 36, 37, 38, 1030, 1031, 1032, 1033, 1034, 1036, 1037, 1038, 1039)
        // Whether it is a terminal and how large; how much can be read; blocking; close-on-exec; sharing of blocks.
        allow("ioctl", 1, 0x5401, 0x802C_542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x4004_9409, 0x4020_940D)
        // Names of threads and of memory, and questions.
        allow("prctl", 0, 15, 16, 0x5356_4D41, 2, 3, 21, 23, 27, 30, 39, 66)
        allow("personality", 0, 0xFFFF_FFFF)
        return rules
    }
}
