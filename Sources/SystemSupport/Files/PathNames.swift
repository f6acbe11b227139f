// SPDX-License-Identifier: Apache-2.0

/// The components of a path. The path is split at slash bytes: for Swift's `Character`, a slash
/// with a combining accent is another character.
package func pathNames(_ path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
}

/// The components of a path below a folder that contains it or equals it.
package func pathNames(_ path: String, below folder: String) -> [String] {
    path.utf8.dropFirst(folder.utf8.count).split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
}

extension String {
    /// `true` if the name starts with a dot and is hidden.
    package var isHiddenName: Bool { utf8.first == UInt8(ascii: ".") }
}

/// `true` if a path equals a folder or is below it. Both must be absolute, without `.` and `..`.
package func lies(_ path: String, in folder: String) -> Bool {
    path.utf8.starts(with: folder.utf8)
        && (path.utf8.count == folder.utf8.count || folder == "/"
            || path.utf8[path.utf8.index(path.utf8.startIndex, offsetBy: folder.utf8.count)] == UInt8(ascii: "/"))
}
