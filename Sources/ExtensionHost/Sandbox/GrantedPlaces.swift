// SPDX-License-Identifier: Apache-2.0
import CSandbox

/// What stood where a policy was made from. A worker's rights are tied to files and folders, not to their names, so what is
/// renamed into such a place later, or made there, is closed to it until it is started anew.
package struct GrantedPlaces: Hashable, Sendable {
    private struct Place: Hashable {
        var path: String
        /// Whether what is in the file counts too: the host read it.
        var isRead: Bool
        /// Whether its file system was in this machine, and so answers at once.
        var isLocal: Bool
        var found: Found?
    }
    /// What tells a file from one that has its number after it, which some file systems give again at once.
    private struct Found: Hashable {
        var device: UInt64
        var inode: UInt64
        /// When it was made, in nanoseconds since 1970; 0 where the file system does not say.
        var made: Int64
        /// In bytes, and when that was changed; 0 if it does not count.
        var size: UInt64 = 0
        var modified: Int64 = 0
    }
    private var places: [Place] = []
    private var known: Set<[UInt8]> = []

    /// The most places that are looked at, each for about a microsecond with every request.
    static let maximum = 256

    /// Notes what stands at a path now.
    ///
    /// - Parameter isRead: Whether what the file says was used too.
    mutating func note(_ path: String, isRead: Bool = false) {
        guard places.count < Self.maximum, known.insert(Array(path.utf8)).inserted else { return }
        places.append(
            Place(
                path: path, isRead: isRead, isLocal: csandbox_is_local(path) != 0, found: Self.look(path, isRead)))
    }

    /// The same without some of the places whose content was not used.
    func leavingOut(_ isCovered: (String) -> Bool) -> GrantedPlaces {
        var rest = self
        rest.places.removeAll { !$0.isRead && isCovered($0.path) }
        return rest
    }

    /// Those whose file system was in this machine, or the others.
    func only(local isLocal: Bool) -> GrantedPlaces {
        var rest = self
        rest.places.removeAll { $0.isLocal != isLocal }
        return rest
    }

    package var paths: [String] { places.map(\.path) }

    /// Whether everything is as it was. Asks the file system, which may take its time.
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
