// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Foundation
import Synchronization

/// A document's format and uniform type, determined only by the file name.
package struct DocumentKind: Sendable, Equatable {
    /// The format that determines the reader.
    package enum Format: Sendable, Equatable, CaseIterable {
        case pdf, openDocument, openDocumentSheet, wordProcessing, presentation, spreadsheet, epub, richText, html
        case markdown, plainText, sourceText
    }

    package var format: Format
    /// The uniform type identifier, determined by the file name extension.
    package var contentType: String

    /// Creates the kind of a file with this name, which has no directories. Returns nil if the name
    /// is not a document's name. Case is ignored.
    package init?(fileName: String) {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")), dot != fileName.startIndex else {
            guard Self.customaryNames.contains(fileName.lowercased()) else { return nil }
            self.init(format: .plainText, contentType: UTType.plainText.identifier)
            return
        }
        let ending = fileName[fileName.utf8.index(after: dot)...].lowercased()
        guard let kind = Self.kind(ofExtension: ending) else { return nil }
        self = kind
    }

    private init(format: Format, contentType: String) {
        self.format = format
        self.contentType = contentType
    }

    /// The names, in lower case, of files that are text by convention and have no extension.
    private static let customaryNames: Set<String> = [
        "authors", "bugs", "changelog", "changes", "contributing", "contributors", "copying", "copyright", "credits",
        "dockerfile", "faq", "hacking", "history", "install", "licence", "license", "maintainers", "makefile", "news",
        "notes", "notice", "readme", "thanks", "todo",
    ]

    /// The kinds by extension. A folder has few different extensions, and a lookup in the type
    /// tables takes longer than the rest of the walk for a file.
    private static let known = Mutex<[String: DocumentKind?]>([:])
    private static let maximumKnown = 4096

    private static func kind(ofExtension ending: String) -> DocumentKind? {
        guard !ending.isEmpty, ending.utf8.count <= 32 else { return nil }
        if let kind = known.withLock({ $0[ending] }) { return kind }
        let kind = UTType(filenameExtension: ending).flatMap { type in
            type.isDynamic
                ? textKind(ofExtension: ending)
                : format(of: type).map { DocumentKind(format: $0, contentType: type.identifier) }
        }
        known.withLock { if $0.count < maximumKnown { $0[ending] = .some(kind) } }
        return kind
    }

    /// The extensions of text that has no uniform type, by the type that describes it best. Most
    /// are also of a `text/` type in shared-mime-info.
    package static let untypedExtensions: [(type: UTType, extensions: Set<String>)] = [
        (
            .plainText,
            [
                "adoc", "asciidoc", "ass", "bib", "cfg", "cls", "conf", "desktop", "dtx", "fountain", "ini", "latex",
                "lrc", "ltx", "ly", "mediawiki", "nfo", "org", "po", "properties", "rst", "srt", "ssa", "sty",
                "tex", "texi", "texinfo", "textile", "toml", "typ", "wiki",
            ]
        ),
        (
            .sourceCode,
            [
                "clj", "cmake", "cr", "cs", "d", "dart", "el", "erl", "ex", "exs", "feature", "go",
                "gradle", "graphql", "groovy", "gv", "hcl", "hs", "idl", "jl", "json5", "jsonc", "jsonl", "kt", "kts",
                "less", "lisp", "lua", "ml", "mli", "nim", "nix", "ooc", "ps1", "qml", "rs", "sass",
                "scala", "scm", "scss", "sql", "sv", "svelte", "svh", "tcl", "tf", "twig", "vala", "vapi", "vhdl",
                "vue", "zig",
            ]
        ),
    ]

    /// Returns the kind of a text file without a uniform type. Its first line is often no title, as
    /// in source code.
    private static func textKind(ofExtension ending: String) -> DocumentKind? {
        untypedExtensions.first { $0.extensions.contains(ending) }
            .map { DocumentKind(format: .sourceText, contentType: $0.type.identifier) }
    }

    /// The formats by supertype of the document's type; the first match is used.
    private static let formats: [(type: String, format: Format)] = [
        ("com.adobe.pdf", .pdf), ("org.oasis-open.opendocument.spreadsheet", .openDocumentSheet),
        ("org.oasis-open.opendocument.spreadsheet-template", .openDocumentSheet),
        ("org.oasis-open.opendocument", .openDocument), ("org.idpf.epub-container", .epub),
        ("public.rtf", .richText), ("public.html", .html), ("public.xhtml", .html),
        ("net.daringfireball.markdown", .markdown),
    ]

    private static func format(of type: UTType) -> Format? {
        for (identifier, format) in formats {
            if let known = UTType(identifier), type.conforms(to: known) { return format }
        }
        if let openXML = UTType("org.openxmlformats.openxml"), type.conforms(to: openXML) {
            for (part, format) in [
                ("wordprocessingml", Format.wordProcessing), ("presentationml", .presentation),
                ("spreadsheetml", .spreadsheet),
            ] where type.identifier.contains(part) {
                return format
            }
            return nil
        }
        guard type.conforms(to: .text), !type.conforms(to: .image) else { return nil }
        let isPlain = type == .plainText || type.identifier == "public.log"
        return isPlain ? .plainText : .sourceText
    }
}
