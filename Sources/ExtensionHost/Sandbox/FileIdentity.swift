// SPDX-License-Identifier: Apache-2.0
import CSandbox

/// What makes a file or folder the same, whatever it is called: by another spelling where letters' case does not count, or in a
/// second place where it is mounted.
struct FileIdentity: Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ place: csandbox_place) { (device, inode) = (place.device, place.inode) }

    /// That of what a path leads to; `nil` if there is nothing.
    init?(_ path: String) {
        var place = csandbox_place()
        guard csandbox_look(path, &place) == 0 else { return nil }
        self.init(place)
    }

    /// Those of a path and of what it lies in, without `/`, as far as they are there.
    ///
    /// - Parameter path: Absolute, without links, `.` and `..`.
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
