// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// Who may change a file that this user is to trust: the user and root, and nobody else.
struct BundleTrust {
    private let user = geteuid()
    /// The process's group if it has only this user; found out when it is first met, since name services may be slow.
    private lazy var ownGroup: gid_t? = FileTrust.isOwn(group: getegid()) ? getegid() : nil

    /// Who else may change a file, in words that follow its path; `nil` if nobody may.
    ///
    /// - Parameters:
    ///   - status: The file's owner and mode.
    ///   - place: The file, for its access list.
    ///   - isSticky: Whether a sticky directory may be written by others: they can put things there, which
    ///     then belong to them, and replace none of anybody else's.
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
        return byList ? "is writable by others, whom its access list names (getfacl shows it)" : nil
    }

    static func octal(_ mode: mode_t) -> String { String(mode & 0o7777, radix: 8) }

    /// Whether a group is this process's and the user's own, so that files made with umask 002 are writable by it.
    private mutating func isPrivate(_ group: gid_t) -> Bool { group == getegid() && ownGroup == group }
}
