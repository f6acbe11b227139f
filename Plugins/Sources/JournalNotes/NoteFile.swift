// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// A note read from disk: its text and its file-system metadata.
package struct NoteFile: Sendable {
    /// The maximum number of bytes that are read from a file.
    package static let maximumSize = OpenedFile.maximumSize

    /// The absolute path, which is the item's identifier.
    package var path: String
    /// The names of the directories between the configured folder and the file, outermost first.
    package var directories: [String]
    package var kind: NoteKind
    /// The size of the file, in bytes.
    package var size: Int64
    /// The creation date of the file; nil if the file system does not record it.
    package var birth: Date?
    package var modified: Date
    /// The text of the file without a byte order mark; see ``isCut``. Empty if the file is not
    /// text.
    package var text: String
    /// The encoding from which the text was decoded.
    package var reading = TextReading.utf8
    /// `true` if `text` is only the beginning of the file.
    package var isCut = false
    /// The number of bytes of the file that were not read.
    package var missing: Int64 = 0

    /// The last component of the path.
    package var fileName: String {
        String(path[(path.utf8.lastIndex(of: UInt8(ascii: "/")).map(after) ?? path.startIndex)...])
    }

    private func after(_ index: String.Index) -> String.Index { path.utf8.index(after: index) }
}

extension NoteFile {
    /// Reads a file at any path and follows symbolic links; `directories` is empty.
    ///
    /// - Parameter path: An absolute path without zero bytes.
    /// - Returns: nil if the name is not a note's name.
    package init?(contentsOf path: String, opener: FileOpener = .system) throws(SkipReason) {
        guard let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map({ String(Substring($0)) }),
            let kind = NoteKind(fileName: name), !path.utf8.contains(0)
        else { return nil }
        let opened = try OpenedFile(in: nil, name: path, followingLinks: true, opener: opener)
        self = try NoteFile(opened, kind: kind, path: path, directories: [])
    }
}

extension NoteFile: ServedFile {
    package static func kind(fileName: String) -> NoteKind? { NoteKind(fileName: fileName) }

    package init(
        _ file: OpenedFile, kind: NoteKind, path: String, directories: [String]
    ) throws(SkipReason) {
        let bytes = try file.readAll()
        let (text, reading) = TextReading.text(of: bytes)
        let missing = max(0, file.size - Int64(bytes.count))
        self.init(
            path: path, directories: directories, kind: kind, size: file.size, birth: file.birth,
            modified: file.modified, text: text, reading: reading, isCut: missing > 0, missing: missing)
    }
}

package typealias NoteWalk = FolderWalk<NoteFile>
package typealias NoteFolders = ServedFolders<NoteFile>
