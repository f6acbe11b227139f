// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// Access to the files of a store, which are checked before and after they are opened.
package enum OwnFile {
    /// The required kind of a file.
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

    /// The suffix of a damaged file that is kept in the store.
    private static let setAsideSuffix = ".damaged"

    /// Checks the file at a path.
    ///
    /// - Returns: `true` if the file exists.
    /// - Throws: ``UntrustedFile`` if it has the wrong kind, or if others may change it.
    @discardableResult
    package static func check(_ path: String, _ kind: Kind = .file) throws(UntrustedFile) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { return false }
            throw UntrustedFile(path: path, problem: .system(operation: "Checking", code: code))
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
        // The listener of a socket identifies its clients, so a socket's mode is not checked.
        guard kind == .socket || !FileTrust.othersMayWrite(status, at: place) else { throw fail(.writable) }
        guard kind != .file || status.st_nlink <= 1 || isSetAside(status, path) else {
            throw fail(.names(Int(status.st_nlink)))
        }
    }

    /// Returns `true` if the second hard link of a file is its `.damaged` name or its original
    /// name. Both names remain after a crash between link and rename.
    private static func isSetAside(_ status: stat, _ path: String) -> Bool {
        guard status.st_nlink == 2 else { return false }
        let other =
            path.hasSuffix(setAsideSuffix) ? String(path.dropLast(setAsideSuffix.count)) : path + setAsideSuffix
        var second = stat()
        return lstat(other, &second) == 0 && second.st_dev == status.st_dev && second.st_ino == status.st_ino
    }

    /// Opens a regular file that belongs to this user. Never blocks, as a named pipe would, and
    /// does not follow symbolic links.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - flags: The flags of open(2), without `O_TRUNC`, because a file must not be truncated
    ///     before it is checked.
    ///   - mode: The mode of a new file.
    /// - Throws: ``UntrustedFile``; `system` with `ENOENT` if the file does not exist.
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
            throw UntrustedFile(path: path, problem: .system(operation: "Checking", code: errno))
        }
        // The file may have been replaced after the first check.
        try check(status, at: .descriptor(number), path, .file)
        return file
    }

    /// Creates a new file, replacing an existing one. An existing symbolic link is removed, not
    /// followed.
    package static func create(_ path: String) throws(UntrustedFile) -> OwnedDescriptor {
        // Removed first: on a read-only file system, opening with `O_EXCL` would report that the
        // file exists, not the actual error.
        guard unlink(path) == 0 || errno == ENOENT else {
            throw UntrustedFile(path: path, problem: .system(operation: "Removing", code: errno))
        }
        let number = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            throw UntrustedFile(path: path, problem: .system(operation: "Creating", code: errno))
        }
        return OwnedDescriptor(adopting: number)
    }

    /// Returns the bytes of a regular file that belongs to this user.
    ///
    /// - Returns: The bytes; `nil` if the file does not exist.
    /// - Throws: ``UntrustedFile``; `system` with `EFBIG` if it is larger than the limit.
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

/// Access to the folder of a store.
package enum OwnFolder {
    /// The maximum number of symbolic links in a path, which is the same as the kernel's.
    private static let maximumLinks = 40

    /// Opens a folder and checks each component of its path, so that only this user and root can
    /// replace it. Components may be symbolic links that belong to these users, because a store may
    /// be on another disk.
    ///
    /// - Parameters:
    ///   - path: A path; a relative one starts in the working folder.
    ///   - creating: `true` to create missing components, accessible only by their owner.
    /// - Returns: An `O_PATH` descriptor; `nil` if the folder does not exist and is not created.
    @discardableResult
    package static func open(_ path: String, creating: Bool) throws(UntrustedFile) -> OwnedDescriptor? {
        var walk = FolderWalk(path)
        return try walk.run(creating: creating)
    }

    /// Walks through the components of a path.
    private struct FolderWalk {
        let path: String
        /// The remaining components; the next one is last.
        var rest: [Substring]
        /// The path so far.
        var shown = ""
        var links = 0

        init(_ path: String) {
            self.path = path
            rest = Self.steps(path)
        }

        /// Returns the components of a path without `.`; the next one is last.
        private static func steps(_ path: String) -> [Substring] {
            path.split(separator: "/").filter { $0 != "." }.reversed()
        }

        private func fail(_ problem: UntrustedFile.Problem) -> UntrustedFile {
            UntrustedFile(path: shown.isEmpty ? "/" : shown, problem: problem)
        }

        mutating func run(creating: Bool) throws(UntrustedFile) -> OwnedDescriptor? {
            if !path.hasPrefix("/") {
                guard let folder = getcwd(nil, 0) else {
                    throw fail(.system(operation: "Finding the working folder", code: errno))
                }
                defer { free(folder) }
                rest += Self.steps(String(cString: folder))
            }
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
            // After a symbolic link, the last folder may only have been checked as an intermediate
            // folder.
            try check(current)
            return current
        }

        private func step(_ name: String, from folder: Int32) throws(UntrustedFile) -> OwnedDescriptor {
            let number = openat(folder, name, Int32(csystem_o_path) | O_NOFOLLOW | O_CLOEXEC)
            guard number >= 0 else { throw fail(.system(operation: "Opening", code: errno)) }
            return OwnedDescriptor(adopting: number)
        }

        /// Returns the target of a symbolic link; `nil` for other files.
        private func link(_ file: OwnedDescriptor) throws(UntrustedFile) -> String? {
            var status = stat()
            guard fstat(file.number, &status) == 0 else { throw fail(.system(operation: "Checking", code: errno)) }
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
            guard fstat(folder.number, &status) == 0 else { throw fail(.system(operation: "Checking", code: errno)) }
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw fail(.kind(FileTrust.kind(status.st_mode), wanted: "a folder"))
            }
            guard FileTrust.isTrusted(status.st_uid) else { throw fail(.owner(status.st_uid)) }
            guard FileTrust.othersMayWrite(status, at: .descriptor(folder.number)) else { return }
            // In a sticky folder such as /tmp, users cannot replace other users' files. The store's
            // own folder must not be sticky.
            guard !rest.isEmpty, status.st_mode & S_ISVTX != 0 else { throw fail(.writable) }
        }
    }
}
