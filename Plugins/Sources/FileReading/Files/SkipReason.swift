// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The reason why a file, or a folder that may contain files, was skipped.
package enum SkipReason: Error, Sendable, Equatable {
    /// The user has no permission to open the file.
    case unreadable
    /// The file is not UTF-8 text. `offset` is the position of the first invalid byte, from 0; a
    /// zero byte is invalid too.
    case notUTF8Text(offset: Int)
    /// The file is too large. Both values are in bytes.
    case tooLarge(size: Int64, limit: Int64)
    /// The file does not exist, although it may have existed a moment ago.
    case vanished
    /// The target of a symbolic link does not exist.
    case danglingLink
    case notRegularFile(FileType)
    case symbolicLinkLoop
    /// The name is not UTF-8, so it cannot be part of an identifier.
    case nameNotUTF8
    /// The folder is nested more deeply than the walk's limit.
    case tooDeep(limit: Int)
    /// The walk reached its limit for directory entries and left out the rest of this directory.
    case tooManyEntries(limit: Int)
    /// A pattern excludes the file.
    case leftOut
    /// A symbolic link to a folder outside the configured ones. The value is the folder's path
    /// without links.
    case linkToFolder(String)
    /// The content does not have the format that the name implies. The value is the reason in a few
    /// words, without the file's names and numbers.
    case unusable(String)
    /// Any other system error number.
    case system(errno: Int32)

    /// Creates the reason for an error number.
    init(errno code: Int32) {
        switch code {
        case EACCES, EPERM: self = .unreadable
        case ENOENT, ENOTDIR, ESTALE: self = .vanished
        case ELOOP: self = .symbolicLinkLoop
        default: self = .system(errno: code)
        }
    }
}

extension SkipReason {
    /// `true` if the file or folder exists but cannot be read now, which does not prove that its
    /// content changed. Its items are kept.
    package var keepsItems: Bool {
        switch self {
        case .unreadable, .system: true
        default: false
        }
    }

    /// The kind of the reason as a short phrase without numbers and names.
    package var kind: String {
        switch self {
        case .notUTF8Text: "not text"
        case .tooLarge(_, let limit): "larger than \(limit) bytes"
        case .notRegularFile: "not a regular file"
        case .linkToFolder: "a link to a folder that is not in the settings"
        case .unreadable, .vanished, .danglingLink, .symbolicLinkLoop, .nameNotUTF8, .tooDeep, .tooManyEntries,
            .leftOut, .unusable, .system:
            description
        }
    }
}

extension SkipReason: CustomStringConvertible {
    /// The reason on one line, without the path.
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
        case .unusable(let reason): reason
        case .system(let code): String(cString: strerror(code))
        }
    }
}

/// A skipped file or folder, with the reason.
package struct Skip: Error, Sendable, Equatable, CustomStringConvertible {
    /// The absolute path. Bytes that are not UTF-8 are replaced.
    package var path: String
    package var reason: SkipReason

    package init(path: String, reason: SkipReason) {
        self.path = path
        self.reason = reason
    }

    /// The path and the reason on one line, even if the path contains line breaks.
    package var description: String { "skipped \(path.onOneLine): \(reason)" }
}

/// The type of a directory entry.
package enum FileType: Sendable, Equatable, CustomStringConvertible {
    case regular, directory, symbolicLink, fifo, socket, characterDevice, blockDevice, unknown

    /// - Parameter mode: The value of `st_mode`.
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

    /// - Parameter entryType: The value of `d_type`; `DT_UNKNOWN` if the file system does not
    ///   report the type.
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
