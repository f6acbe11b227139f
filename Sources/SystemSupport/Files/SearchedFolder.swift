// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The state of a folder, used to distinguish a removed file from an unavailable folder. If a disk
/// is not mounted, a missing file proves nothing.
package enum SearchedFolder: Hashable, Sendable {
    /// The folder can be read and is on this file system.
    case open(fileSystem: UInt64)
    /// The folder does not exist. Its nearest existing parent is on this file system.
    case missing(above: UInt64)
    /// The folder cannot be read.
    case unreadable

    /// The file system of the folder; `nil` if unknown.
    package var fileSystem: UInt64? {
        if case .open(let fileSystem) = self { fileSystem } else { nil }
    }

    /// Returns `true` if a file that was in the folder and is no longer found has been removed.
    ///
    /// - Parameter known: The folder's file system at that time; `nil` if unknown.
    package func provesAbsence(on known: UInt64?) -> Bool {
        switch self {
        case .open(let present): known == nil || known == present
        // The folder itself was deleted, as package managers do with empty folders. If it had been
        // on an unmounted disk, its parent would now be on another file system.
        case .missing(let above): known == above
        case .unreadable: false
        }
    }

    /// Determines the state of a folder. May block on a file system that does not respond.
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

    /// Returns a file system ID that survives a restart, if the file system has one; otherwise its
    /// device number.
    private static func fileSystem(of path: String) -> UInt64? {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { return nil }
        if system.f_fsid != 0 { return UInt64(system.f_fsid) }
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_dev) : nil
    }
}
