// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import SystemSupport

/// Where a comparison of a tree stands: the folders on the way from the root, each with the names that are still to come. A
/// walk holds a descriptor for each of these folders, 65 at most.
struct ComparisonWalk {
    /// A folder on the way.
    struct Level {
        var descriptor: OwnedDescriptor
        var folder: Int64
        /// Names below the root.
        var depth: Int
        var device: UInt64
        /// Folders in it that are still to come.
        var subfolders: [String]
    }
    var levels: [Level] = []
    /// Entries met.
    var entries = 0
}

extension OwnedDescriptor {
    /// Opens a folder in a folder, if it is one and no link.
    ///
    /// - Throws: ``ErrnoCode``.
    static func folder(_ name: String, in parent: OwnedDescriptor) throws(ErrnoCode) -> OwnedDescriptor {
        let number = openat(parent.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw ErrnoCode(errno) }
        return OwnedDescriptor(adopting: number)
    }

    /// Opens the root of a tree, which may be a link to a folder.
    ///
    /// - Throws: ``ErrnoCode``.
    static func root(_ path: String) throws(ErrnoCode) -> OwnedDescriptor {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw ErrnoCode(errno) }
        return OwnedDescriptor(adopting: number)
    }

    /// The device of the open file, and whether it is the root of a mounted file system. `isMount` is `nil` if the kernel does not
    /// say.
    var place: (number: FolderNumber, device: UInt64, isMount: Bool?) {
        var described = csystem_file()
        guard csystem_describe(number, "", 0, &described) == 0 else {
            return (FolderNumber(device: 0, inode: 0), 0, nil)
        }
        let number = FolderNumber(device: described.device, inode: described.inode)
        return (number, described.device, described.is_mount < 0 ? nil : described.is_mount == 1)
    }
}

/// A folder, wherever its path leads.
struct FolderNumber: Hashable {
    let device: UInt64
    let inode: UInt64

    init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }

    /// The folder at a path; `nil` if there is none.
    init?(path: String) {
        var described = csystem_file()
        guard csystem_describe(AT_FDCWD, path, 1, &described) == 0 else { return nil }
        self.init(device: described.device, inode: described.inode)
    }
}
