// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// Reads files up to a size limit, without blocking on a pipe or a terminal.
enum ProbedFile {
    /// Returns the beginning of a file as text; `nil` if it cannot be read.
    static func text(_ path: String, limit: Int = 64 << 10) -> String? {
        (try? BoundedFile.beginning(path, limit: limit)).map { String(decoding: $0, as: UTF8.self) }
    }

    static func word(_ path: String) -> String? { BoundedFile.word(path) }

    /// Returns up to `count` bytes of an open file, from an offset or from its current position.
    static func bytes(of file: OwnedDescriptor, at offset: Int?, count: Int) -> [UInt8]? {
        try? WholeTransfer.bytes(of: file.number, upTo: count, at: offset)
    }

    /// Returns the names in a folder, up to a limit.
    static func names(_ path: String, limit: Int) -> [String] {
        (try? BoundedFile.names(in: path, limit: limit)) ?? []
    }

    /// Returns `true` if a file is a program that this process may run.
    static func isProgram(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }

    /// Returns the path without symbolic links.
    static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}

extension FolderFacts {
    /// Reads the facts about a folder, or about its nearest existing parent.
    init(_ path: String) {
        var status = stat()
        var nearest = path
        while stat(nearest, &status) != 0, nearest != "/", let slash = nearest.lastIndex(of: "/") {
            nearest = slash == nearest.startIndex ? "/" : String(nearest[..<slash])
        }
        self.init(
            path: path, exists: nearest == path, nearest: nearest, isFolder: status.st_mode & S_IFMT == S_IFDIR,
            isWritable: access(nearest, W_OK | X_OK) == 0, owner: status.st_uid, mode: status.st_mode & 0o7777,
            user: geteuid())
    }
}
