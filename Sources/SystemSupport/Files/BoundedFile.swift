// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// Reads small files written by other programs in full, up to a size limit.
package enum BoundedFile {
    package enum Failure: Error, Hashable, CustomStringConvertible {
        case system(code: Int32)
        case tooLarge(limit: Int)
        case notRegular

        /// The reason, to be inserted into a sentence about the file.
        package var description: String {
            switch self {
            case .system(let code): "\(String(cString: strerror(code)))."
            case .tooLarge(let limit): "it has more than \(limit) bytes, which is the limit."
            case .notRegular: "it is not a regular file."
            }
        }
    }

    /// Returns the bytes of a regular file. The path may be a symbolic link, because users may keep
    /// their settings elsewhere. Other kinds of files, such as named pipes, are rejected without
    /// blocking.
    package static func regular(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        try read(below: AT_FDCWD, path, limit: limit, regularOnly: true, followingLinks: true)
    }

    /// Returns the bytes of a file in `/proc`.
    static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        try read(below: AT_FDCWD, path, limit: limit, regularOnly: false)
    }

    /// Returns the beginning of a file. The file may be a terminal or a named pipe; neither one
    /// blocks.
    package static func beginning(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard number >= 0 else { throw .system(code: errno) }
        return try fill(limit, from: OwnedDescriptor(adopting: number))
    }

    /// Returns the only word in a file; `nil` if there are none or several, or if the file is
    /// unreadable.
    package static func word(_ path: String) -> String? {
        guard let bytes = try? beginning(path, limit: 256) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return words.count == 1 ? String(words[0]) : nil
    }

    /// Returns the names in a folder, in no particular order, up to a limit.
    package static func names(in path: String, limit: Int) throws(Failure) -> [String] {
        guard let folder = opendir(path) else { throw .system(code: errno) }
        defer { closedir(folder) }
        guard let start = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
        var names: [String] = []
        while names.count < limit, let entry = readdir(folder) {
            let name = UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CChar.self)
            let text = String(cString: name)
            if text != ".", text != ".." { names.append(text) }
        }
        return names
    }

    /// Returns the bytes of a file in an open folder. With `regularOnly`, pipes, devices and other
    /// kinds are rejected after a non-blocking open. A symbolic link is rejected unless
    /// `followingLinks` is set.
    static func read(
        below folder: Int32, _ name: String, limit: Int, regularOnly: Bool, followingLinks: Bool = false
    ) throws(Failure) -> [UInt8] {
        let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let number = openat(folder, name, followingLinks ? flags : flags | O_NOFOLLOW)
        guard number >= 0 else { throw .system(code: errno) }
        let file = OwnedDescriptor(adopting: number)
        if regularOnly {
            var status = stat()
            guard fstat(number, &status) == 0 else { throw .system(code: errno) }
            guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        }
        return try contents(of: file, limit: limit, size: nil)
    }

    /// Returns the bytes of an open file, starting at its beginning.
    static func contents(of file: OwnedDescriptor, limit: Int) throws(Failure) -> [UInt8] {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw .system(code: errno) }
        guard status.st_size <= limit else { throw .tooLarge(limit: limit) }
        // Limits the buffer to the size of the file.
        return try contents(of: file, limit: limit, size: Int(status.st_size))
    }

    private static func contents(of file: OwnedDescriptor, limit: Int, size: Int?) throws(Failure) -> [UInt8] {
        let bytes = try fill(min(limit, size ?? limit) + 1, from: file)
        guard bytes.count <= min(limit, size ?? limit) else { throw .tooLarge(limit: limit) }
        return bytes
    }

    /// Reads up to a number of bytes.
    private static func fill(_ limit: Int, from file: OwnedDescriptor) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        switch bytes.withUnsafeMutableBytes({ WholeTransfer.read(file.number, into: $0) }) {
        case .success(let count): return Array(bytes[..<count])
        case .failure(let error): throw .system(code: error.code)
        }
    }
}
