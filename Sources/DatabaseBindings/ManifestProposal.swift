// SPDX-License-Identifier: Apache-2.0
import JSONText

/// A proposed `Searchlight.Database` for an unknown database, based on its schema and some rows.
///
/// ```swift
/// let proposal = ManifestProposal(schema, file: "~/Notes/notes.db")
/// proposal?.value   // the dictionary, for DatabaseBinding
/// ```
package struct ManifestProposal: Sendable {
    /// The dictionary.
    package let value: JSONValue
    /// A line for each kind of item, and one for the remaining tables.
    package let notes: [String]

    /// The maximum number of tables that become kinds of items.
    private static let maximumKinds = 3

    /// Proposes a dictionary; `nil` if no table has a title, a text or a URL.
    ///
    /// - Parameter file: The path of the database file for the manifest.
    package init?(_ schema: DatabaseSchema, file: String) {
        let candidates = schema.tables.filter {
            !Self.isInternal($0.name, schema) && $0.rows > 0 && !Candidate.hasControl($0.name)
        }.map(Candidate.init)
        let chosen = candidates.filter { $0.score > 0 }.sorted { ($1.score, $0.table.name) < ($0.score, $1.table.name) }
            .prefix(Self.maximumKinds)
        guard !chosen.isEmpty else { return nil }
        var names: Set<String> = []
        let items = chosen.map { $0.item(named: $0.name(besides: &names)) }
        value = .object([
            .init(key: "Files", value: .list([.text(file)])), .init(key: "Items", value: .list(items)),
        ])
        let rest = schema.tables.filter { table in
            !Self.isInternal(table.name, schema) && !Candidate.hasControl(table.name)
                && !chosen.contains { $0.table.name == table.name }
        }
        var notes = chosen.map(\.note)
        if !rest.isEmpty {
            let names = rest.map { $0.rows > 0 ? $0.name : "\($0.name) (empty)" }
            notes.append("not used: " + names.joined(separator: ", "))
        }
        self.notes = notes
    }

    /// Returns `true` for a table that belongs to SQLite, to a full-text index, or to a library.
    private static func isInternal(_ name: String, _ schema: DatabaseSchema) -> Bool {
        if ["android_metadata", "room_master_table"].contains(name) || name.hasPrefix("sqlite_") { return true }
        return ["_data", "_idx", "_content", "_docsize", "_config", "_segments", "_segdir", "_stat"].contains {
            ending in
            name.hasSuffix(ending) && schema.tables.contains { $0.name == name.dropLast(ending.count) }
        }
    }
}

/// A table, and what its columns seem to contain.
private struct Candidate {
    let table: DatabaseSchema.Table
    /// The column that identifies a row; `nil` to use SQLite's row ID.
    private var key: String?
    private var title: String?
    private var text: String?
    private var isHTML = false
    private var changed: String?
    /// The attributes except title and text, with their templates.
    private var attributes: [(name: String, template: String)] = []

    private static let titles = [
        "title", "subject", "headline", "name", "caption", "summary", "label", "topic", "question",
    ]
    private static let texts = [
        "body", "text", "content", "contents", "note", "notes", "message", "description", "comment", "abstract",
        "answer",
        "excerpt", "html", "markdown",
    ]
    private static let people = ["author", "authors", "creator", "artist", "sender", "from", "writer"]
    private static let tags = ["tags", "keywords", "labels", "categories", "category", "genre"]

    init(_ whole: DatabaseSchema.Table) {
        var table = whole
        // Names that cannot appear in a placeholder are skipped.
        table.columns.removeAll { column in
            column.name.isEmpty || column.name.utf8.count > DatabaseLimits.nameBytes
                || column.name.contains { "{}:".contains($0) } || Self.hasControl(column.name)
        }
        self.table = table
        key =
            (table.columns.filter { $0.name == whole.primaryKey } + table.columns.filter { Self.isNamedKey($0) })
            .first { Self.hasKeys($0) }?.name
        title = Self.named(Self.titles, table)
        text = Self.named(Self.texts.filter { $0 != title?.lowercased() }, table)
        if let column = table.columns.first(where: { $0.name == text }) { isHTML = Self.isHTML(column) }
        for column in table.columns where ![key, title, text].contains(column.name) { add(column) }
    }

    /// Returns `true` for a name with control characters, which a property list cannot contain.
    static func hasControl(_ name: String) -> Bool { name.utf8.contains { $0 < 0x20 || $0 == 0x7F } }

    /// Returns the first column that contains text and has one of the names, or a name that ends
    /// with one of them.
    private static func named(_ names: [String], _ table: DatabaseSchema.Table) -> String? {
        for name in names {
            for column in table.columns where column.name.lowercased() == name && hasTexts(column) {
                return column.name
            }
        }
        for name in names {
            for column in table.columns where column.name.lowercased().hasSuffix("_" + name) && hasTexts(column) {
                return column.name
            }
        }
        return nil
    }

