// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// Files of a store: looked at before they are opened, and again when they are.
package enum OwnFile {
    /// What has to be at a path, if anything is.
    package enum Kind: Sendable {
        case file, folder, socket

        var format: mode_t {
            switch self {
            case .file: S_IFREG
            case .folder: S_IFDIR
            case .socket: S_IFSOCK
            }
        }
    }

    /// How a file is made that is set aside: under this name it keeps being in the store.
    private static let setAsideSuffix = ".damaged"

    /// Looks at what is at a path.
    ///
    /// - Returns: Whether there is something.
    /// - Throws: ``UntrustedFile`` if it is something else than it must be, or others may change it.
    @discardableResult
    package static func check(_ path: String, _ kind: Kind = .file) throws(UntrustedFile) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { return false }
            throw UntrustedFile(path: path, problem: .system(operation: "Looking at", code: code))
        }
        try check(status, at: .path(path), path, kind)
        return true
    }

    private static func check(
        _ status: stat, at place: FileAccessList.Place, _ path: String, _ kind: Kind
    ) throws(UntrustedFile) {
        func fail(_ problem: UntrustedFile.Problem) -> UntrustedFile { UntrustedFile(path: path, problem: problem) }
        guard status.st_mode & S_IFMT == kind.format else {
            if status.st_mode & S_IFMT == S_IFLNK { throw fail(.link) }
            let wanted = FileTrust.kind(kind.format)
            throw fail(.kind(FileTrust.kind(status.st_mode), wanted: wanted))
        }
        guard FileTrust.isTrusted(status.st_uid) else { throw fail(.owner(status.st_uid)) }
        // Who may connect to a socket its listener finds out by the peer.
        guard kind == .socket || !FileTrust.othersMayWrite(status, at: place) else { throw fail(.writable) }
        guard kind != .file || status.st_nlink <= 1 || isSetAside(status, path) else {
            throw fail(.names(Int(status.st_nlink)))
        }
    }

    /// Whether the other name of a file is the one under which it is set aside: of a crash in between both are left.
    private static func isSetAside(_ status: stat, _ path: String) -> Bool {
        guard status.st_nlink == 2 else { return false }
        let other =
            path.hasSuffix(setAsideSuffix) ? String(path.dropLast(setAsideSuffix.count)) : path + setAsideSuffix
        var second = stat()
        return lstat(other, &second) == 0 && second.st_dev == status.st_dev && second.st_ino == status.st_ino
    }

    /// Opens a regular file of this user's. Never waits, as a named pipe would have it, and follows no link.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - flags: Without `O_TRUNC`: what others share must not be emptied before it is known.
    ///   - mode: Of a new file.
    /// - Throws: ``UntrustedFile``; `system` with `ENOENT` without a file.
    package static func open(
        _ path: String, _ flags: Int32, mode: mode_t = 0o600
    ) throws(UntrustedFile) -> OwnedDescriptor {
        precondition(flags & O_TRUNC == 0)
        try check(path)
        let number = Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode)
        guard number >= 0 else {
            throw UntrustedFile(path: path, problem: .system(operation: "Opening", code: errno))
        }
        let file = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fstat(number, &status) == 0 else {
            throw UntrustedFile(path: path, problem: .system(operation: "Looking at", code: errno))
        }
        // It may be another one than a moment ago.
        try check(status, at: .descriptor(number), path, .file)
        return file
    }

    /// Makes a new file at a path, in place of what is there. A link there is removed and not followed.
    package static func create(_ path: String) throws(UntrustedFile) -> OwnedDescriptor {
        // Creating a file would only say that there is one, also where nothing can be written.
        guard unlink(path) == 0 || errno == ENOENT else {
            throw UntrustedFile(path: path, problem: .system(operation: "Removing", code: errno))
        }
        let number = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            throw UntrustedFile(path: path, problem: .system(operation: "Creating", code: errno))
        }
        return OwnedDescriptor(adopting: number)
    }

    /// The bytes of a regular file of this user's.
    ///
    /// - Returns: `nil` without a file.
    /// - Throws: ``UntrustedFile``; `system` with `EFBIG` if it has more bytes than a limit.
    package static func bytes(_ path: String, limit: Int) throws(UntrustedFile) -> [UInt8]? {
        let file: OwnedDescriptor
        do throws(UntrustedFile) {
            file = try open(path, O_RDONLY)
        } catch {
            if case .system(_, ENOENT) = error.problem { return nil }
            throw error
        }
        do throws(BoundedFile.Failure) {
            return try BoundedFile.contents(of: file, limit: limit)
        } catch {
            let code = if case .system(let code) = error { code } else { EFBIG }
            throw UntrustedFile(path: path, problem: .system(operation: "Reading", code: code))
        }
    }
}

