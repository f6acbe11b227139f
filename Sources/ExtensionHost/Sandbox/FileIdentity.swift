// SPDX-License-Identifier: Apache-2.0
import CSandbox

/// The identity of a file or folder, independent of its name. It stays the same under a different
/// spelling on a case-insensitive file system, and in a second mount.
struct FileIdentity: Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ place: csandbox_place) { (device, inode) = (place.device, place.inode) }

    /// Creates the identity of a path's target; `nil` if the target does not exist.
    init?(_ path: String) {
        var place = csandbox_place()
        guard csandbox_look(path, &place) == 0 else { return nil }
        self.init(place)
    }

    /// Returns the identities of a path and of the folders that contain it, without `/`, up to the
    /// first one that does not exist.
    ///
    /// - Parameter path: An absolute path without links, `.` and `..`.
    static func chain(_ path: String) -> [FileIdentity] {
        var found: [FileIdentity] = []
        let bytes = Array(path.utf8)
        for end in bytes.indices.dropFirst() + [bytes.count] where end == bytes.count || bytes[end] == UInt8(ascii: "/")
        {
            guard let identity = FileIdentity(String(decoding: bytes[..<end], as: UTF8.self)) else { break }
            found.append(identity)
        }
        return found
    }
}