    private static func texts(_ column: DatabaseSchema.Column) -> [String] {
        column.samples.compactMap { if case .text(let text) = $0, !text.isEmpty { text } else { nil } }
    }

    private static func hasTexts(_ column: DatabaseSchema.Column) -> Bool { !texts(column).isEmpty }

    private static func isNamedKey(_ column: DatabaseSchema.Column) -> Bool {
        ["id", "_id", "uuid", "guid", "key", "identifier"].contains(column.name.lowercased())
    }

    /// Returns `true` if each row has a key of its own.
    private static func hasKeys(_ column: DatabaseSchema.Column) -> Bool {
        let keys = column.samples.compactMap { RowKey($0) }
        return keys.count == column.samples.count && Set(keys).count == keys.count
    }

    private static func isHTML(_ column: DatabaseSchema.Column) -> Bool {
        let samples = texts(column)
        return !samples.isEmpty && samples.count { $0.contains("</") || $0.contains("<br") } * 2 >= samples.count
    }

    private mutating func add(_ column: DatabaseSchema.Column) {
        let name = column.name.lowercased()
        let samples = Self.texts(column)
        let known = Set(attributes.map(\.name))
        if let unit = Self.unit(column, name) {
            let attribute = Self.dateAttribute(name)
            if attribute == "contentModificationDate", changed == nil { changed = column.name }
            if !known.contains(attribute) { attributes.append((attribute, "{\(column.name):\(unit.rawValue)}")) }
        } else if !samples.isEmpty, samples.allSatisfy({ $0.hasPrefix("http://") || $0.hasPrefix("https://") }) {
            if !known.contains("url") { attributes.append(("url", "{\(column.name)}")) }
        } else if !samples.isEmpty, samples.allSatisfy({ $0.hasPrefix("/") && $0.count > 1 }) {
            if !known.contains("contentURL") { attributes.append(("contentURL", "{\(column.name):file}")) }
        } else if Self.people.contains(name), !samples.isEmpty {
            if !known.contains("authorNames") { attributes.append(("authorNames", "{\(column.name):lines}")) }
        } else if Self.tags.contains(name), !samples.isEmpty, !known.contains("keywords") {
            let format =
                samples.contains { $0.contains(",") }
                ? "commas" : samples.contains { $0.hasPrefix("[") } ? "json" : "lines"
            attributes.append(("keywords", "{\(column.name):\(format)}"))
        }
    }

    /// Returns the time unit that fits all values in a column; `nil` for a column that contains no
    /// times.
    private static func unit(_ column: DatabaseSchema.Column, _ name: String) -> ColumnTimeUnit? {
        let samples = column.samples.filter { $0 != .null && $0 != .integer(0) && $0 != .text("") }
        guard !samples.isEmpty else { return nil }
        if samples.allSatisfy({ ColumnTimeUnit.iso.moment($0) != nil }) { return .iso }
        let words = [
            "date", "time", "created", "updated", "modified", "changed", "added", "published", "visit", "last", "due",
            "start", "end", "stamp", "edited", "read_at", "mtime", "ctime",
        ]
        guard words.contains(where: name.contains) || name.hasSuffix("_at") else { return nil }
        // The years 2001 to 2040, so that the ranges do not overlap.
        let ranges: [(ColumnTimeUnit, Range<Double>)] = [
            (.unix, 978e6..<2_209e6), (.unixMilliseconds, 978e9..<2_209e9), (.unixMicroseconds, 978e12..<2_209e12),
            (.webkit, 12_622e12..<13_854e12), (.julian, 2_451_910..<2_466_150), (.apple, 60e6..<978e6),
        ]
        return ranges.first { _, range in
            samples.allSatisfy { value in
                if case .text = value { return false }
                return value.number.map(range.contains) == true
            }
        }?.0
    }

    private static func dateAttribute(_ name: String) -> String {
        let words: [([String], String)] = [
            (["modif", "updat", "chang", "edit", "mtime"], "contentModificationDate"), (["due"], "dueDate"),
            (["visit", "last", "access", "opened", "used"], "lastUsedDate"), (["start"], "startDate"),
            (["end_", "_end"], "endDate"), (["complet", "finish"], "completionDate"),
            (["added", "import"], "addedDate"),
        ]
        return words.first { $0.0.contains(where: name.contains) }?.1 ?? "contentCreationDate"
    }

    /// A score for the suitability of the table as items; 0 if it has no key, or no title, text or
    /// URL.
    var score: Int {
        guard key != nil || table.hasRowNumbers else { return 0 }
        let hasAddress = attributes.contains { $0.name == "url" || $0.name == "contentURL" }
        guard title != nil || text != nil || hasAddress else { return 0 }
        return (title == nil ? 0 : 40) + (text == nil ? 0 : 30) + 10 * attributes.count + (key == nil ? 0 : 10)
            + "\(table.rows)".count
    }

