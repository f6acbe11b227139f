// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// Reads small files that others wrote, whole and no further than a limit.
enum BoundedFile {
    enum Failure: Error, Hashable {
        case system(code: Int32)
        case tooLarge(limit: Int)
        case notRegular
    }

    /// The bytes of a file of `/proc`.
    static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        try read(below: AT_FDCWD, path, limit: limit, regularOnly: false)
    }

    /// The bytes of a file in a folder that is open; a symbolic link, a pipe, a device and the like are refused
    /// without being opened for more than a look.
    static func read(below folder: Int32, _ name: String, limit: Int, regularOnly: Bool) throws(Failure) -> [UInt8] {
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let number = openat(folder, name, flags)
        guard number >= 0 else { throw .system(code: errno) }
        let file = OwnedDescriptor(adopting: number)
        if regularOnly {
            var status = stat()
            guard fstat(number, &status) == 0 else { throw .system(code: errno) }
            guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes {
                Glibc.read(file.number, $0.baseAddress.map { $0 + count }, $0.count - count)
            }
            if result < 0 && errno == EINTR { continue }
            guard result >= 0 else { throw .system(code: errno) }
            if result == 0 { return Array(bytes[..<count]) }
            count += result
        }
        throw .tooLarge(limit: limit)
    }
}
