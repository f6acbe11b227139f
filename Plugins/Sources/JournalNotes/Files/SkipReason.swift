// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why something that looked like a note, or a folder that may hold notes, was not taken.
package enum SkipReason: Error, Sendable, Equatable {
    /// No permission to open it.
    case unreadable
    /// The first byte, counted from 0, at which the file is not UTF-8 text; a zero byte is none either.
    case notUTF8Text(offset: Int)
    /// Both in bytes.
    case tooLarge(size: Int64, limit: Int64)
    /// It is not there, though it may have been a moment ago.
    case vanished
    /// A symbolic link whose target is not there.
    case danglingLink
    case notRegularFile(FileType)
    case symbolicLinkLoop
    /// The name has bytes that are not UTF-8, so no identifier can carry it.
    case nameNotUTF8
    /// A folder further down than the walk goes.
    case tooDeep(limit: Int)
    /// The walk had met that many directory entries; it went no further into this directory.
    case tooManyEntries(limit: Int)
    /// A pattern leaves it out.
    case leftOut
    /// A symbolic link to a folder in none of the configured ones; its path without links.
    case linkToFolder(String)
    /// Anything else the system answered.
    case system(errno: Int32)

    /// What the system's error number means for a note.
    init(errno code: Int32) {
        switch code {
        case EACCES, EPERM: self = .unreadable
        case ENOENT, ENOTDIR, ESTALE: self = .vanished
        case ELOOP: self = .symbolicLinkLoop
        default: self = .system(errno: code)
        }
    }
}

extension SkipReason: CustomStringConvertible {
    /// One line without the path.
    package var description: String {
        switch self {
        case .unreadable: "no permission to read it"
        case .notUTF8Text(let offset): "not UTF-8 text (byte \(offset)); convert it, for example with iconv"
        case .tooLarge(let size, let limit): "too large, \(size) bytes where \(limit) are the limit"
        case .vanished: "vanished"
        case .danglingLink: "link to nothing"
        case .notRegularFile(let type): "not a regular file but \(type)"
        case .symbolicLinkLoop: "symbolic link loop"
        case .nameNotUTF8: "its name is not UTF-8"
        case .tooDeep(let limit): "more than \(limit) folders deep"
        case .tooManyEntries(let limit): "more than \(limit) directory entries, the rest was not walked"
        case .leftOut: "left out by a pattern"
        case .linkToFolder(let target):
            "a link to the folder \(target.onOneLine); write that path into the settings to index it"
        case .system(let code): String(cString: strerror(code))
        }
    }
}

/// Something that was not taken, and why.
package struct Skip: Error, Sendable, Equatable, CustomStringConvertible {
    /// Absolute path; bytes that are not UTF-8 are replaced.
    package var path: String
    package var reason: SkipReason

    package init(path: String, reason: SkipReason) {
        self.path = path
        self.reason = reason
    }

    /// One line, whatever the path contains.
    package var description: String { "skipped \(path.onOneLine): \(reason)" }
}

/// What a directory entry is.
package enum FileType: Sendable, Equatable, CustomStringConvertible {
    case regular, directory, symbolicLink, fifo, socket, characterDevice, blockDevice, unknown

    /// - Parameter mode: `st_mode`
    init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .directory
        case S_IFLNK: self = .symbolicLink
        case S_IFIFO: self = .fifo
        case S_IFSOCK: self = .socket
        case S_IFCHR: self = .characterDevice
        case S_IFBLK: self = .blockDevice
        default: self = .unknown
        }
    }

    /// - Parameter entryType: `d_type`; `unknown` where the file system does not tell
    init(entryType: UInt8) {
        switch Int(entryType) {
        case Int(DT_REG): self = .regular
        case Int(DT_DIR): self = .directory
        case Int(DT_LNK): self = .symbolicLink
        case Int(DT_FIFO): self = .fifo
        case Int(DT_SOCK): self = .socket
        case Int(DT_CHR): self = .characterDevice
        case Int(DT_BLK): self = .blockDevice
        default: self = .unknown
        }
    }

    package var description: String {
        switch self {
        case .regular: "a regular file"
        case .directory: "a directory"
        case .symbolicLink: "a symbolic link"
        case .fifo: "a named pipe"
        case .socket: "a socket"
        case .characterDevice: "a character device"
        case .blockDevice: "a block device"
        case .unknown: "something unknown"
        }
    }
}
