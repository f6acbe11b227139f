// SPDX-License-Identifier: Apache-2.0
import CSandbox
import CSeccomp
import Glibc

/// The meaning of a system call that the seccomp filter forwarded to the host.
enum AttemptedCall: Sendable {
    /// The call accesses files. Landlock decides, except for files in `/proc`.
    case files([Operand], Intent)
    /// The call reads extended attributes by path. The host performs it if access to the file is
    /// granted.
    case attributes(isLinkItself: Bool, isList: Bool)
    /// `fchmod`. The host performs it if it is allowed.
    case changeMode
    /// The call connects a socket. The host makes the connection if it is allowed.
    case connect
    /// The call creates a thread, within the thread limit. New processes are denied.
    case makeThread
    /// `clone3`, whose arguments are in memory. All C libraries fall back to `clone`.
    case cloneByStructure
    /// The call targets the process, thread or group in `argument`. If `kind` is set, the target is
    /// a process only if that argument has the value `process`.
    case target(name: String, argument: Int, kind: (argument: Int, process: UInt64)?)
    /// The call names a clock. The clock may measure the CPU time of a process or thread.
    case clock(name: String)
    /// The call creates a timer for a clock, which may measure the CPU time of a process or thread.
    /// The kernel counts timers per user.
    case timer
    /// The call maps memory or makes it writable.
    case memory(MemoryRequest.Call)
    /// The call reserves file system blocks for a file.
    case allocate
    /// The call allocates a limited resource.
    case limited(ResourceLimit)
    /// The call requests larger socket buffers. It succeeds without effect, as it does when the
    /// kernel's own limit is reached.
    case enlargeBuffers
    /// The call needs a privilege that no worker has. After the error, programs request buffers
    /// within their limits.
    case enlargeBuffersByForce
    /// The call is denied and reported as this kind.
    case refused(SandboxRefusal.Kind, name: String)
    /// The call is unknown.
    case unknown

    /// The arguments that name a file: the folder's descriptor, if there is one, and the address of
    /// the path.
    struct Operand: Sendable {
        var folder: Int?
        var path: Int
    }
    enum Intent: Sendable {
        /// The argument contains the flags of `open`.
        case flags(Int)
        /// The argument is the address of the `open_how` structure of `openat2`.
        case how(Int)
        /// The call creates a file of any kind. The argument is the mode.
        case make(mode: Int)
        /// The call creates a regular file or truncates it. The argument is the mode.
        case create(mode: Int)
        /// The call truncates a file.
        case truncate
        /// The call moves a file. The argument contains the flags.
        case move(flags: Int)
        case change
    }

    /// The calls by number.
    private static let table: [Int32: AttemptedCall] = {
        var table: [Int32: AttemptedCall] = [:]
        func set(_ name: String, _ call: AttemptedCall) {
            let number = seccomp_syscall_resolve_name(name)
            if number >= 0 {
                table[number] = call
            } else if let number = recent.first(where: { $0.value == name })?.key {
                table[number] = call
            }
        }
        for (kind, names) in SystemCalls.refused {
            for name in names { set(name, .refused(kind, name: name)) }
        }
        set("fchmod", .changeMode)
        for name in SystemCalls.limited { set(name, .limited(.descriptors)) }
        set("timer_create", .timer)
        for name in ["rt_sigqueueinfo", "rt_tgsigqueueinfo"] { set(name, .limited(.signals)) }
        for name in SystemCalls.attributes {
            set(
                name,
                .attributes(isLinkItself: name.hasPrefix("l") && name != "listxattr", isList: name.contains("list")))
        }
        for call in SystemCalls.targeted {
            let kind = call.kind.map { (argument: Int($0.argument), process: $0.process) }
            set(call.name, .target(name: call.name, argument: Int(call.target), kind: kind))
        }
        for name in SystemCalls.clocks { set(name, .clock(name: name)) }
        set("mmap", .memory(.map))
        for name in ["mprotect", "pkey_mprotect"] { set(name, .memory(.protect)) }
        set("mremap", .memory(.remap))
        set("clone3", .cloneByStructure)
        let at = { (folder: Int) in Operand(folder: folder, path: folder + 1) }
        set("open", .files([Operand(path: 0)], .flags(1)))
        set("openat", .files([at(0)], .flags(2)))
        set("openat2", .files([at(0)], .how(2)))
        set("creat", .files([Operand(path: 0)], .create(mode: 1)))
        set("mknod", .files([Operand(path: 0)], .make(mode: 1)))
        set("mknodat", .files([at(0)], .make(mode: 2)))
        set("truncate", .files([Operand(path: 0)], .truncate))
        set("fallocate", .allocate)
        for name in ["unlink", "rmdir", "mkdir"] {
            set(name, .files([Operand(path: 0)], .change))
        }
        for name in ["unlinkat", "mkdirat"] { set(name, .files([at(0)], .change)) }
        for name in ["rename", "link"] { set(name, .files([Operand(path: 0), Operand(path: 1)], .change)) }
        for name in ["renameat", "linkat"] { set(name, .files([at(0), at(2)], .change)) }
        set("renameat2", .files([at(0), at(2)], .move(flags: 4)))
        set("symlink", .files([Operand(path: 1)], .change))
        set("symlinkat", .files([at(1)], .change))
        return table
    }()

    private static let cloneNumber = seccomp_syscall_resolve_name("clone")
    private static let connectNumber = seccomp_syscall_resolve_name("connect")
    private static let fcntlNumber = seccomp_syscall_resolve_name("fcntl")
    private static let setsockoptNumber = seccomp_syscall_resolve_name("setsockopt")
    private static let queueing: Set<Int32> = numbers("rt_sigqueueinfo", "rt_tgsigqueueinfo")

