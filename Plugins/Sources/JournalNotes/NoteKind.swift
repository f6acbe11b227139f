// SPDX-License-Identifier: Apache-2.0

/// What a note is written in, told from its file name alone.
package enum NoteKind: Sendable, Equatable, CaseIterable {
    case markdown
    case plainText

    private static let markdownExtensions: Set<String> = ["md", "markdown", "mdown", "mkd"]
    private static let plainTextExtensions: Set<String> = ["txt", "text"]

    /// Files that are text by custom and have no file name extension; lower case.
    private static let customaryNames: Set<String> = [
        "authors", "bugs", "changelog", "changes", "contributing", "contributors", "copying", "copyright", "credits",
        "faq", "hacking", "history", "install", "licence", "license", "maintainers", "news", "notes", "notice",
        "readme", "thanks", "todo",
    ]

    /// The kind of a file with that name (no directories in it), or nil if it does not look like a note. Case does not
    /// matter.
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

    /// Whether files of that name begin with a formula ("Format: …", a version number, a date) that says nothing about
    /// them, so that the name and the folder make the better title. A read-me begins with a title of its own.
    package static func beginsWithFormula(fileName: String) -> Bool {
        let (stem, pathExtension) = split(fileName)
        let name = stem.lowercased()
        return pathExtension == nil && customaryNames.contains(name)
            && !["readme", "faq", "hacking", "notes"].contains(name)
    }

    /// The uniform type identifier of such notes.
    package var contentType: String {
        switch self {
        case .markdown: "net.daringfireball.markdown"
        case .plainText: "public.plain-text"
        }
    }

    /// A file name without its extension; the whole name if it has none.
    package static func stem(ofFileName fileName: String) -> String { String(split(fileName).stem) }

    private static func split(_ fileName: String) -> (stem: Substring, pathExtension: Substring?) {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")), dot != fileName.startIndex else {
            return (fileName[...], nil)
        }
        return (fileName[..<dot], fileName[fileName.utf8.index(after: dot)...])
    }
}
