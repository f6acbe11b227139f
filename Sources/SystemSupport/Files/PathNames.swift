// SPDX-License-Identifier: Apache-2.0

/// Returns the components of a path. The path is split at slash bytes, because to Swift, a slash
/// with a combining accent is a different `Character`.
package func pathNames(_ path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
}

/// Returns the components of a path below a folder. The folder must contain or equal the path.
package func pathNames(_ path: String, below folder: String) -> [String] {
    path.utf8.dropFirst(folder.utf8.count).split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
}

extension String {
    /// `true` if the name starts with a dot, and is therefore hidden.
    package var isHiddenName: Bool { utf8.first == UInt8(ascii: ".") }
}

/// Returns `true` if a path equals a folder or is below it. Both must be absolute, without `.` and
/// `..`.
package func lies(_ path: String, in folder: String) -> Bool {
    path.utf8.starts(with: folder.utf8)
        && (path.utf8.count == folder.utf8.count || folder == "/"
            || path.utf8[path.utf8.index(path.utf8.startIndex, offsetBy: folder.utf8.count)] == UInt8(ascii: "/"))
}
