// SPDX-License-Identifier: Apache-2.0
import CSandbox
import CSeccomp
import Glibc

/// What a system call means that the filter put before the host.
enum AttemptedCall: Sendable {
    /// It leads to files; Landlock decides.
    case files([Operand], Intent)
    /// `fchmod`, which the host carries out where it may be.
    case changeMode
    /// A new thread, of which there may be so many. A new process is refused.
    case makeThread
    /// It is refused, and told as this.
    case refused(SandboxRefusal.Kind, name: String)
    /// Nobody has looked at it.
    case unknown

    /// Which arguments name a file: a folder's descriptor, if there is one, and the address of the path.
    struct Operand: Sendable {
        var folder: Int?
        var path: Int
    }
    enum Intent: Sendable {
        /// As the argument with the flags of `open` says.
        case flags(Int)
        /// As the structure of `openat2` says.
        case how(Int)
        /// It makes a file with the mode in this argument.
        case make(mode: Int)
        case change
    }

    /// By number; made once.
    private static let table: [Int32: AttemptedCall] = {
        var table: [Int32: AttemptedCall] = [:]
        func set(_ name: String, _ call: AttemptedCall) {
            let number = seccomp_syscall_resolve_name(name)
            if number >= 0 { table[number] = call }
        }
        for (kind, names) in SystemCalls.refused {
            for name in names { set(name, .refused(kind, name: name)) }
        }
        set("fchmod", .changeMode)
        let at = { (folder: Int) in Operand(folder: folder, path: folder + 1) }
        set("open", .files([Operand(path: 0)], .flags(1)))
        set("openat", .files([at(0)], .flags(2)))
        set("openat2", .files([at(0)], .how(2)))
        set("creat", .files([Operand(path: 0)], .make(mode: 1)))
        set("mknod", .files([Operand(path: 0)], .make(mode: 1)))
        set("mknodat", .files([at(0)], .make(mode: 2)))
        for name in ["truncate", "unlink", "rmdir", "mkdir"] {
            set(name, .files([Operand(path: 0)], .change))
        }
        for name in ["unlinkat", "mkdirat"] { set(name, .files([at(0)], .change)) }
        for name in ["rename", "link"] { set(name, .files([Operand(path: 0), Operand(path: 1)], .change)) }
        for name in ["renameat", "renameat2", "linkat"] { set(name, .files([at(0), at(2)], .change)) }
        set("symlink", .files([Operand(path: 1)], .change))
        set("symlinkat", .files([at(1)], .change))
        return table
    }()

    private static let clone = seccomp_syscall_resolve_name("clone")

    init(_ attempt: csandbox_attempt) {
        // CLONE_THREAD
        if attempt.number == Self.clone, attempt[0] & 0x10000 != 0 {
            self = .makeThread
        } else {
            self = Self.table[attempt.number] ?? .unknown
        }
    }

    /// The name of a call, for those nobody has looked at.
    static func name(_ number: Int32) -> String {
        guard let name = seccomp_syscall_resolve_num_arch(UInt32(SCMP_ARCH_NATIVE), number) else {
            return "the kernel's function \(number)"
        }
        defer { free(name) }
        return String(cString: name)
    }
}

extension csandbox_attempt {
    subscript(argument: Int) -> UInt64 {
        withUnsafeBytes(of: arguments) { $0.loadUnaligned(fromByteOffset: argument * 8, as: UInt64.self) }
    }
    /// An argument of 32 bits.
    func number(_ argument: Int) -> Int32 { Int32(truncatingIfNeeded: self[argument]) }
    /// Whether it makes a file whose set-id bits would let others run it with the rights of this user, outside of any
    /// sandbox. Of `openat2` that cannot be said.
    func makesSetIdFile(_ intent: AttemptedCall.Intent) -> Bool {
        let mode: Int
        switch intent {
        case .make(let argument): mode = argument
        // The mode follows the flags, and means something where a file is made, with a name or without (O_TMPFILE).
        case .flags(let argument) where number(argument) & (O_CREAT | 0o20000000) != 0: mode = argument + 1
        case .flags, .how, .change: return false
        }
        return self[mode] & 0o6000 != 0
    }

    /// A text of the worker's, at most a path long; `nil` if it cannot be read.
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
