// SPDX-License-Identifier: Apache-2.0

/// A note's markup, determined only by its file name.
package enum NoteKind: Sendable, Equatable, CaseIterable {
    case markdown
    case plainText

    private static let markdownExtensions: Set<String> = ["md", "markdown", "mdown", "mkd"]
    private static let plainTextExtensions: Set<String> = ["txt", "text"]

    /// The names, in lower case, of files that are text by convention and have no extension.
    private static let customaryNames: Set<String> = [
        "authors", "bugs", "changelog", "changes", "contributing", "contributors", "copying", "copyright", "credits",
        "faq", "hacking", "history", "install", "licence", "license", "maintainers", "news", "notes", "notice",
        "readme", "thanks", "todo",
    ]

    /// Creates the kind of a file with this name, which has no directories. Returns nil if the name
    /// is not a note's name. Case is ignored.
    package init?(fileName: String) {
        let (stem, pathExtension) = Self.split(fileName)
        let lowercased = pathExtension?.lowercased()
        if let lowercased {
            if Self.markdownExtensions.contains(lowercased) {
                self = .markdown
            } else if Self.plainTextExtensions.contains(lowercased) {
                self = .plainText
            } else {
                return nil
            }
        } else if Self.customaryNames.contains(stem.lowercased()) {
            self = .plainText
        } else {
            return nil
        }
    }

    /// Returns `true` for names of files that usually begin with a formula ("Format: …", a version
    /// number, a date), so that the file name and the folder make a better title. A README begins
    /// with its own title.
    package static func beginsWithFormula(fileName: String) -> Bool {
        let (stem, pathExtension) = split(fileName)
        let name = stem.lowercased()
        return pathExtension == nil && customaryNames.contains(name)
            && !["readme", "faq", "hacking", "notes"].contains(name)
    }

    /// The uniform type identifier for notes of this kind.
    package var contentType: String {
        switch self {
        case .markdown: "net.daringfireball.markdown"
        case .plainText: "public.plain-text"
        }
    }

    /// Returns a file name without its extension; the whole name if it has none.
    package static func stem(ofFileName fileName: String) -> String { String(split(fileName).stem) }

    private static func split(_ fileName: String) -> (stem: Substring, pathExtension: Substring?) {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")), dot != fileName.startIndex else {
            return (fileName[...], nil)
        }
        return (fileName[..<dot], fileName[fileName.utf8.index(after: dot)...])
    }
}
