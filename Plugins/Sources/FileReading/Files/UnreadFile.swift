// SPDX-License-Identifier: Apache-2.0

/// A served file that is open but not read yet.
package protocol UnreadFile: ServedFile {
    /// The names of the directories between the configured folder and the file, outermost first.
    var directories: [String] { get }
    var kind: Kind { get }
    var file: OpenedFile { get }
}

extension UnreadFile {
    /// Opens a file at any path and follows symbolic links; `directories` is empty.
    ///
    /// - Parameter path: An absolute path without zero bytes.
    /// - Returns: nil if the extension does not serve files with this name.
    package init?(contentsOf path: String) throws(SkipReason) {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
        guard let name, let kind = Self.kind(fileName: name), !path.utf8.contains(0) else { return nil }
        let file = try OpenedFile(in: nil, name: path, followingLinks: true, opener: .system)
        try self.init(file, kind: kind, path: path, directories: [])
    }

    /// The last component of the path.
    package var fileName: String {
        path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? path
    }

    /// The file name without its extension.
    package var stem: String {
        let name = fileName
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// A number that changes with the path, size or modification date.
    package var fingerprint: UInt64 { file.fingerprint(path: path) }
}
