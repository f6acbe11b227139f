// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import SystemSupport

/// What is at a place of the file system.
enum Found {
    case file(csystem_file)
    case folder(csystem_file)
    /// Neither, or a link to a folder: folders are watched where they are.
    case other
    /// A symbolic link that leads to nothing.
    case dangling
    case nothing
    /// It cannot be looked at.
    case unknown(code: Int32)

    /// Looks at a name in an open folder, or at the folder itself for an empty name. A symbolic link to a file stands for the
    /// file.
    init(_ name: String, in folder: Int32) {
        var described = csystem_file()
        var isLink = false
        var code = csystem_describe(folder, name, 0, &described)
        if code == 0, mode_t(described.mode) & S_IFMT == S_IFLNK {
            isLink = true
            code = csystem_describe(folder, name, 1, &described)
        }
        guard code == 0 else {
            // A loop of links leads to nothing.
            guard [ENOENT, ENOTDIR, ELOOP].contains(code) else {
                self = .unknown(code: code)
                return
            }
            self = isLink ? (code == ELOOP ? .nothing : .dangling) : .nothing
            return
        }
        switch mode_t(described.mode) & S_IFMT {
        case S_IFREG: self = .file(described)
        case S_IFDIR where !isLink: self = .folder(described)
        default: self = .other
        }
    }
}

/// A folder, wherever its path leads.
struct FolderNumber: Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ described: csystem_file) { (device, inode) = (described.device, described.inode) }

    /// The folder at a path; `nil` if there is none.
    init?(path: String) {
        var described = csystem_file()
        guard csystem_describe(AT_FDCWD, path, 1, &described) == 0 else { return nil }
        self.init(described)
    }
}

extension OwnedDescriptor {
    /// Opens a folder in a folder, if it is one and no link; `.` is the folder itself.
    ///
    /// - Throws: ``ErrnoCode``.
    static func folder(_ name: String, in parent: OwnedDescriptor) throws(ErrnoCode) -> OwnedDescriptor {
        let number = openat(parent.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw ErrnoCode(errno) }
        return OwnedDescriptor(adopting: number)
    }

    /// Opens a place without what is there (`O_PATH`), and follows links.
    ///
    /// - Throws: ``ErrnoCode``.
    static func place(_ path: String, in folder: Int32 = AT_FDCWD) throws(ErrnoCode) -> OwnedDescriptor {
        let number = openat(folder, path, Int32(csystem_o_path) | O_CLOEXEC)
        guard number >= 0 else { throw ErrnoCode(errno) }
        return OwnedDescriptor(adopting: number)
    }

    /// The descriptor of what is at a path, or else of what is nearest above it.
    ///
    /// - Throws: ``ErrnoCode`` if that cannot be said.
    static func nearest(_ path: String, in folder: Int32 = AT_FDCWD) throws(ErrnoCode) -> OwnedDescriptor {
        var names = pathNames(path)
        let start = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
        while true {
            let above = start + names.joined(separator: "/")
            do throws(ErrnoCode) {
                return try .place(above.isEmpty ? "." : above, in: folder)
            } catch {
                guard [ENOENT, ENOTDIR].contains(error.code), names.popLast() != nil else { throw error }
            }
        }
    }
}

extension ErrnoCode {
    /// Whether the system had no room at the moment, which says nothing of the file.
    var isWantOfRoom: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS, EINTR, EAGAIN].contains(code) }
    /// Whether there is nothing at the place.
    var isAbsence: Bool { [ENOENT, ENOTDIR, ELOOP].contains(code) }
}