    /// Returns a name that consists of letters in the table's name and that no other kind has.
    func name(besides names: inout Set<String>) -> String {
        let letters = String(
            decoding: table.name.lowercased().utf8.map { $0.isLetterOrDigit ? $0 : UInt8(ascii: "-") }, as: UTF8.self)
        var name = letters.hasSuffix("s") && letters.count > 3 ? String(letters.dropLast()) : letters
        while !names.insert(name).inserted { name += "-2" }
        return name
    }

    /// The names of the columns that are read.
    private var selected: [String] {
        table.columns.map(\.name).filter { column in
            [key, title, text, changed].contains(column)
                || attributes.contains { $0.template.hasPrefix("{\(column)}") || $0.template.hasPrefix("{\(column):") }
        }
    }

    private static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    /// Returns the entry for `Items`.
    func item(named name: String) -> JSONValue {
        let columns = (key == nil ? ["rowid AS row_number"] : []) + selected.map(Self.quoted)
        let heading =
            title ?? text ?? attributes.first { $0.name == "url" || $0.name == "contentURL" }
            .map { String($0.template.dropFirst().prefix { $0 != "}" && $0 != ":" }) } ?? ""
        let body = text.map { isHTML ? "{\($0):html}" : "{\($0)}" }
        var all = attributes + [("title", heading == text ? body ?? "" : "{\(heading)}")]
        if let body { all.append(("textContent", body)) }
        var fields: [JSONValue.Field] = [
            .init(key: "Name", value: .text(name)),
            .init(
                key: "Select", value: .text("SELECT \(columns.joined(separator: ", ")) FROM \(Self.quoted(table.name))")
            ),
            .init(key: "Key", value: .text(key ?? "row_number")),
        ]
        if let changed { fields.append(.init(key: "Changed", value: .text(changed))) }
        let url = all.first { $0.name == "url" }?.template
        fields.append(
            .init(
                key: "Type",
                value: .text(isHTML ? "public.html" : url != nil && text == nil ? "public.url" : "public.plain-text")))
        fields.append(
            .init(
                key: "Attributes",
                value: .object(all.sorted { $0.name < $1.name }.map { .init(key: $0.name, value: .text($0.template)) }))
        )
        let plain = body.map { heading == text ? $0 : "{\(heading)}\n\n\($0)\n" } ?? "{\(heading)}\n"
        let page =
            "<h1>{\(heading)\(heading == text && isHTML ? ":html" : "")}</h1>"
            + (body.map { isHTML ? $0 : "<pre>\($0)</pre>" } ?? "")
        var promises = [("public.utf8-plain-text", plain)]
        if isHTML { promises.insert(("public.html", page), at: 0) }
        if let url { promises.append(("public.url", url)) }
        fields.append(
            .init(
                key: "Promises",
                value: .list(
                    promises.map { type, template in
                        .object([
                            .init(key: "Type", value: .text(type)), .init(key: "Template", value: .text(template)),
                        ])
                    })))
        fields.append(
            .init(
                key: "Preview",
                value: .object([
                    .init(key: "Type", value: .text("public.html")), .init(key: "Template", value: .text(page)),
                ])))
        return .object(fields)
    }

    /// A line about the table.
    var note: String {
        let parts =
            [title.map { "title \($0)" }, text.map { "text \($0)" }].compactMap(\.self)
            + attributes.map { "\($0.name) \($0.template)" }
        let unused = table.columns.map(\.name).filter { !selected.contains($0) }
        return "\(table.name) (\(table.rows) \(table.rows == 1 ? "row" : "rows")): " + parts.joined(separator: ", ")
            + (unused.isEmpty ? "" : "; columns not used: " + unused.joined(separator: ", "))
    }
}

extension JSONValue {
    /// Returns the value as XML for a property list. Each line is indented by four spaces per
    /// level.
    package func propertyList(indented level: Int) -> String {
        let space = String(repeating: "    ", count: level)
        func element(_ name: String, _ text: String) -> String { "\(space)<\(name)>\(text)</\(name)>\n" }
        func escaped(_ text: String) -> String {
            text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        }
        switch self {
        case .null: return ""
        case .bool(let truth): return "\(space)<\(truth)/>\n"
        case .integer(let number): return element("integer", "\(number)")
        case .number(let number): return element("real", "\(number)")
        case .text(let text): return element("string", escaped(text))
        case .list(let values):
            return "\(space)<array>\n" + values.map { $0.propertyList(indented: level + 1) }.joined()
                + "\(space)</array>\n"
        case .object(let fields):
            return "\(space)<dict>\n"
                + fields.map { field in
                    "\(space)    <key>\(escaped(field.key))</key>\n" + field.value.propertyList(indented: level + 1)
                }.joined() + "\(space)</dict>\n"
        }
    }
}
