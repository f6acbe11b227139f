// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// The state of a regular file that tells whether it was changed, read without opening it. Times are nanoseconds since 1970.
package struct FileState: Hashable, Sendable {
    /// The number of the file in its file system.
    package var inode: UInt64
    /// When it was created; 0 where the file system does not say.
    package var born: Int64
    /// Bytes.
    package var size: Int64
    /// When its content was changed.
    package var modified: Int64
    /// When its content, name or rights were changed.
    package var changed: Int64

    /// Whether both are states of one file, perhaps under another name. Numbers of deleted files are used again, so the time of
    /// creation decides, and without it the content must be unchanged.
    func isOfSameFile(as other: FileState) -> Bool {
        guard inode == other.inode, born == other.born else { return false }
        return born != 0 || (size == other.size && modified == other.modified)
    }
}

/// What is at a place of the file system.
enum Found: Hashable {
    case file(FileState)
    /// A folder, and whether it is the root of a mounted file system; `nil` if the kernel does not say.
    case folder(isMount: Bool?, device: UInt64)
    /// Neither, or a link to a folder: folders are watched where they are.
    case other
    case nothing
    /// It cannot be looked at.
    case unknown(code: Int32)

    /// Looks at a name in an open folder. A symbolic link to a file stands for the file.
    init(_ name: String, in folder: Int32) {
        self.init(name, in: folder, follows: false)
    }

    /// Looks at a path, and follows links. Not from a place where others may make links.
    init(path: String) {
        self.init(path, in: AT_FDCWD, follows: true)
    }

    private init(_ name: String, in folder: Int32, follows: Bool) {
        var described = csystem_file()
        var isLink = false
        var code = csystem_describe(folder, name, follows ? 1 : 0, &described)
        if code == 0, mode_t(described.mode) & Glibc.S_IFMT == Glibc.S_IFLNK {
            isLink = true
            code = csystem_describe(folder, name, 1, &described)
        }
        guard code == 0 else {
            // A loop of links leads to nothing.
            self = [ENOENT, ENOTDIR, ELOOP].contains(code) ? .nothing : .unknown(code: code)
            return
        }
        switch mode_t(described.mode) & Glibc.S_IFMT {
        case Glibc.S_IFREG:
            self = .file(
                FileState(
                    inode: described.inode, born: described.born, size: described.size, modified: described.modified,
                    changed: described.changed))
        case Glibc.S_IFDIR where !isLink:
            self = .folder(
                isMount: described.is_mount < 0 ? nil : described.is_mount == 1, device: described.device)
        default: self = .other
        }
    }
}
