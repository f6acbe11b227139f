// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a folder is at a moment, so that something that is not found in it can be told from a folder that is not there: a disk
/// that is not mounted holds nothing and proves nothing.
package enum SearchedFolder: Hashable, Sendable {
    /// It can be read, and is on this file system.
    case open(fileSystem: UInt64)
    /// It does not exist; what is nearest above it is on this file system.
    case missing(above: UInt64)
    /// It cannot be read.
    case unreadable

    /// The file system that the folder is on; `nil` if that is not known.
    package var fileSystem: UInt64? {
        if case .open(let fileSystem) = self { fileSystem } else { nil }
    }

    /// Whether something that was in the folder and is not found is gone.
    ///
    /// - Parameter known: The file system that the folder was on then; `nil` if nobody has looked.
    package func provesAbsence(on known: UInt64?) -> Bool {
        switch self {
        case .open(let present): known == nil || known == present
        // Deleted as a whole, as packagers do with an empty one. If it had been on a disk that is gone, what is above it
        // would be on another.
        case .missing(let above): known == above
        case .unreadable: false
        }
    }

    /// Looks at a folder. May wait for a file system that does not answer.
    package init(_ path: String) {
        if let folder = opendir(path) {
            closedir(folder)
            self = Self.fileSystem(of: path).map { .open(fileSystem: $0) } ?? .unreadable
            return
        }
        guard errno == ENOENT else {
            self = .unreadable
            return
        }
        var above = path[...]
        while let slash = above.lastIndex(of: "/"), slash != above.startIndex {
            above = above[..<slash]
            if let fileSystem = Self.fileSystem(of: String(above)) {
                self = .missing(above: fileSystem)
                return
            }
            guard errno == ENOENT else { break }
        }
        self = .unreadable
    }

    /// A number that a file system keeps over restarts, where it has one; else that of its device.
    private static func fileSystem(of path: String) -> UInt64? {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { return nil }
        if system.f_fsid != 0 { return UInt64(system.f_fsid) }
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_dev) : nil
    }
}
