// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reads files that may be missing, huge, special, or in the process of being replaced.
enum FileBytes {
    /// Returns at most `limit` bytes from the beginning of a regular file; empty if it cannot be
    /// read.
    static func read(_ path: String, limit: Int) -> [UInt8] {
        // `O_NONBLOCK`, because opening a named pipe would block until another process writes to
        // it.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return [] }
        let expected = min(max(Int(status.st_size), 0), limit)
        var bytes = [UInt8](repeating: 0, count: expected)
        var filled = 0
        while filled < expected {
            let count = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), expected - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            filled += count
        }
        return Array(bytes.prefix(filled))
    }

    /// Returns the kind of file at a path, without following links; `nil` if there is none or it
    /// cannot be accessed.
    static func kind(of path: String) -> UTFileKind? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .regular(isExecutable: status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH) != 0)
        case S_IFDIR:
            // The root of a file system has a device number different from its parent's, or is its
            // own parent.
            var parent = stat()
            guard lstat(path + "/..", &parent) == 0 else { return .directory }
            let isRoot = parent.st_dev != status.st_dev || parent.st_ino == status.st_ino
            return isRoot ? .volume : .directory
        case S_IFLNK: return .symbolicLink
        case S_IFIFO: return .namedPipe
        case S_IFSOCK: return .socket
        case S_IFCHR: return .characterDevice
        case S_IFBLK: return .blockDevice
        default: return nil
        }
    }
}
