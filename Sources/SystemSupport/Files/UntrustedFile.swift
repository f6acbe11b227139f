// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file or folder that a store rejects, because it is of the wrong kind or because others may
/// change it.
package struct UntrustedFile: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason for the rejection.
    package enum Problem: Hashable, Sendable {
        /// The file is a symbolic link.
        case link
        /// The file is not a regular file but, for example, “a named pipe”.
        case kind(String, wanted: String)
        /// The file belongs to another user.
        case owner(uid_t)
        /// Other users may write to the file.
        case writable
        /// The file has several hard links, so it may also be part of something else.
        case names(Int)
        /// The file was replaced while it was being opened.
        case replaced
        /// A system call failed.
        case system(operation: String, code: Int32)
    }
    package var path: String
    package var problem: Problem

    package init(path: String, problem: Problem) { (self.path, self.problem) = (path, problem) }

    /// The reason, to be inserted into a sentence about the file.
    package var reason: String {
        switch problem {
        case .system(_, let code): String(cString: strerror(code))
        default: withoutEnd(description)
        }
    }

    private func withoutEnd(_ text: String) -> String { text.hasSuffix(".") ? String(text.dropLast()) : text }

    /// The reason with advice, in one or two sentences that start with the path.
    package var description: String {
        switch problem {
        case .link: "\(path) is a symbolic link. A store must not contain links. Move it away and try again."
        case .kind(let kind, let wanted): "\(path) is \(kind), not \(wanted). Move it away and try again."
        case .owner(let user):
            "\(path) belongs to user \(user), but you are user \(geteuid()). Use a store of your own with --store."
        case .writable:
            "Other users may write to \(path). Check its contents, then run: chmod go-w '\(path)'"
        case .names(let count):
            """
            \(path) has \(count) names (hard links), so a change would affect the others. Copy it to a new \
            file and move the copy to its name.
            """
        case .replaced: "\(path) was replaced while it was opened. Try again."
        case .system(let operation, let code): "\(operation) \(path) failed: \(String(cString: strerror(code)))."
        }
    }
}

/// Determines which owners and modes are trusted for this user's files.
package enum FileTrust {
    /// Returns `true` if files that belong to a user are safe from everyone except this user and
    /// root. In a container, unmapped users appear as a single user, which may be the machine's
    /// root.
    static func isTrusted(_ owner: uid_t) -> Bool {
        owner == geteuid() || owner == 0 || owner == overflowUser && isContained
    }

    /// Returns `true` if users other than the owner may write. A group whose only member is this
    /// user is treated like the user, because many systems create such a group for each user. The
    /// group of root is treated like root.
    static func othersMayWrite(_ status: stat, at place: FileAccessList.Place) -> Bool {
        FileAccessList.othersMayWrite(status, at: place) { user in
            user == geteuid() || user == 0
        } isTrustedGroup: { group in
            group == 0 || isOwn(group: group)
        }
    }

    private static let overflowUser: uid_t = 65534
    private static let isContained: Bool = {
        guard let map = try? BoundedFile.read("/proc/self/uid_map", limit: 4096) else { return false }
        return String(decoding: map, as: UTF8.self).split(whereSeparator: \.isWhitespace) != ["0", "0", "4294967295"]
    }()

    /// Returns `true` if a group is this user's primary group, has the user's name, and has no
    /// other members.
    package static func isOwn(group: gid_t) -> Bool {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            var (user, foundUser) = (passwd(), UnsafeMutablePointer<passwd>?.none)
            guard let start = buffer.baseAddress,
                getpwuid_r(geteuid(), &user, start, buffer.count, &foundUser) == 0, foundUser != nil,
                user.pw_gid == group, let text = user.pw_name
            else { return false }
            let name = String(cString: text)
            var (entry, found) = (Glibc.group(), UnsafeMutablePointer<Glibc.group>?.none)
            guard getgrgid_r(group, &entry, start, buffer.count, &found) == 0, found != nil,
                let groupName = entry.gr_name, String(cString: groupName) == name
            else { return false }
            guard var member = entry.gr_mem else { return true }
            while let text = member.pointee {
                guard String(cString: text) == name else { return false }
                member += 1
            }
            return true
        }
    }

    /// Returns the kind of a file, to be inserted after “it is”.
    static func kind(_ mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFREG: "a file"
        case S_IFDIR: "a folder"
        case S_IFLNK: "a symbolic link"
        case S_IFIFO: "a named pipe"
        case S_IFSOCK: "a socket"
        case S_IFCHR, S_IFBLK: "a device"
        default: "a file of an unknown kind"
        }
    }
}
