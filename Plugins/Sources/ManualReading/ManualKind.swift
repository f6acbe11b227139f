// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The kind of a manual, determined only by the file name.
package struct ManualKind: Sendable, Equatable {
    package enum Format: Sendable, Equatable {
        /// A manual page, such as `ls.1`.
        case page(name: String, section: String)
        /// A Texinfo manual, or a part of one: `gcc.info-2`.
        case info(name: String, part: Int?)
        /// Package documentation: text, Markdown or HTML.
        case text, markdown, html
    }

    package enum Compression: String, Sendable, CaseIterable {
        case gzip = "gz", bzip2 = "bz2", xz = "xz", lzma = "lzma", zstandard = "zst"
    }

    package var format: Format
    package var compression: Compression?

    /// Creates the kind of a file with this name, which has no directories. Returns nil if the name
    /// is not a manual's name.
    package init?(fileName: String) {
        guard fileName.utf8.count <= 255 else { return nil }
        var name = fileName[...]
        if let dot = name.lastIndex(of: "."),
            let found = Compression(rawValue: name[name.index(after: dot)...].lowercased())
        {
            compression = found
            name = name[..<dot]
        }
        guard let format = Self.format(name) else { return nil }
        self.format = format
    }

    private static func format(_ name: Substring) -> Format? {
        let lower = name.lowercased()
        let parts = lower.split { $0 == "." || $0 == "-" || $0 == "_" }
        if let first = parts.first, customary.contains(String(first)), !lower.hasSuffix(".html") {
            return lower.hasSuffix(".md") || lower.hasSuffix(".markdown") ? .markdown : .text
        }
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        let (stem, ending) = (
            String(name[..<dot]), lower[lower.index(after: lower.lastIndex(of: ".") ?? lower.startIndex)...]
        )
        // Change logs, licenses and file lists are not manuals.
        if let first = parts.first, left.contains(String(first)) { return nil }
        switch ending {
        case "info": return .info(name: stem, part: nil)
        case "html", "htm", "xhtml": return .html
        case "md", "markdown": return .markdown
        case "txt", "text", "rst": return .text
        default: break
        }
        if ending.hasPrefix("info-"), let part = Int(ending.dropFirst(5)), (1...999).contains(part) {
            return .info(name: stem, part: part)
        }
        return isSection(ending) ? .page(name: stem, section: String(ending)) : nil
    }

    /// Sections begin with a digit: `1`, `3pm`, `8ssl`; `n` contains Tcl commands.
    private static func isSection(_ ending: Substring) -> Bool {
        if ending == "n" { return true }
        guard let first = ending.utf8.first, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return ending.utf8.count <= 12
            && ending.utf8.dropFirst().allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    }

    /// The lower-case prefixes of names that denote texts with any extension or none.
    private static let customary: Set<String> = [
        "readme", "news", "faq", "howto", "hacking", "install", "usage", "todo",
    ]
    private static let left: Set<String> = ["changelog", "changes", "copyright", "copying", "license", "licence"]
}
