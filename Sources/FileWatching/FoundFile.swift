// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import SystemSupport

/// The kind of file at a path.
enum Found {
    case file(csystem_file)
    case folder(csystem_file)
    /// Neither a regular file nor a folder, or a link to a folder. Folders are watched only at
    /// their own paths.
    case other
    /// A symbolic link without a target.
    case dangling
    case nothing
    /// The path cannot be read.
    case unknown(code: Int32)

    /// Reads the metadata of a name in an open folder, or of the folder itself if the name is
    /// empty. A symbolic link to a file is treated as the file.
    init(_ name: String, in folder: Int32) {
        var described = csystem_file()
        var isLink = false
        var code = csystem_describe(folder, name, 0, &described)
        if code == 0, mode_t(described.mode) & S_IFMT == S_IFLNK {
            isLink = true
            code = csystem_describe(folder, name, 1, &described)
        }
        guard code == 0 else {
            // A loop of links is treated like a missing file.
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

/// The device and inode number of a folder, independent of its path.
struct FolderNumber: Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ described: csystem_file) { (device, inode) = (described.device, described.inode) }

    /// Reads the numbers of the folder at a path; `nil` if there is no folder.
    init?(path: String) {
        var described = csystem_file()
        guard csystem_describe(AT_FDCWD, path, 1, &described) == 0 else { return nil }
        self.init(described)
    }
}

extension OwnedDescriptor {
    /// Opens a subfolder; `.` is the folder itself. Fails for symbolic links and for other files.
    ///
    /// - Throws: ``ErrnoCode``.
    static func folder(_ name: String, in parent: OwnedDescriptor) throws(ErrnoCode) -> OwnedDescriptor {
        let number = openat(parent.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw ErrnoCode(errno) }
        return OwnedDescriptor(adopting: number)
    }

    /// Opens a path with `O_PATH`, which does not open the file itself. Follows symbolic links.
    ///
    /// - Throws: ``ErrnoCode``.
    static func place(_ path: String, in folder: Int32 = AT_FDCWD) throws(ErrnoCode) -> OwnedDescriptor {
        let number = openat(folder, path, Int32(csystem_o_path) | O_CLOEXEC)
        guard number >= 0 else { throw ErrnoCode(errno) }
        return OwnedDescriptor(adopting: number)
    }

    /// Opens a path or, if it does not exist, its nearest existing ancestor.
    ///
    /// - Throws: ``ErrnoCode`` for errors other than absence.
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
    /// `true` if the system lacked resources, which implies nothing about the file.
    var isWantOfRoom: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS, EINTR, EAGAIN].contains(code) }
    /// `true` if nothing exists at the path.
    var isAbsence: Bool { [ENOENT, ENOTDIR, ELOOP].contains(code) }
}