/// The folder of a store.
package enum OwnFolder {
    /// The most symbolic links on the way, as the kernel's.
    private static let maximumLinks = 40

    /// Opens a folder and looks at each step of the way there, so that none but this user and root can put another one in its
    /// place. Steps may be symbolic links of theirs: a store may be on another disk.
    ///
    /// - Parameters:
    ///   - path: Absolute.
    ///   - creating: Whether what is missing of it is made, for its owner alone.
    /// - Returns: A descriptor to find files from (`O_PATH`); `nil` if there is none and none is made.
    @discardableResult
    package static func open(_ path: String, creating: Bool) throws(UntrustedFile) -> OwnedDescriptor? {
        var walk = FolderWalk(path)
        return try walk.run(creating: creating)
    }

    /// The steps of one path.
    private struct FolderWalk {
        let path: String
        /// Still to be gone, the next last.
        var rest: [Substring]
        /// Where it has come to.
        var shown = ""
        var links = 0

        init(_ path: String) {
            self.path = path
            rest = Self.steps(path)
        }

        /// The steps of a path, the next last; `.` is none.
        private static func steps(_ path: String) -> [Substring] {
            path.split(separator: "/").filter { $0 != "." }.reversed()
        }

        private func fail(_ problem: UntrustedFile.Problem) -> UntrustedFile {
            UntrustedFile(path: shown.isEmpty ? "/" : shown, problem: problem)
        }

        mutating func run(creating: Bool) throws(UntrustedFile) -> OwnedDescriptor? {
            var current = try step("/", from: AT_FDCWD)
            try check(current)
            while let name = rest.popLast() {
                let above = shown
                let parent = shown.split(separator: "/").dropLast().map { "/" + $0 }.joined()
                shown = name == ".." ? parent : shown + "/" + name
                let next: OwnedDescriptor
                do throws(UntrustedFile) {
                    next = try step(String(name), from: current.number)
                } catch {
                    guard case .system(_, ENOENT) = error.problem else { throw error }
                    guard creating else { return nil }
                    guard mkdirat(current.number, String(name), 0o700) == 0 || errno == EEXIST else {
                        throw fail(.system(operation: "Creating the folder", code: errno))
                    }
                    next = try step(String(name), from: current.number)
                }
                if let target = try link(next) {
                    links += 1
                    guard links <= OwnFolder.maximumLinks else {
                        throw fail(.system(operation: "Following", code: ELOOP))
                    }
                    rest += Self.steps(target)
                    shown = above
                    if target.hasPrefix("/") {
                        shown = ""
                        current = try step("/", from: AT_FDCWD)
                    }
                    continue
                }
                try check(next)
                current = next
            }
            // A link may lead back to a folder that was only on the way before.
            try check(current)
            return current
        }

        private func step(_ name: String, from folder: Int32) throws(UntrustedFile) -> OwnedDescriptor {
            let number = openat(folder, name, Int32(csystem_o_path) | O_NOFOLLOW | O_CLOEXEC)
            guard number >= 0 else { throw fail(.system(operation: "Opening", code: errno)) }
            return OwnedDescriptor(adopting: number)
        }

        /// Where a symbolic link leads; `nil` if it is none.
        private func link(_ file: OwnedDescriptor) throws(UntrustedFile) -> String? {
            var status = stat()
            guard fstat(file.number, &status) == 0 else { throw fail(.system(operation: "Looking at", code: errno)) }
            guard status.st_mode & S_IFMT == S_IFLNK else { return nil }
            guard FileTrust.isTrusted(status.st_uid) else { throw fail(.owner(status.st_uid)) }
            var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = target.withUnsafeMutableBytes { bytes in
                bytes.withMemoryRebound(to: CChar.self) { buffer in
                    buffer.baseAddress.map { readlinkat(file.number, "", $0, buffer.count) } ?? -1
                }
            }
            guard count > 0, count < target.count else {
                throw fail(.system(operation: "Following", code: count < 0 ? errno : ENAMETOOLONG))
            }
            return String(decoding: target[..<count], as: UTF8.self)
        }

        private func check(_ folder: OwnedDescriptor) throws(UntrustedFile) {
            var status = stat()
            guard fstat(folder.number, &status) == 0 else { throw fail(.system(operation: "Looking at", code: errno)) }
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw fail(.kind(FileTrust.kind(status.st_mode), wanted: "a folder"))
            }
            guard FileTrust.isTrusted(status.st_uid) else { throw fail(.owner(status.st_uid)) }
            guard FileTrust.othersMayWrite(status, at: .descriptor(folder.number)) else { return }
            // In /tmp nobody takes away what is another's; a store's own folder is no such place.
            guard !rest.isEmpty, status.st_mode & S_ISVTX != 0 else { throw fail(.writable) }
        }
    }
}
