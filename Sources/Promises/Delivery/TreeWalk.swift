// SPDX-License-Identifier: Apache-2.0
import CFiles
import Glibc
import SystemSupport

/// A walk through a provider's folder that measures or copies it.
///
/// The provider has chosen the descriptor and is not trusted. So the walk is restricted to what can
/// be read through the descriptor:
///
/// - A descriptor without read access (`O_PATH`) is rejected, because a sandboxed process can open
///   such a descriptor for any folder.
/// - Generated file systems (`/proc`) are rejected, because their contents depend on the reading
///   process.
/// - Everything else is opened from the descriptor one name at a time, without following links or
///   entering other devices.
///
/// Landlock grants access to whole subtrees, so a worker that could open the folder for reading
/// could read all of it.
final class TreeWalk {
    private let limits: TreeLimits
    private let pace: Pace
    private(set) var size = TreeSize()
    /// The target folder. Copying a folder into itself would never end.
    private var filled: (device: dev_t, inode: ino_t)?

    init(_ limits: TreeLimits, _ pace: Pace) {
        self.limits = limits
        self.pace = pace
    }

    /// Measures a folder, or copies it into an empty folder.
    ///
    /// - Parameters:
    ///   - root: The provider's descriptor.
    ///   - target: The target folder; `nil` to measure only.
    ///   - name: The name in error messages.
    func go(_ root: Int32, to target: Int32?, name: String) throws(PromiseError) {
        guard cfiles_is_readable(root) == 1 else { throw Self.reading(name, EBADF) }
        guard cfiles_is_made_up(root) == 0 else {
            throw .unsafeContent(path: name, reason: "is not a folder of the user")
        }
        var status = stat()
        if let target, fstat(target, &status) == 0 { filled = (status.st_dev, status.st_ino) }
        try folder(root, to: target, path: name, depth: 0)
    }

    private func folder(_ folder: Int32, to target: Int32?, path: String, depth: Int) throws(PromiseError) {
        guard depth < limits.depth else {
            throw .tooMany(path: path, what: "nested folders", limit: limits.depth)
        }
        var status = stat()
        guard fstat(folder, &status) == 0 else { throw Self.reading(path, errno) }
        if let filled, filled == (status.st_dev, status.st_ino) {
            throw .unsafeContent(path: path, reason: "is its own destination")
        }
        for name in try names(in: folder, path: path) {
            try pace.checkCancelled()
            try entry(name, in: folder, to: target, path: path + "/" + Self.text(name), depth: depth)
        }
        if let target { FileCopy.setTime(of: target, as: status) }
    }

    /// Returns the names in a folder as bytes, because they are not necessarily text.
    private func names(in folder: Int32, path: String) throws(PromiseError) -> [[CChar]] {
        // Opened with its own position, because the other position is shared with the provider.
        let number = cfiles_open_beneath(folder, ".", O_RDONLY | O_DIRECTORY)
        guard number >= 0 else { throw Self.reading(path, -number) }
        guard let stream = fdopendir(number) else {
            close(number)
            throw Self.reading(path, errno)
        }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { start in
                    Array(UnsafeBufferPointer(start: start, count: strlen(start) + 1))
                }
            }
            guard name != [46, 0], name != [46, 46, 0] else { continue }
            guard size.entries < limits.entries else {
                throw .tooMany(path: path, what: "files", limit: limits.entries)
            }
            size.entries += 1
            names.append(name)
            errno = 0
        }
        guard errno == 0 else { throw Self.reading(path, errno) }
        return names
    }

    private func entry(
        _ name: [CChar], in folder: Int32, to target: Int32?, path: String, depth: Int
    ) throws(PromiseError) {
        var status = stat()
        // Checked before it is opened, because opening a device may have side effects.
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw Self.reading(path, errno) }
        switch status.st_mode & S_IFMT {
        case S_IFLNK: try link(name, in: folder, to: target, path: path, depth: depth)
        case S_IFREG:
            let source = try open(name, in: folder, path: path, flags: O_RDONLY)
            guard fstat(source.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw Self.notTaken(path)
            }
            try file(source.number, status, name, to: target, path: path)
        case S_IFDIR:
            let source = try open(name, in: folder, path: path, flags: O_RDONLY | O_DIRECTORY)
            guard let target else { return try self.folder(source.number, to: nil, path: path, depth: depth + 1) }
            guard mkdirat(target, name, 0o777) == 0 else { throw Self.writing(path, errno) }
            let number = openat(target, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard number >= 0 else { throw Self.writing(path, errno) }
            let copy = OwnedDescriptor(adopting: number)
            try self.folder(source.number, to: copy.number, path: path, depth: depth + 1)
        default: throw Self.notTaken(path)
        }
    }

    private func open(
        _ name: [CChar], in folder: Int32, path: String, flags: Int32
    ) throws(PromiseError) -> OwnedDescriptor {
        let number = cfiles_open_beneath(folder, name, flags)
        guard number != -EXDEV else { throw .unsafeContent(path: path, reason: "is on another device") }
        guard number >= 0 else { throw Self.reading(path, -number) }
        return OwnedDescriptor(adopting: number)
    }

    private func file(
        _ source: Int32, _ status: stat, _ name: [CChar], to target: Int32?, path: String
    ) throws(PromiseError) {
        let length = UInt64(max(0, status.st_size))
        let (bytes, overflows) = size.bytes.addingReportingOverflow(length)
        guard !overflows else { throw .tooLarge(length: .max, limit: .max) }
        size.bytes = bytes
        guard let target else {
            let sink = ByteSink(-1, path: path, control: pace.control)
            size.neededBytes += FileCopy(source: source, status: status, output: sink, pace: pace).neededBytes
            return
        }
        // The executable bit is preserved, but the set-ID bits are not.
        let mode: mode_t = status.st_mode & 0o100 == 0 ? 0o666 : 0o777
        let number = openat(target, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard number >= 0 else { throw Self.writing(path, errno) }
        let output = OwnedDescriptor(adopting: number)
        let copy = FileCopy(
            source: source, status: status, output: ByteSink(output.number, path: path, control: pace.control),
            pace: pace)
        if try !copy.clone() { try copy.copy() }
        copy.keepTime()
    }

    /// Copies a link that leads to something inside the folder; any other link is an error. A `..`
    /// after other names is not allowed: one of these names may be a link, and the parent of its
    /// target is unknown.
    private func link(
        _ name: [CChar], in folder: Int32, to target: Int32?, path: String, depth: Int
    ) throws(PromiseError) {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlinkat(folder, name, &buffer, buffer.count - 1)
        guard count > 0 else { throw Self.reading(path, errno) }
        let text = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let parts = text.split(separator: "/").filter { $0 != "." }
        let steps = parts.prefix { $0 == ".." }.count
        guard !text.hasPrefix("/"), steps <= depth, !parts.dropFirst(steps).contains("..") else {
            throw .unsafeContent(path: path, reason: "is a link to \(text.debugDescription), outside the folder")
        }
        guard let target else { return }
        guard symlinkat(buffer, target, name) == 0 else { throw Self.writing(path, errno) }
    }

    private static func text(_ name: [CChar]) -> String {
        String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func notTaken(_ path: String) -> PromiseError {
        .unsafeContent(path: path, reason: "is neither a file nor a folder")
    }

    private static func reading(_ path: String, _ code: Int32) -> PromiseError {
        .inputOutput(operation: "Reading", path: path, code: code)
    }

    private static func writing(_ path: String, _ code: Int32) -> PromiseError {
        .inputOutput(operation: "Writing a copy of", path: path, code: code)
    }
}
