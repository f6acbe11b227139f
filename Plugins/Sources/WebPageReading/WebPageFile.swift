// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The format of a saved web page, determined only by the file name.
package enum WebPageKind: Sendable, Equatable {
    /// HTML, possibly with embedded pictures, as SingleFile writes it.
    case html, xhtml
    /// A page whose pictures are parts of a MIME message (RFC 2557).
    case mhtml

    /// Returns nil if the name is not a page's name. Case is ignored.
    package init?(fileName: String) {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")), dot != fileName.startIndex else { return nil }
        switch fileName[fileName.utf8.index(after: dot)...].lowercased() {
        case "html", "htm", "shtml", "shtm": self = .html
        case "xhtml", "xht", "xhtm": self = .xhtml
        case "mhtml", "mht": self = .mhtml
        default: return nil
        }
    }

    /// The uniform type identifier. Apple has no type for MHTML, so the manifest declares one.
    package var contentType: String {
        switch self {
        case .html: "public.html"
        case .xhtml: "public.xhtml"
        case .mhtml: "org.ietf.mhtml"
        }
    }
}

/// A saved web page that is open but not read yet.
package struct WebPageFile: UnreadFile {
    /// The absolute path, which is the item's identifier.
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
    /// Folders next to a saved page that contain its scripts and frames.
    private static let parts = ["*_files/", "*_Dateien/", "*.files/", "*_fichiers/", "*_archivos/"]

    /// Reads the user's settings for Web Pages. Without a settings file, Web Pages serves the
    /// documents folder, the downloads folder and the pages that Zotero saved.
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
