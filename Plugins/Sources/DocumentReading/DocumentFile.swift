// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// A document that is open but not read yet.
package struct DocumentFile: ServedFile {
    /// The absolute path, which is the identifier of the item.
    package var path: String
    /// The names of the directories between the configured folder and the file, outermost first.
    package var directories: [String]
    package var kind: DocumentKind
    package var file: OpenedFile

    package static func kind(fileName: String) -> DocumentKind? { DocumentKind(fileName: fileName) }

    package init(_ file: OpenedFile, kind: DocumentKind, path: String, directories: [String]) {
        self.path = path
        self.directories = directories
        self.kind = kind
        self.file = file
    }

    /// Opens a file at any path and follows symbolic links; `directories` is empty.
    ///
    /// - Parameter path: An absolute path without zero bytes.
    /// - Returns: nil if the name is not the name of a document.
    package init?(contentsOf path: String) throws(SkipReason) {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
        guard let name, let kind = DocumentKind(fileName: name), !path.utf8.contains(0) else { return nil }
        let file = try OpenedFile(in: nil, name: path, followingLinks: true, opener: .system)
        self.init(file, kind: kind, path: path, directories: [])
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

    /// A number that another path, size or modification date changes.
    package var fingerprint: UInt64 {
        FNV1a.hash("\(path)\0\(file.size)\0\(file.modified.timeIntervalSince1970)".utf8)
    }
}

package typealias DocumentFolders = ServedFolders<DocumentFile>

extension FolderSettings {
    /// The names that Journal serves in the documents folder, so that no note is found twice.
    private static let notes = [
        "*.[mM][dD]", "*.[mM][aA][rR][kK][dD][oO][wW][nN]", "*.mdown", "*.mkd", "*.[tT][xX][tT]", "*.text",
    ]

    /// Reads the settings of Documents of the user whose environment this is. Without a settings
    /// file these are the documents folder, without what Journal serves there, and the downloads.
    package static func documents(
        environment: [String: String] = ProcessInfo.processInfo.environment, opener: FileOpener = .system
    ) throws(Skip) -> FolderSettings {
        var documents = DefaultFolder.documents
        documents.exclusions = notes
        let rules = Rules(
            identifier: "com.searchlight.documents", noun: "document", defaults: [documents, .downloads])
        return try FolderSettings(rules, environment: environment, opener: opener)
    }
}