    /// Determines the meaning of a call.
    ///
    /// - Parameters:
    ///   - process: The worker.
    ///   - allowsNetwork: `true` if the worker may connect.
    init(_ attempt: csandbox_attempt, process: pid_t, allowsNetwork: Bool) {
        switch attempt.number {
        case Self.cloneNumber where attempt[0] & SystemCalls.threadFlags == SystemCalls.threadFlags: self = .makeThread
        case Self.connectNumber where allowsNetwork: self = .connect
        // SOL_SOCKET with SO_SNDBUF or SO_RCVBUF; then the FORCE variants.
        case Self.setsockoptNumber where attempt.number(1) == 1 && [7, 8].contains(attempt.number(2)):
            self = .enlargeBuffers
        case Self.setsockoptNumber where attempt.number(1) == 1 && [32, 33].contains(attempt.number(2)):
            self = .enlargeBuffersByForce
        // F_DUPFD, F_DUPFD_CLOEXEC
        case Self.fcntlNumber where attempt.number(1) == 0 || attempt.number(1) == 1030: self = .limited(.descriptors)
        case let number where Self.queueing.contains(number) && attempt.number(0) != process:
            self = .refused(.signal, name: Self.name(number))
        default: self = Self.table[attempt.number] ?? .unknown
        }
    }

    static func numbers(_ names: String...) -> Set<Int32> { Set(names.map { seccomp_syscall_resolve_name($0) }) }

    /// System calls that an old libseccomp does not know. From 424 on, the numbers are the same on
    /// all architectures.
    private static let recent: [Int32: String] = [
        451: "cachestat", 452: "fchmodat2", 453: "map_shadow_stack", 454: "futex_wake", 455: "futex_wait",
        456: "futex_requeue", 457: "statmount", 458: "listmount", 459: "lsm_get_self_attr", 460: "lsm_set_self_attr",
        461: "lsm_list_modules", 462: "mseal", 463: "setxattrat", 464: "getxattrat", 465: "listxattrat",
        466: "removexattrat", 467: "open_tree_attr", 468: "file_getattr", 469: "file_setattr",
    ]

    /// Returns the name of a call, for reports of unknown calls.
    static func name(_ number: Int32) -> String {
        guard let name = seccomp_syscall_resolve_num_arch(UInt32(SCMP_ARCH_NATIVE), number) else {
            return recent[number] ?? "the kernel's function \(number)"
        }
        defer { free(name) }
        return String(cString: name)
    }
}

extension csandbox_attempt {
    subscript(argument: Int) -> UInt64 {
        withUnsafeBytes(of: arguments) { $0.loadUnaligned(fromByteOffset: argument * 8, as: UInt64.self) }
    }
    /// Returns a 32-bit argument.
    func number(_ argument: Int) -> Int32 { Int32(truncatingIfNeeded: self[argument]) }
    /// Returns `true` if the call creates a file with set-ID bits. Other users could run such a
    /// file with this user's rights, outside any sandbox. Cannot be determined for `openat2`.
    func makesSetIdFile(_ intent: AttemptedCall.Intent) -> Bool {
        let mode: Int
        switch intent {
        case .make(let argument), .create(let argument): mode = argument
        // The mode follows the flags. It only matters if the call creates a file, with a name or
        // without one (O_TMPFILE).
        case .flags(let argument) where number(argument) & (O_CREAT | 0o20000000) != 0: mode = argument + 1
        case .flags, .how, .move, .truncate, .change: return false
        }
        return self[mode] & 0o6000 != 0
    }

    /// Returns `true` if the call opens a file for neither reading nor writing. Landlock allows
    /// that. Such a descriptor can only be used for control operations (ioctl).
    func opensForControl(_ intent: AttemptedCall.Intent) -> Bool {
        guard case .flags(let argument) = intent else { return false }
        return number(argument) & (O_ACCMODE | AttemptedFile.O_PATH_flag) == O_ACCMODE
    }

    /// Returns `true` if the call creates a named device, pipe or socket, or leaves a whiteout
    /// behind (`RENAME_WHITEOUT`).
    func makesSpecialFile(_ intent: AttemptedCall.Intent) -> Bool {
        switch intent {
        case .make(let argument):
            let kind = self[argument] & UInt64(S_IFMT)
            return kind != 0 && kind != UInt64(S_IFREG)
        case .move(let flags): return self[flags] & 4 != 0
        case .flags, .how, .create, .truncate, .change: return false
        }
    }

    /// Returns `true` if the call may create a file.
    func mayMakeFile(_ intent: AttemptedCall.Intent) -> Bool {
        switch intent {
        case .make, .create: true
        case .flags(let argument): number(argument) & (O_CREAT | 0o20000000) != 0
        case .change: Self.making.contains(self.number)
        case .how, .move, .truncate: false
        }
    }
    private static let making = AttemptedCall.numbers("mkdir", "mkdirat", "link", "linkat", "symlink", "symlinkat")

    /// Returns the absolute path of an operand; `nil` if it cannot be read, or if only a descriptor
    /// names the file.
    func path(_ operand: AttemptedCall.Operand, process: pid_t) -> String? {
        guard let text = text(operand.path), !text.isEmpty else { return nil }
        return AttemptedFile.absolute(text, folder: operand.folder.map { number($0) }, process: process)
    }

    /// Reads a text of at most `PATH_MAX` bytes from the worker's memory; `nil` if it cannot be
    /// read.
    func text(_ argument: Int) -> String? {
        guard self[argument] != 0 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
            guard let start = buffer.baseAddress,
                csandbox_read_text(thread, self[argument], start, buffer.count) >= 0
            else { return nil }
            return String(cString: start)
        }
    }
}
