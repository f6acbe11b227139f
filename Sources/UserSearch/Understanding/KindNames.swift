// SPDX-License-Identifier: Apache-2.0
import MetadataQuery

/// Maps common names of kinds of items to uniform type identifiers.
enum KindNames {
    /// A kind: the items whose type conforms to one of `types` and to none of `others`.
    struct Kind {
        var types: [String]
        var others: [String] = []
    }

    /// Returns the condition for a folded kind name or a uniform type identifier; `nil` for other
    /// words.
    static func expression(_ name: String) -> QueryExpression? {
        if let kind = kind(name) {
            let types = kind.types.map(conforms)
            let any: QueryExpression = types.count == 1 ? types[0] : .or(types)
            if kind.others.isEmpty { return any }
            return .and([any] + kind.others.map { .not(conforms($0)) })
        }
        return isTypeIdentifier(name) ? conforms(name) : nil
    }

    /// All known names for suggestions, most common first.
    static let names: [String] = {
        let usual = [
            "pdf", "image", "document", "mail", "message", "folder", "text", "movie", "audio", "contact", "event",
            "presentation", "spreadsheet", "code", "archive", "book",
        ]
        return usual + kinds.keys.filter { !usual.contains($0) }.sorted()
    }()

    static func kind(_ name: String) -> Kind? {
        if let kind = kinds[name] { return kind }
        // Accepts plurals: images, movies, archives.
        guard name.hasSuffix("s"), name.utf8.count > 3 else { return nil }
        return kinds[String(name.dropLast())] ?? (name.hasSuffix("ies") ? kinds[name.dropLast(3) + "y"] : nil)
    }

    private static func conforms(_ type: String) -> QueryExpression {
        .comparison(
            Comparison(
                attribute: .named("contentTypeTree"), operation: .equal, value: .text(TextPattern(literal: type))))
    }

    /// Returns `true` for at least two dot-separated parts of ASCII letters, digits and hyphens, as
    /// in `public.jpeg`.
    private static func isTypeIdentifier(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count > 1
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy {
                        (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
                    }
            }
    }

    private static let kinds: [String: Kind] = {
        let groups: [(names: String, kind: Kind)] = [
            ("pdf", Kind(types: ["com.adobe.pdf"])),
            ("image picture photo photograph", Kind(types: ["public.image"])),
            ("jpeg jpg", Kind(types: ["public.jpeg"])), ("png", Kind(types: ["public.png"])),
            ("gif", Kind(types: ["com.compuserve.gif"])), ("tiff tif", Kind(types: ["public.tiff"])),
            ("svg", Kind(types: ["public.svg-image"])), ("heic", Kind(types: ["public.heic"])),
            ("audio music song sound", Kind(types: ["public.audio"])), ("mp3", Kind(types: ["public.mp3"])),
            ("movie video film clip", Kind(types: ["public.movie"])), ("mp4", Kind(types: ["public.mpeg-4"])),
            (
                "document doc",
                Kind(
                    types: ["public.composite-content", "public.text"],
                    others: ["public.source-code", "public.message"])
            ),
            ("mail email e-mail", Kind(types: ["public.email-message"])),
            ("message chat", Kind(types: ["public.message"])),
            ("contact person people", Kind(types: ["public.contact", "public.vcard"])),
            ("event calendar appointment meeting", Kind(types: ["public.calendar-event"])),
            ("reminder todo to-do task", Kind(types: ["public.to-do-item"])),
            ("folder directory", Kind(types: ["public.folder"])),
            ("text plaintext txt", Kind(types: ["public.text"])),
            ("code source sourcecode", Kind(types: ["public.source-code"])),
            ("script", Kind(types: ["public.script"])), ("swift", Kind(types: ["public.swift-source"])),
            ("python", Kind(types: ["public.python-script"])),
            ("presentation slide slideshow powerpoint keynote", Kind(types: ["public.presentation"])),
            ("spreadsheet excel", Kind(types: ["public.spreadsheet"])),
            (
                "word docx",
                Kind(types: ["com.microsoft.word.doc", "org.openxmlformats.wordprocessingml.document"])
            ),
            ("odt", Kind(types: ["org.oasis-open.opendocument.text"])),
            ("archive", Kind(types: ["public.archive"])), ("zip", Kind(types: ["com.pkware.zip-archive"])),
            ("tar", Kind(types: ["public.tar-archive"])),
            ("app application program", Kind(types: ["com.apple.application"])),
            ("font", Kind(types: ["public.font"])), ("book ebook epub", Kind(types: ["org.idpf.epub-container"])),
            ("html webpage", Kind(types: ["public.html"])),
            ("bookmark link", Kind(types: ["public.bookmark", "public.url"])),
            ("markdown md", Kind(types: ["net.daringfireball.markdown"])), ("rtf", Kind(types: ["public.rtf"])),
            ("csv", Kind(types: ["public.comma-separated-values-text"])), ("json", Kind(types: ["public.json"])),
            ("xml", Kind(types: ["public.xml"])), ("log", Kind(types: ["public.log"])),
        ]
        var kinds: [String: Kind] = [:]
        for group in groups {
            for name in group.names.split(separator: " ") { kinds[String(name)] = group.kind }
        }
        return kinds
    }()

    /// All identifiers, for the test that checks them against the type table.
    static var allTypes: Set<String> { Set(kinds.values.flatMap { $0.types + $0.others }) }
}
