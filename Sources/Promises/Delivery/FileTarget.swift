// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// The target of a path, which determines how it is written.
enum FileTarget {
    /// A regular file, or a free name in an existing folder. The path does not end with a link.
    case regular(path: String, existing: stat?)
    /// A named pipe, a device or a socket. It is never replaced but written directly.
    case stream(path: String, isSocket: Bool)

    private static let maximumLinks = 40

    /// Follows a path like `cp`: a link leads to its target, even if the target does not exist yet.
    ///
    /// - Throws: ``PromiseError`` for a folder, a missing folder, or a file that is not writable.
    static func find(_ path: String) throws(PromiseError) -> FileTarget {
        guard !path.utf8.contains(0) else { throw failed(path.debugDescription, EINVAL) }
        guard !path.isEmpty else { throw failed(path.debugDescription, ENOENT) }
        var status = stat()
        if stat(path, &status) == 0 {
            switch status.st_mode & S_IFMT {
            case S_IFDIR: throw failed(path, EISDIR)
            case S_IFREG:
                guard access(path, W_OK) == 0 else { throw failed(path, errno) }
                guard let resolved = realpath(path, nil) else { throw failed(path, errno) }
                defer { free(resolved) }
                return .regular(path: String(cString: resolved), existing: status)
            case let kind: return .stream(path: path, isSocket: kind == S_IFSOCK)
            }
        }
        guard errno == ENOENT else { throw failed(path, errno) }
        let free = try endOfLinks(path)
        let folder = folder(of: free)
        guard stat(folder, &status) == 0 else {
            throw errno == ENOENT ? .missingFolder(path: folder) : failed(folder, errno)
        }
        guard free.utf8.last != UInt8(ascii: "/") else { throw failed(free, EISDIR) }
        return .regular(path: free, existing: nil)
    }

    /// Returns the free name at the end of a chain of dangling links.
    private static func endOfLinks(_ path: String) throws(PromiseError) -> String {
        var path = path
        for _ in 0..<maximumLinks {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return path }
            var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(path, &buffer, buffer.count)
            guard count > 0 else { throw failed(path, errno) }
            let target = String(decoding: buffer[..<count], as: UTF8.self)
            path = target.hasPrefix("/") ? target : folder(of: path) + target
        }
        throw failed(path, ELOOP)
    }

    /// Returns the folder of a path, with a trailing slash.
    static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    }

    /// Checks that a folder exists, and returns it with a trailing slash.
    static func folder(existing path: String) throws(PromiseError) -> String {
        guard !path.utf8.contains(0), !path.isEmpty else { throw failed(path.debugDescription, ENOENT) }
        let folder = path.hasSuffix("/") ? path : path + "/"
        var status = stat()
        guard stat(folder, &status) == 0 else {
            throw errno == ENOENT ? .missingFolder(path: folder) : failed(folder, errno)
        }
        return folder
    }

    private static func failed(_ path: String, _ code: Int32) -> PromiseError {
        .inputOutput(operation: "Writing to", path: path, code: code)
    }

    // MARK: Streams

    /// Opens a stream. Waits for a process that is about to read from the named pipe or to accept
    /// connections on the socket.
    static func open(stream path: String, isSocket: Bool, _ pace: Pace) throws(PromiseError) -> OwnedDescriptor {
        let end = pace.now() + pace.limits.opening
        while true {
            let number =
                isSocket ? connected(to: path) : Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
            if number >= 0 {
                let descriptor = OwnedDescriptor(adopting: number)
                var status = stat()
                // If a regular file has replaced the stream, it must not be overwritten.
                guard fstat(number, &status) == 0, status.st_mode & S_IFMT != S_IFREG else {
                    throw failed(path, EAGAIN)
                }
                return descriptor
            }
            let code = errno
            guard code == ENXIO || code == EINTR || code == EAGAIN else { throw failed(path, code) }
            guard pace.now() < end else { throw .noReceiver(path: path, after: pace.limits.opening) }
            var waiting = pollfd(fd: pace.control?.wakeUpNumber ?? -1, events: Int16(POLLIN), revents: 0)
            poll(&waiting, 1, retryInterval)
            try pace.checkCancelled()
        }
    }

    /// The interval between attempts to open a pipe without a reader, in milliseconds.
    private static let retryInterval: Int32 = 20

    private static func connected(to path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            errno = ENAMETOOLONG
            return -1
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0 else { return -1 }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result != 0 else { return number }
        let code = errno
        close(number)
        errno = code
        return -1
    }
}
