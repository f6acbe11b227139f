// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// Checks that only the user and root can change a file.
struct BundleTrust {
    private let user = geteuid()
    /// The process's group, if the user is its only member. Determined on first use, because name
    /// services may be slow.
    private lazy var ownGroup: gid_t? = FileTrust.isOwn(group: getegid()) ? getegid() : nil

    /// Returns a phrase that says who else may change a file, to follow its path; `nil` if nobody
    /// else may.
    ///
    /// - Parameters:
    ///   - status: The file's owner and mode.
    ///   - place: The file's location, for its access control list.
    ///   - isSticky: `true` to accept a sticky directory that others may write to. They can only
    ///     add their own files to it, and replace no others.
    mutating func flaw(_ status: stat, at place: FileAccessList.Place, orSticky isSticky: Bool = false) -> String? {
        guard status.st_uid == user || status.st_uid == 0 else { return "belongs to user \(status.st_uid)" }
        if isSticky, status.st_mode & S_ISVTX != 0 { return nil }
        let byMode =
            status.st_mode & S_IWOTH != 0
            || status.st_mode & S_IWGRP != 0 && status.st_gid != 0 && !isPrivate(status.st_gid)
        if byMode { return "is writable by others (mode \(Self.octal(status.st_mode)))" }
        let user = user
        let byList = FileAccessList.othersMayWrite(status, at: place) {
            $0 == user || $0 == 0
        } isTrustedGroup: {
            $0 == 0 || isPrivate($0)
        }
        return byList ? "is writable by others through its access list (see getfacl)" : nil
    }

    static func octal(_ mode: mode_t) -> String { String(mode & 0o7777, radix: 8) }

    /// Returns `true` if the group is this process's group and private to the user. Files created
    /// with umask 002 are writable by that group.
    private mutating func isPrivate(_ group: gid_t) -> Bool { group == getegid() && ownGroup == group }
}
