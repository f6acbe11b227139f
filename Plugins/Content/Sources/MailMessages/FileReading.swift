// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The reason why a file or message was left out, in a few words without names or numbers.
package enum LeftOutReason: Error, Sendable, Equatable, CustomStringConvertible {
    case noPermission
    case notThere
    case notRegular
    case tooManyEntries
    case tooDeep
    case identifierTooLong
    case nameNotUTF8
    case trash
    case spam
    case excluded
    case notNamed
    case notMailbox
    case markedAsDeleted
    case problem(Message.Problem)
    case tooLarge
    case system(errno: Int32)

    init(errno code: Int32) {
        switch code {
        case EACCES, EPERM: self = .noPermission
        case ENOENT, ENOTDIR, ESTALE: self = .notThere
        default: self = .system(errno: code)
        }
    }

    /// `true` if the file or folder exists but cannot be read now, which does not prove that its
    /// messages were deleted. Their items are kept.
    package var keepsItems: Bool {
        switch self {
        case .noPermission, .system: true
        default: false
        }
    }

    package var description: String {
        switch self {
        case .noPermission: "no permission to read it"
        case .notThere: "not there"
        case .notRegular: "not a regular file"
        case .tooManyEntries: "more than \(MailFolders.Limits.entries) files and folders; the rest was left out"
        case .tooDeep: "more than \(MailFolders.Limits.depth) folders deep"
        case .identifierTooLong: "path and Message-ID too long"
        case .nameNotUTF8: "its name is not UTF-8"
        case .trash: "in the trash"
        case .spam: "spam"
        case .excluded: "excluded in the settings"
        case .notNamed: "not in the settings of Mail, and it holds passwords too; add it to them to have it indexed"
        case .notMailbox: "not a mailbox"
        case .markedAsDeleted: "marked as deleted"
        case .problem(.noMessage): "not a message"
        case .problem(let problem): "read in part: \(problem)"
        case .tooLarge: "read in part: larger than \(Message.Limits.size) bytes"
        case .system(let code): String(cString: strerror(code))
        }
    }
}

/// A file that is open for reading. Reads with `pread`, because another program may truncate a
/// mapped file.
package final class OpenFile {
    private let descriptor: Int32
    package let size: Int64
    /// The modification time in nanoseconds since 1970, only for comparison. It wraps around after
    /// the year 2262, because file systems can store later times.
    package let modified: Int64
    package let inode: UInt64

    /// Opens a regular file. Symbolic links are followed.
    package init(_ path: String) throws(LeftOutReason) {
        // Opened without blocking, because the path may be a named pipe.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw LeftOutReason(errno: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw LeftOutReason(errno: code)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notRegular
        }
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
        inode = UInt64(status.st_ino)
    }

    deinit { close(descriptor) }

    /// Returns at most `count` bytes, starting at an offset.
    package func read(at offset: Int64, count: Int) throws(LeftOutReason) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
            while filled < count {
                let result = pread(
                    descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(offset) + off_t(filled))
                if result < 0, errno == EINTR { continue }
                if result < 0 { code = errno }
                guard result > 0 else { return }
                filled += result
            }
        }
        guard code == 0 else { throw LeftOutReason(errno: code) }
        return bytes
    }

    /// Returns the whole file, up to the size limit for a message.
    package func readMessage() throws(LeftOutReason) -> [UInt8] {
        try read(at: 0, count: Int(min(size, Int64(Message.Limits.size))))
    }
}
