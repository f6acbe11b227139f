// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The format of a kept web page, determined by the file name alone.
package enum WebPageKind: Sendable, Equatable {
    /// HTML, also with its pictures in it, as SingleFile writes it.
    case html, xhtml
    /// A page with its pictures as parts of a MIME message (RFC 2557).
    case mhtml

    /// Returns nil if the name is not the name of a page. Case does not matter.
    package init?(fileName: String) {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")), dot != fileName.startIndex else { return nil }
        switch fileName[fileName.utf8.index(after: dot)...].lowercased() {
        case "html", "htm", "shtml", "shtm": self = .html
        case "xhtml", "xht", "xhtm": self = .xhtml
        case "mhtml", "mht": self = .mhtml
        default: return nil
        }
    }

    /// The uniform type identifier. Apple has none for MHTML, so the manifest declares one.
    package var contentType: String {
        switch self {
        case .html: "public.html"
        case .xhtml: "public.xhtml"
        case .mhtml: "org.ietf.mhtml"
        }
    }
}

/// A kept web page that is open but not read yet.
package struct WebPageFile: UnreadFile {
    /// The absolute path, which is the identifier of the item.
    package var path: String
    package var directories: [String]
    package var kind: WebPageKind
    package var file: OpenedFile

    package static func kind(fileName: String) -> WebPageKind? { WebPageKind(fileName: fileName) }

    package init(_ file: OpenedFile, kind: WebPageKind, path: String, directories: [String]) {
        self.path = path
        self.directories = directories
        self.kind = kind
        self.file = file
    }
}

extension FolderSettings {
    /// The folders of a saved page, which have its scripts and frames beside it.
    private static let parts = ["*_files/", "*_Dateien/", "*.files/", "*_fichiers/", "*_archivos/"]

    /// Reads the folders of Web Pages of the user whose environment this is. Without a settings
    /// file these are the documents, the downloads and the pages that Zotero keeps.
    package static func webPages(
        environment: [String: String] = ProcessInfo.processInfo.environment, opener: FileOpener = .system
    ) throws(Skip) -> FolderSettings {
        let folders = [DefaultFolder.documents, .downloads, DefaultFolder(home: "Zotero/storage")].map { folder in
            var folder = folder
            folder.exclusions = parts
            return folder
        }
        let rules = Rules(identifier: "com.searchlight.webpages", noun: "web page", defaults: folders)
        return try FolderSettings(rules, environment: environment, opener: opener)
    }
}
