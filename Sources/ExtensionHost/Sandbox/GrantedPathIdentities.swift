// SPDX-License-Identifier: Apache-2.0
import CSandbox

/// The identities of the files and folders that a policy was made from. A worker's Landlock rules
/// apply to inodes, not to names. The worker cannot access a file that is later created at, or
/// renamed to, such a path until the worker is restarted.
package struct GrantedPathIdentities: Hashable, Sendable {
    private struct Place: Hashable {
        var path: String
        /// `true` if the file's content is part of the identity, because the host read it.
        var isRead: Bool
        /// `true` if the file system is local, so that it responds at once.
        var isLocal: Bool
        var found: Found?
    }
    /// The identity of a file. Some file systems reuse inode numbers at once, so the number alone
    /// is not enough.
    private struct Found: Hashable {
        var device: UInt64
        var inode: UInt64
        /// The creation time, in nanoseconds since 1970; 0 if the file system does not report it.
        var made: Int64
        /// The size in bytes, and the time of the last content change; 0 if the content is not part
        /// of the identity.
        var size: UInt64 = 0
        var modified: Int64 = 0
    }
    private var places: [Place] = []
    private var known: Set<[UInt8]> = []

    /// The maximum number of paths to check. Each check takes about a microsecond per request.
    static let maximum = 256

    /// Records the current identity of a path.
    ///
    /// - Parameter isRead: `true` if the file's content was used.
    mutating func note(_ path: String, isRead: Bool = false) {
        guard places.count < Self.maximum, known.insert(Array(path.utf8)).inserted else { return }
        places.append(
            Place(
                path: path, isRead: isRead, isLocal: csandbox_is_local(path) != 0, found: Self.look(path, isRead)))
    }

    /// Returns a copy without the covered paths, except paths whose content was used.
    func leavingOut(_ isCovered: (String) -> Bool) -> GrantedPathIdentities {
        var rest = self
        rest.places.removeAll { !$0.isRead && isCovered($0.path) }
        return rest
    }

    /// Returns the paths on local file systems, or the paths on other file systems.
    func only(local isLocal: Bool) -> GrantedPathIdentities {
        var rest = self
        rest.places.removeAll { $0.isLocal != isLocal }
        return rest
    }

    package var paths: [String] { places.map(\.path) }

    /// Returns `true` if no identity has changed. Queries the file system, which may block.
    package func areUnchanged() -> Bool {
        places.allSatisfy { Self.look($0.path, $0.isRead) == $0.found }
    }

    private static func look(_ path: String, _ isRead: Bool) -> Found? {
        var place = csandbox_place()
        guard csandbox_look(path, &place) == 0 else { return nil }
        var found = Found(device: place.device, inode: place.inode, made: place.made)
        if isRead { (found.size, found.modified) = (place.size, place.modified) }
        return found
    }
}
