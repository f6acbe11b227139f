// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc

/// A POSIX access list (ACL) of a file or folder: who besides its owner and group may use it.
public struct AccessList: Sendable {
    /// What somebody may do.
    public struct Rights: OptionSet, Sendable {
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        public static let read = Rights(rawValue: 4)
        public static let write = Rights(rawValue: 2)
        public static let search = Rights(rawValue: 1)
    }
    /// What the owner may do.
    public var owner: Rights = [.read, .write, .search]
    /// What users may do, by their numbers.
    public var users: [UInt32: Rights] = [:]
    /// What the group of the file may do.
    public var group: Rights = []
    /// What groups may do, by their numbers.
    public var groups: [UInt32: Rights] = [:]
    /// What all named users and all groups may do at most; the mode shows it as the rights of the group.
    public var mask: Rights = [.read, .write, .search]

    /// A list that names nobody.
    public init() {}

    /// Sets the list.
    ///
    /// - Returns: Whether it was set; `false` where the file system has none.
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

    /// Whether the file system of tests' folders has access lists.
    public static let isSupported: Bool = {
        guard let folder = try? TemporaryFolder() else { return false }
        return AccessList().set(folder.path)
    }()
}
