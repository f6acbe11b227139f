// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// The POSIX access control list (ACL) of a file or folder: the additional users and groups that
/// may access it.
///
/// If a file has an access list, the group bits of its mode are the list's mask: the maximum rights
/// of named users and all groups. So if the mode grants no group rights, the list need not be
/// checked. Default lists of folders need not be checked either: a file created with mode 0600 or
/// 0700 has an empty mask.
package enum FileAccessList {
    /// The file whose access list is read.
    package enum Place: Sendable {
        /// The file at a path itself. A symbolic link has no list.
        case path(String)
        /// The file that a path leads to, following symbolic links.
        case target(String)
        /// An open file. If it was opened with `O_PATH`, its list is read through `/proc`.
        case descriptor(Int32)
    }

    /// Returns `true` if any user other than the owner may write, according to the mode or the
    /// access list. A list that cannot be read is treated as permission.
    ///
    /// - Parameters:
    ///   - status: The file's mode and group.
    ///   - place: The file.
    ///   - isTrustedUser: Returns `true` if a user in the list is allowed to write.
    ///   - isTrustedGroup: Returns `true` if the members of a group are allowed to write.
    package static func othersMayWrite(
        _ status: stat, at place: Place, isTrustedUser: (uid_t) -> Bool, isTrustedGroup: (gid_t) -> Bool
    ) -> Bool {
        if status.st_mode & S_IWOTH != 0 { return true }
        guard status.st_mode & S_IWGRP != 0 else { return false }
        guard let list = bytes(place) else { return true }
        guard !list.isEmpty else { return !isTrustedGroup(status.st_gid) }
        guard list.count % entryBytes == headerBytes, number(list, 0, 4) == version else { return true }
        for start in stride(from: headerBytes, to: list.count, by: entryBytes) {
            guard number(list, start + 2, 2) & write != 0 else { continue }
            switch Tag(rawValue: number(list, start, 2)) {
            case .owner, .mask: continue
            case .user: if isTrustedUser(number(list, start + 4, 4)) { continue }
            case .ownGroup: if isTrustedGroup(status.st_gid) { continue }
            case .group: if isTrustedGroup(number(list, start + 4, 4)) { continue }
            case .others, nil: break
            }
            return true
        }
        return false
    }

    // Defined in the kernel's include/uapi/linux/posix_acl_xattr.h.
    private static let version: UInt32 = 2
    private static let headerBytes = 4
    private static let entryBytes = 8
    private static let write: UInt32 = 2
    private enum Tag: UInt32 {
        case owner = 0x01
        case user = 0x02
        case ownGroup = 0x04
        case group = 0x08
        case mask = 0x10
        case others = 0x20
    }

    private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> UInt32 {
        (0..<count).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
    }

    /// The kernel's maximum size for an attribute, in bytes.
    private static let maximumBytes = 64 << 10

    /// Returns the list in the kernel's format; empty if there is none, `nil` if it cannot be read.
    private static func bytes(_ place: Place) -> [UInt8]? {
        let name = "system.posix_acl_access"
        var list = [UInt8](repeating: 0, count: maximumBytes)
        var count = list.withUnsafeMutableBytes { buffer in
            switch place {
            case .path(let path): lgetxattr(path, name, buffer.baseAddress, buffer.count)
            case .target(let path): getxattr(path, name, buffer.baseAddress, buffer.count)
            case .descriptor(let number): fgetxattr(number, name, buffer.baseAddress, buffer.count)
            }
        }
        if count < 0, errno == EBADF, case .descriptor(let number) = place {
            count = list.withUnsafeMutableBytes { buffer in
                getxattr("/proc/self/fd/\(number)", name, buffer.baseAddress, buffer.count)
            }
        }
        // ENODATA: the file has no list. ENOTSUP: the file system does not support lists.
        if count < 0 { return errno == ENODATA || errno == ENOTSUP ? [] : nil }
        return Array(list[..<count])
    }
}
