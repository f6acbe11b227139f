// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// A document that is open but not read yet.
package struct DocumentFile: UnreadFile {
    /// The absolute path, which is the item's identifier.
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
}

package typealias DocumentFolders = ServedFolders<DocumentFile>

extension FolderSettings {
    /// Names that Journal serves in the documents folder, so that no note is indexed twice.
    private static let notes = [
        "*.[mM][dD]", "*.[mM][aA][rR][kK][dD][oO][wW][nN]", "*.mdown", "*.mkd", "*.[tT][xX][tT]", "*.text",
    ]

    /// Names that Web Pages serves in both folders.
    private static let webPages = [
        "*.[hH][tT][mM]", "*.[hH][tT][mM][lL]", "*.[sS][hH][tT][mM]", "*.[sS][hH][tT][mM][lL]", "*.[xX][hH][tT]",
        "*.[xX][hH][tT][mM]", "*.[xX][hH][tT][mM][lL]",
    ]

    /// Reads the user's settings for Documents. Without a settings file, Documents serves the
    /// documents folder, except for the files that Journal serves there, and the downloads folder,
    /// both without web pages.
    package static func documents(
        environment: [String: String] = ProcessInfo.processInfo.environment, opener: FileOpener = .system
    ) throws(Skip) -> FolderSettings {
        var documents = DefaultFolder.documents
        documents.exclusions = notes + webPages
        var downloads = DefaultFolder.downloads
        downloads.exclusions = webPages
        let rules = Rules(
            identifier: "com.searchlight.documents", noun: "document", defaults: [documents, downloads])
        return try FolderSettings(rules, environment: environment, opener: opener)
    }
}
