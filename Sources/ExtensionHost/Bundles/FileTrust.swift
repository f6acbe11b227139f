// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// Who may change a file that this user is to trust: the user and root, and nobody else.
struct FileTrust {
    private let user = geteuid()
    /// The group that each user has on many systems for themselves; found out when it is first met.
    private var privateGroup: gid_t??

    /// What is wrong with who may change a file, as it reads after its path; `nil` if nothing is.
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

    /// Whether a group is the one of its own that each user has on many systems, so that files made with umask 002 are
    /// writable by it: it is this process's, bears the user's name and has no other members.
    private mutating func isPrivate(_ group: gid_t) -> Bool {
        guard group == getegid() else { return false }
        // The question goes to name services, which may be slow.
        let known = privateGroup ?? (Self.isPrivate(group, of: user) ? group : nil)
        privateGroup = .some(known)
        return known == group
    }

    private static func isPrivate(_ group: gid_t, of user: uid_t) -> Bool {
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(user, &record, &buffer, buffer.count, &found) == 0, found != nil else { return false }
        let name = String(cString: record.pw_name)
        var entry = Glibc.group()
        var foundGroup: UnsafeMutablePointer<Glibc.group>?
        guard getgrgid_r(group, &entry, &buffer, buffer.count, &foundGroup) == 0, foundGroup != nil else {
            return false
        }
        guard String(cString: entry.gr_name) == name else { return false }
        var member = entry.gr_mem
        while let current = member?.pointee {
            if String(cString: current) != name { return false }
            member = member?.advanced(by: 1)
        }
        return true
    }
}
