// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc

/// A file that a worker means, as the host sees it. Only for telling: the worker may change its mind, or its memory, and
/// what holds it back is Landlock.
struct AttemptedFile: Sendable {
    /// Absolute; as the worker wrote it, or below the folder that it named.
    var path: String
    var isChange: Bool
    /// Whether it would be made if it is not there.
    var isCreating: Bool
    /// Whether a link at its end is meant itself.
    var isLinkItself: Bool

    /// What of the worker's memory and descriptors has to be read while the call still waits.
    ///
    /// - Parameter process: The worker.
    static func read(
        _ attempt: csandbox_attempt, _ operands: [AttemptedCall.Operand], _ intent: AttemptedCall.Intent, process: pid_t
    ) -> [AttemptedFile] {
        var flags: Int32 = 0
        switch intent {
        case .flags(let argument): flags = attempt.number(argument)
        case .how(let argument):
            var value: UInt64 = 0
            guard csandbox_read_memory(attempt.thread, attempt[argument], &value, 8) == 0 else { return [] }
            flags = Int32(truncatingIfNeeded: value)
        case .make, .change: break
        }
        // Such a descriptor gives no access, and the kernel asks nobody.
        if flags & O_PATH_flag != 0 { return [] }
        let isOpening =
            switch intent {
            case .flags, .how: true
            case .make, .change: false
            }
        let isChange = !isOpening || flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0
        return operands.compactMap { operand in
            guard let text = attempt.text(operand.path), !text.isEmpty,
                let path = absolute(text, folder: operand.folder.map { attempt.number($0) }, process: process)
            else { return nil }
            let isLinkItself = !isOpening || flags & O_NOFOLLOW != 0
            return AttemptedFile(
                path: path, isChange: isChange, isCreating: flags & O_CREAT != 0 || isLinkItself && isChange,
                isLinkItself: isLinkItself)
        }
    }

    private static let O_PATH_flag: Int32 = 0o10000000

    private static func absolute(_ text: String, folder: Int32?, process: pid_t) -> String? {
        if text.hasPrefix("/") { return text }
        let isCurrent = folder == nil || folder == AT_FDCWD
        guard let base = link(isCurrent ? "/proc/\(process)/cwd" : "/proc/\(process)/fd/\(folder ?? 0)"),
            base.hasPrefix("/")
        else { return nil }
        return base + "/" + text
    }

    /// What a symbolic link says.
    static func link(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(path, start, buffer.count)
            guard count > 0 else { return nil }
            return String(
                decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]), as: UTF8.self)
        }
    }

    /// What the kernel refuses of it; `nil` if nothing.
    func refusal(_ granted: GrantedPaths, process: pid_t) -> SandboxRefusal? {
        var path = path
        // Links below /proc mean something else for everybody who follows them.
        if path.hasPrefix("/proc/") || path.hasPrefix("//") || path.contains("/proc/") {
            switch ProcessFile(path, process: process) {
            case .none: break
            case .other(let number): return SandboxRefusal(.inspection, "process \(number) (\(path))")
            case .means(let meant): path = meant
            case .nothing: return isChange ? SandboxRefusal(.write, path) : nil
            }
        }
        guard let real = resolved(path) else { return nil }
        if granted.allow(real, isChange: isChange) { return nil }
        return SandboxRefusal(isChange ? .write : .read, real)
    }

    /// The path without links; `nil` if there is nothing, so that the kernel has no reason to refuse.
    private func resolved(_ path: String) -> String? {
        let flags = Self.O_PATH_flag | O_CLOEXEC | (isLinkItself ? O_NOFOLLOW : 0)
        let descriptor = open(path, flags)
        if descriptor >= 0 {
            defer { close(descriptor) }
            return Self.link("/proc/self/fd/\(descriptor)")
        }
        guard errno == ENOENT, isCreating, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let folder = path[..<slash].isEmpty ? "/" : String(path[..<slash])
        return SmallFile.resolved(folder).map { $0 + path[slash...] }
    }
}

/// What a path below `/proc` means for the worker.
enum ProcessFile {
    /// Not of a process.
    case none
    /// A part of another process that nobody may see.
    case other(pid_t)
    /// Another path.
    case means(String)
    /// Something of its own that is no file.
    case nothing

    /// What shows the memory, the descriptors or the variables of a process.
    private static let closed: Set<Substring> = [
        "mem", "environ", "maps", "smaps", "smaps_rollup", "numa_maps", "map_files", "pagemap", "fd", "fdinfo", "root",
        "cwd", "exe", "auxv", "io", "stack", "syscall", "ns", "personality", "timers", "clear_refs", "mountinfo",
    ]

    init(_ path: String, process: pid_t) {
        var names = path.split(separator: "/").filter { $0 != "." }[...]
        guard names.first == "proc", names.count >= 3 else {
            self = .none
            return
        }
        names = names.dropFirst()
        let first = names.removeFirst()
        if first != "self", first != "thread-self" {
            guard let number = pid_t(first) else {
                self = .none
                return
            }
            // A number may be that of one of its threads.
            if number != process, access("/proc/\(process)/task/\(number)", F_OK) != 0 {
                if names.first == "task" { names = names.dropFirst(2) }
                // The numbers of its descriptors can be listed, and nothing more.
                let isList = names.first == "fd" && names.count == 1
                self = !isList && names.first.map { Self.closed.contains($0) } == true ? .other(number) : .none
                return
            }
        }
        if names.first == "task" { names = names.dropFirst(2) }
        let rest = names.dropFirst()
        switch names.first {
        case "root": self = .means("/" + rest.joined(separator: "/"))
        case "cwd", "exe":
            let start = AttemptedFile.link("/proc/\(process)/\(names.first ?? "")") ?? ""
            self = start.hasPrefix("/") ? .means(([start] + rest.map(String.init)).joined(separator: "/")) : .nothing
        case "fd" where !rest.isEmpty:
            let start = AttemptedFile.link("/proc/\(process)/fd/\(rest.first ?? "")") ?? ""
            let below = rest.dropFirst().map(String.init)
            self = start.hasPrefix("/") ? .means(([start] + below).joined(separator: "/")) : .nothing
        default: self = .nothing
        }
    }
}

/// The paths of a policy as they are now, without links.
struct GrantedPaths: Sendable {
    private let readable: [String]
    private let writable: [String]

    init(_ policy: SandboxPolicy) {
        var (readable, writable): ([String], [String]) = ([], [])
        for rule in policy.rules {
            guard let path = SmallFile.resolved(rule.path) else { continue }
            if rule.access == .write { writable.append(path) } else { readable.append(path) }
        }
        (self.readable, self.writable) = (readable, writable)
    }

    func allow(_ path: String, isChange: Bool) -> Bool {
        writable.contains { lies(path, in: $0) } || !isChange && readable.contains { lies(path, in: $0) }
    }
}
