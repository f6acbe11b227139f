// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import SystemSupport

/// A file that a worker's call names, as seen by the host. It is only used for reports: the worker
/// may change its memory at any time, and the Landlock rules are what confines it.
struct AttemptedFile: Sendable {
    /// The absolute path, as the worker wrote it or below the folder that it named.
    var path: String
    var isChange: Bool
    /// `true` if the call creates the file when it does not exist.
    var isCreating: Bool
    /// `true` if the call applies to a link at the end of the path, not to the link's target.
    var isLinkItself: Bool

    /// Reads the files of a call from the worker's memory and descriptors. Must be called while the
    /// call is still waiting.
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
        case .make, .create, .truncate, .move, .change: break
        }
        // An O_PATH descriptor gives no access, and Landlock does not check it.
        if flags & O_PATH_flag != 0 { return [] }
        let isOpening =
            switch intent {
            case .flags, .how: true
            case .make, .create, .truncate, .move, .change: false
            }
        let isFollowing =
            switch intent {
            case .flags, .how: flags & O_NOFOLLOW == 0
            case .create, .truncate: true
            case .make, .move, .change: false
            }
        let isChange = !isOpening || flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0
        return operands.compactMap { operand in
            guard let text = attempt.text(operand.path), !text.isEmpty,
                let path = absolute(text, folder: operand.folder.map { attempt.number($0) }, process: process)
            else { return nil }
            let isLinkItself = !isFollowing
            return AttemptedFile(
                path: path, isChange: isChange, isCreating: flags & O_CREAT != 0 || !isOpening && isChange,
                isLinkItself: isLinkItself)
        }
    }

    static let O_PATH_flag: Int32 = 0o10000000

    static func absolute(_ text: String, folder: Int32?, process: pid_t) -> String? {
        if text.hasPrefix("/") { return text }
        let isCurrent = folder == nil || folder == AT_FDCWD
        guard let base = link(isCurrent ? "/proc/\(process)/cwd" : "/proc/\(process)/fd/\(folder ?? 0)"),
            base.hasPrefix("/")
        else { return nil }
        return base + "/" + text
    }

    /// Returns the target of a symbolic link.
    static func link(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(path, start, buffer.count)
            guard count > 0 else { return nil }
            return String(
                decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]), as: UTF8.self)
        }
    }

    /// Returns the file that a worker's path leads to, without links; `nil` if there is no file or
    /// it has no path.
    static func target(_ path: String, isLinkItself: Bool, process: pid_t) -> String? {
        var path = path
        switch ProcessPath(path, process: process) {
        case .elsewhere: break
        case .means(let meant): path = meant
        case .file, .closed, .others: return path
        }
        let file = AttemptedFile(path: path, isChange: true, isCreating: false, isLinkItself: isLinkItself)
        return try? file.resolved(path)
    }

    /// Returns the denial that the kernel makes for this access, or `nil` if the access is allowed.
    func refusal(_ granted: GrantedPaths, process: pid_t) -> SandboxRefusal? {
        var path = path
        // Links below /proc have a different target for each process that follows them.
        switch ProcessPath(path, process: process) {
        case .elsewhere: break
        case .means(let meant): path = meant
        case .file, .closed: return isChange ? SandboxRefusal(.write, path) : nil
        case .others(let detail): return SandboxRefusal(.inspection, detail)
        }
        do throws(FollowedPath.Failure) {
            guard let real = try resolved(path), !granted.allow(real, isChange: isChange) else { return nil }
            return SandboxRefusal(isChange ? .write : .read, real)
        } catch {
            // A path with too many components is reported unresolved, regardless of its target.
            return error == .names ? SandboxRefusal(isChange ? .write : .read, path) : nil
        }
    }

    /// Returns the path without links; `nil` if the file does not exist, because the kernel then
    /// has no access to deny.
    private func resolved(_ path: String) throws(FollowedPath.Failure) -> String? {
        let flags = Self.O_PATH_flag | O_CLOEXEC | (isLinkItself ? O_NOFOLLOW : 0)
        let descriptor = open(path, flags)
        if descriptor >= 0 {
            defer { close(descriptor) }
            return Self.link("/proc/self/fd/\(descriptor)")
        }
        guard errno == ENOENT, isCreating else { return nil }
        // A dangling link is followed, unless the call applies to the link itself.
        if !isLinkItself { return try FollowedPath(path).path }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let folder = try FollowedPath(path[..<slash].isEmpty ? "/" : String(path[..<slash]))
        return folder.isThere ? (folder.path == "/" ? "" : folder.path) + path[slash...] : nil
    }
}

/// The paths of a policy, resolved and without links. A link that is created at such a path later
/// grants nothing.
struct GrantedPaths: Sendable {
    private let readable: [String]
    private let writable: [String]

    init(_ policy: SandboxPolicy) {
        var (readable, writable): ([String], [String]) = ([], [])
        for rule in policy.rules where rule.access == .read || rule.access == .write {
            let found = csandbox_open_exactly(rule.path, 0)
            guard found >= 0 else { continue }
            close(found)
            if rule.access == .write { writable.append(rule.path) } else { readable.append(rule.path) }
        }
        (self.readable, self.writable) = (readable, writable)
    }

    func allow(_ path: String, isChange: Bool) -> Bool {
        writable.contains { lies(path, in: $0) } || !isChange && readable.contains { lies(path, in: $0) }
    }
}
