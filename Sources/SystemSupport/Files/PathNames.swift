// SPDX-License-Identifier: Apache-2.0

/// The names of a path, of which the slashes are bytes: to Swift, one with an accent after it is another letter.
package func pathNames(_ path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
}

/// Those below a folder that it lies in, or is.
package func pathNames(_ path: String, below folder: String) -> [String] {
    path.utf8.dropFirst(folder.utf8.count).split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
}

extension String {
    /// Whether it is a name that is hidden, by its first byte.
    package var isHiddenName: Bool { utf8.first == UInt8(ascii: ".") }
}

/// Whether a path is another one or lies below it; both absolute and without `.` and `..`.
package func lies(_ path: String, in folder: String) -> Bool {
    path.utf8.starts(with: folder.utf8)
        && (path.utf8.count == folder.utf8.count || folder == "/"
            || path.utf8[path.utf8.index(path.utf8.startIndex, offsetBy: folder.utf8.count)] == UInt8(ascii: "/"))
}
