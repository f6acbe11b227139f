// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc

/// A POSIX access control list (ACL) of a file or folder: the rights of users and groups other than
/// its owner and group.
public struct AccessList: Sendable {
    /// A set of access rights.
    public struct Rights: OptionSet, Sendable {
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        public static let read = Rights(rawValue: 4)
        public static let write = Rights(rawValue: 2)
        public static let search = Rights(rawValue: 1)
    }
    /// The rights of the owner.
    public var owner: Rights = [.read, .write, .search]
    /// The rights of named users, by user ID.
    public var users: [UInt32: Rights] = [:]
    /// The rights of the file's group.
    public var group: Rights = []
    /// The rights of named groups, by group ID.
    public var groups: [UInt32: Rights] = [:]
    /// The upper limit for the rights of all named users and all groups. The file mode shows it as
    /// the rights of the group.
    public var mask: Rights = [.read, .write, .search]

    /// Creates a list without named users or groups.
    public init() {}

    /// Sets the list on a file.
    ///
    /// - Returns: `true` if the list was set; `false` if the file system does not support lists.
    public func set(_ path: String) -> Bool {
        var bytes: [UInt8] = [2, 0, 0, 0]
        func append(_ tag: UInt16, _ rights: Rights, _ number: UInt32 = .max) {
            for value in [tag, rights.rawValue] { bytes += [UInt8(value & 0xFF), UInt8(value >> 8)] }
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        append(0x01, owner)
        for (number, rights) in users.sorted(by: { $0.key < $1.key }) { append(0x02, rights, number) }
        append(0x04, group)
        for (number, rights) in groups.sorted(by: { $0.key < $1.key }) { append(0x08, rights, number) }
        append(0x10, mask)
        append(0x20, [])
        return ctestsupport_set_access_list(path, bytes, bytes.count) == 0
    }

    /// `true` if the file system of the test folders supports access control lists.
    public static let isSupported: Bool = {
        guard let folder = try? TemporaryFolder() else { return false }
        return AccessList().set(folder.path)
    }()
}
