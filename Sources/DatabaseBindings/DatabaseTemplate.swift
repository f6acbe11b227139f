// SPDX-License-Identifier: Apache-2.0
import JSONText

/// A text with placeholders for column values: `{title}`, or `{body:html}` with a format. `{{` and
/// `}}` represent braces.
///
/// The use of the text determines the escaping of values (``Escaping``), so a template cannot omit
/// it: `joplin://x-callback-url/openNote?id={id}`, `<h1>{title}</h1>`.
package struct DatabaseTemplate: Hashable, Sendable {
    package enum Part: Hashable, Sendable {
        case text(String)
        case column(String, Format)
    }

    /// The format of a column's values.
    package enum Format: Hashable, Sendable {
        /// Text or a number, used unchanged.
        case plain
        /// HTML. A text template uses only its text, and an HTML template uses it unchanged.
        case html
        /// A path, whose slashes are kept in a URL.
        case path
        /// The path of a file; in a URL attribute, it becomes `file:///…`.
        case file
        /// Several values, one per line or separated by U+001F.
        case lines
        /// Several values, separated by commas.
        case commas
        /// Several values, separated by spaces.
        case words
        /// Several values, as a JSON array (SQLite's `json_group_array`).
        case json
        /// A time.
        case time(ColumnTimeUnit)

        private static let names: [(String, Format)] = [
            ("html", .html), ("path", .path), ("file", .file), ("lines", .lines), ("commas", .commas),
            ("words", .words), ("json", .json),
        ]
        static let allNames = names.map(\.0) + ColumnTimeUnit.allCases.map(\.rawValue)

        init?(_ name: String) {
            if let unit = ColumnTimeUnit(rawValue: name) {
                self = .time(unit)
            } else if let found = Self.names.first(where: { $0.0 == name }) {
                self = found.1
            } else {
                return nil
            }
        }

        /// `true` if the column contains several values.
        var isList: Bool { [.lines, .commas, .words, .json].contains(self) }
    }

    /// The context in which the text is used, which determines the escaping.
    package enum Escaping: Hashable, Sendable {
        /// Plain text.
        case none
        /// HTML: a value cannot become an element or attribute.
        case html
        /// A URL: a value cannot change other parts of the URL. If the template is a single
        /// placeholder, its value is a whole URL and is used unchanged.
        case url
    }

    package let parts: [Part]

    /// Reads a template.
    ///
    /// - Throws: ``DatabaseBindingError`` with the key and the column.
    init(_ text: String, at path: [String]) throws(DatabaseBindingError) {
        var parts: [Part] = []
        var plain = ""
        var rest = text[...]
        while let character = rest.first {
            rest = rest.dropFirst()
            guard character == "{" || character == "}" else {
                plain.append(character)
                continue
            }
            if rest.first == character {
                plain.append(character)
                rest = rest.dropFirst()
                continue
            }
            guard character == "{", let end = rest.firstIndex(of: "}") else {
                throw DatabaseBindingError(
                    path, "A “\(character)” is not part of a placeholder",
                    "Write {column}, or “\(character)\(character)” for the brace itself")
            }
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(try Self.placeholder(rest[..<end], at: path))
            rest = rest[rest.index(after: end)...]
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
        guard columns.count <= DatabaseLimits.placeholders else {
            throw DatabaseBindingError(
                path, "It has \(columns.count) placeholders", "The limit is \(DatabaseLimits.placeholders)")
        }
    }

    private static func placeholder(_ text: Substring, at path: [String]) throws(DatabaseBindingError) -> Part {
        let pieces = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let name = pieces.first, (1...DatabaseLimits.nameBytes).contains(name.utf8.count), !name.contains("{")
        else {
            throw DatabaseBindingError(
                path, column: String(text).cut, "The placeholder has no column", "Write {column}")
        }
        guard pieces.count > 1 else { return .column(name, .plain) }
        guard let format = Format(pieces[1]) else {
            throw DatabaseBindingError(
                path, column: name, "There is no format “\(pieces[1].cut)”",
                "Use one of \(Format.allNames.joined(separator: ", "))",
                misspelt: .init(name: pieces[1].cut, known: Format.allNames))
        }
        return .column(name, format)
    }

    /// The columns, in order.
    package var columns: [String] { parts.compactMap { if case .column(let name, _) = $0 { name } else { nil } } }

    /// Returns `false` if all columns of the template are NULL in a row.
    package func hasValue(_ row: Row) -> Bool { columns.isEmpty || columns.contains { row[$0] != .null } }

    /// The placeholder, if the template consists of only one.
    var only: (column: String, format: Format)? {
        if parts.count == 1, case .column(let name, let format) = parts[0] { (name, format) } else { nil }
    }

    /// Returns the text for a row, with at most `limit` bytes of values; `nil` if all the
    /// template's columns are NULL. A template without placeholders returns its own text.
    package func text(_ row: Row, _ escaping: Escaping, limit: Int = DatabaseLimits.valueBytes) -> String? {
        if let only, escaping == .url {
            return only.format == .file
                ? row[only.column].text.map { "file://" + Self.percentEncoded($0, keepsSlashes: true) }
                : row[only.column].text
        }
        var (result, hasValue, left) = ("", false, limit)
        for part in parts {
            switch part {
            case .text(let text): result += text
            case .column(let name, let format):
                guard var text = Self.text(row[name], format, escaping) else { continue }
                hasValue = true
                text = text.cut(toBytes: left)
                left -= text.utf8.count
                result += text
            }
        }
        return hasValue || columns.isEmpty ? result : nil
    }

    private static func text(_ value: RowValue, _ format: Format, _ escaping: Escaping) -> String? {
        guard let text = value.text else { return nil }
        switch (escaping, format) {
        case (.none, .html): return MarkupText.plain(text)
        case (.none, .time(let unit)), (.html, .time(let unit)): return unit.moment(value).map(MarkupText.date)
        case (.url, .time(let unit)):
            return unit.moment(value).map { percentEncoded(MarkupText.date($0), keepsSlashes: false) }
        case (.none, let format): return format.isList ? values(value, format).joined(separator: ", ") : text
        case (.html, .html): return text
        case (.html, let format):
            return MarkupText.escaped(format.isList ? values(value, format).joined(separator: ", ") : text)
        case (.url, .file): return "file://" + percentEncoded(text, keepsSlashes: true)
        case (.url, let format): return percentEncoded(text, keepsSlashes: format == .path)
        }
    }

    /// Returns the values of a column that contains several, without empty ones.
    static func values(_ value: RowValue, _ format: Format) -> [String] {
        guard let text = value.text else { return [] }
        let pieces: [String] =
            switch format {
            case .lines: text.split { $0 == "\n" || $0 == "\r\n" || $0 == "\u{1F}" }.map(String.init)
            case .commas: text.split(separator: ",").map(String.init)
            case .words: text.split(whereSeparator: \.isWhitespace).map(String.init)
            case .json: MarkupText.jsonTexts(text)
            default: [text]
            }
        return Array(pieces.map(\.trimmed).filter { !$0.isEmpty }.prefix(DatabaseLimits.elements))
    }

    /// Returns text for use in a URL, with all characters except the unreserved ones in RFC 3986 as
    /// `%XX`.
    static func percentEncoded(_ text: String, keepsSlashes: Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            let isPlain =
                byte.isLetterOrDigit || "-._~".utf8.contains(byte) || keepsSlashes && byte == UInt8(ascii: "/")
            if isPlain {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// The text without leading and trailing spaces and line ends.
    var trimmed: String {
        var part = self[...]
        while part.first?.isWhitespace == true { part = part.dropFirst() }
        while part.last?.isWhitespace == true { part = part.dropLast() }
        return String(part)
    }

    /// Returns the longest prefix of whole Unicode scalars with at most `limit` bytes.
    func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: max(0, limit))
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
