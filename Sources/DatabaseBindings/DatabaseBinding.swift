// SPDX-License-Identifier: Apache-2.0
import JSONText

/// The contents of `Searchlight.Database` in a manifest: the files of an app's SQLite database, and
/// the SELECT statements whose rows become items.
///
/// ```swift
/// let binding = try DatabaseBinding(.object(fields))
/// binding.items[0].select.texts   // ["SELECT id, title FROM notes"]
/// ```
///
/// The host checks a manifest with this type, and the worker reads the same text again. A pure
/// value.
package struct DatabaseBinding: Hashable, Sendable {
    /// The paths of the database files, as in the manifest. Names below a readable path may contain
    /// `*`.
    package let files: [String]
    /// The kinds of items, in manifest order.
    package let items: [ItemBinding]
    /// The manifest's dictionary as JSON text, for ``init(json:)``.
    package let json: String

    /// Reads and checks the dictionary.
    ///
    /// - Throws: ``DatabaseBindingError`` for the first error.
    package init(_ value: JSONValue) throws(DatabaseBindingError) {
        let table = try BindingTable(value, at: [], known: ["Files", "Items"])
        files = try table.texts("Files", atMost: DatabaseLimits.files, bytes: DatabaseLimits.pathBytes)
        var items: [ItemBinding] = []
        for (number, entry) in try table.list("Items", atMost: DatabaseLimits.items).enumerated() {
            let item = try ItemBinding(entry, at: ["Items", "\(number + 1)"])
            guard !items.contains(where: { $0.name == item.name }) else {
                throw DatabaseBindingError(
                    ["Items", "\(number + 1)", "Name"], "Another entry has the name \(item.name)",
                    "Give each entry a name of its own")
            }
            items.append(item)
        }
        self.items = items
        json = value.json
    }

    /// Reads the text that ``json`` contains.
    ///
    /// - Throws: ``DatabaseBindingError``.
    package init(json: String) throws(DatabaseBindingError) {
        let value: JSONValue
        do throws(JSONProblem) {
            value = try JSONValue(reading: ArraySlice(json.utf8), maximumDepth: DatabaseLimits.depth)
        } catch {
            throw DatabaseBindingError([], "The dictionary cannot be read: \(error.text)", "Report this")
        }
        try self.init(value)
    }
}

/// The rows of a SELECT as items of one kind.
package struct ItemBinding: Hashable, Sendable {
    /// The name, with which the items' identifiers begin.
    package let name: String
    /// The statement for all rows.
    package let select: SelectAlternatives
    /// The column that identifies a row. Its values must be unique and must not change.
    package let key: String
    /// The column whose value changes with each change to a row; `nil` to compare whole rows.
    package let changed: String?
    /// The content type of an item.
    package let type: DatabaseTemplate?
    /// The attributes, sorted by name.
    package let attributes: [AttributeBinding]
    /// The promises, best first.
    package let promises: [PromiseBinding]
    /// The preview; `nil` for the host's default preview.
    package let preview: PreviewBinding?

    private static let keys = ["Name", "Select", "Key", "Changed", "Type", "Attributes", "Promises", "Preview"]

    init(_ value: JSONValue, at path: [String]) throws(DatabaseBindingError) {
        let table = try BindingTable(value, at: path, known: Self.keys)
        name = try table.text("Name", bytes: DatabaseLimits.nameBytes)
        guard name.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }) else {
            throw table.error("Name", "“\(name.cut)” is not a valid name", "Use letters, digits, “-” and “_”")
        }
        select = try SelectAlternatives(table, "Select", parameters: SelectStatement.rowParameters)
        let key = try table.text("Key", bytes: DatabaseLimits.nameBytes)
        self.key = key
        changed = try table.optionalText("Changed", bytes: DatabaseLimits.nameBytes)
        try select.check(key, at: path + ["Key"])
        if let changed { try select.check(changed, at: path + ["Changed"]) }
        type = try table.optionalText("Type", bytes: DatabaseLimits.templateBytes).map {
            (text) throws(DatabaseBindingError) in try DatabaseTemplate(text, at: path + ["Type"])
        }
        attributes = try Self.attributes(table)
        promises = try table.optionalList("Promises", atMost: DatabaseLimits.promises).enumerated().map {
            (number, entry) throws(DatabaseBindingError) in
            try PromiseBinding(entry, at: path + ["Promises", "\(number + 1)"])
        }
        preview = try table["Preview"].map { (entry) throws(DatabaseBindingError) in
            try PreviewBinding(entry, at: path + ["Preview"])
        }
        var templates = attributes.map { ($0.template, path + ["Attributes", $0.name]) }
        if let type { templates.append((type, path + ["Type"])) }
        for (number, promise) in promises.enumerated() {
            templates += promise.templates.map { ($0.1, path + ["Promises", "\(number + 1)", $0.0]) }
        }
        if let preview { templates += preview.templates.map { ($0.1, path + ["Preview", $0.0]) } }
        for (template, path) in templates {
            for column in template.columns { try select.check(column, at: path) }
        }
    }

    private static func attributes(_ table: BindingTable) throws(DatabaseBindingError) -> [AttributeBinding] {
        guard let value = table["Attributes"] else {
            throw table.error("Attributes", "It is missing", "Add it: a dictionary of attributes and templates")
        }
        let path = table.path + ["Attributes"]
        guard case .object(let fields) = value, (1...DatabaseLimits.attributes).contains(fields.count) else {
            throw DatabaseBindingError(
                path, "It is \(value.shown)",
                "Give a dictionary of 1 to \(DatabaseLimits.attributes) attributes, such as title: {title}")
        }
        var attributes: [AttributeBinding] = []
        for field in fields.sorted(by: { $0.key < $1.key }) {
            attributes.append(try AttributeBinding(field.key, field.value, at: path + [field.key]))
        }
        return attributes
    }
}

/// A representation of an item that is created on request.
package struct PromiseBinding: Hashable, Sendable {
    /// The source of the bytes.
    package enum Source: Hashable, Sendable {
        /// Text that contains column values.
        case template(DatabaseTemplate)
        /// The first column of the first row of a SELECT, as text or BLOB.
        case select(SelectAlternatives)
        /// The path of a file. The receiver gets the file itself.
        case file(DatabaseTemplate)
    }
    /// The type. If it is empty for an item, the item does not have this promise.
    package let type: DatabaseTemplate
    package let source: Source

    init(_ value: JSONValue, at path: [String]) throws(DatabaseBindingError) {
        let table = try BindingTable(value, at: path, known: ["Type", "Template", "Select", "File"])
        type = try DatabaseTemplate(try table.text("Type", bytes: DatabaseLimits.templateBytes), at: path + ["Type"])
        source = try table.source(["Template", "Select", "File"])
    }

    /// The templates, with their keys.
    var templates: [(String, DatabaseTemplate)] {
        switch source {
        case .template(let template): [("Type", type), ("Template", template)]
        case .file(let template): [("Type", type), ("File", template)]
        case .select: [("Type", type)]
        }
    }

    /// The columns used in all templates.
    package var columns: [String] { templates.flatMap { $0.1.columns } }

    /// Returns how values in a promise's template are escaped: as HTML for HTML types.
    package static func escaping(of type: String) -> DatabaseTemplate.Escaping {
        ["public.html", "public.xhtml"].contains(type.lowercased()) ? .html : .none
    }
}

/// The preview of an item.
package struct PreviewBinding: Hashable, Sendable {
    /// One of the types that a preview may have.
    package let type: String
    package let title: DatabaseTemplate?
    package let source: PromiseBinding.Source

    private static let types = [
        "public.html", "public.plain-text", "public.utf8-plain-text", "public.rtf", "public.png", "public.jpeg",
        "com.adobe.pdf",
    ]

    init(_ value: JSONValue, at path: [String]) throws(DatabaseBindingError) {
        let table = try BindingTable(value, at: path, known: ["Type", "Title", "Template", "Select", "File"])
        type = try table.text("Type", bytes: DatabaseLimits.templateBytes)
        guard Self.types.contains(type) else {
            throw table.error(
                "Type", "A preview cannot have the type \(type.cut)", "Use one of \(Self.types.joined(separator: ", "))"
            )
        }
        title = try table.optionalText("Title", bytes: DatabaseLimits.templateBytes).map {
            (text) throws(DatabaseBindingError) in try DatabaseTemplate(text, at: path + ["Title"])
        }
        source = try table.source(["Template", "Select", "File"])
    }

    /// The columns used in all templates.
    package var columns: [String] { templates.flatMap { $0.1.columns } }

    var templates: [(String, DatabaseTemplate)] {
        var templates: [(String, DatabaseTemplate)] = []
        if let title { templates.append(("Title", title)) }
        switch source {
        case .template(let template): templates.append(("Template", template))
        case .file(let template): templates.append(("File", template))
        case .select: break
        }
        return templates
    }
}

extension BindingTable {
    /// Reads the source of the bytes, which exactly one of several keys specifies.
    fileprivate func source(_ keys: [String]) throws(DatabaseBindingError) -> PromiseBinding.Source {
        let given = keys.filter { self[$0] != nil }
        guard given.count == 1, let key = given.first else {
            throw DatabaseBindingError(
                path,
                given.isEmpty ? "The source of its bytes is missing" : "It has \(given.joined(separator: " and "))",
                "Give exactly one of \(keys.joined(separator: ", "))")
        }
        if key == "Select" {
            return .select(try SelectAlternatives(self, key, parameters: SelectStatement.itemParameters))
        }
        let template = try DatabaseTemplate(try text(key, bytes: DatabaseLimits.templateBytes), at: path + [key])
        return key == "File" ? .file(template) : .template(template)
    }
}

/// The limits for a database binding and its data.
package enum DatabaseLimits {
    /// The maximum number of `Files`.
    package static let files = 16
    /// The maximum number of files that the patterns may match. Further files are left out with a
    /// warning.
    package static let matchedFiles = 64
    /// The maximum number of `Items`.
    package static let items = 16
    /// The maximum number of attributes of an item.
    package static let attributes = 64
    /// The maximum number of promises of an item.
    package static let promises = 16
    /// The maximum number of alternative SELECTs.
    package static let alternatives = 4
    /// The maximum length of a path, in bytes.
    package static let pathBytes = 1024
    /// The maximum length of the name of a kind, column or attribute, in bytes.
    package static let nameBytes = 255
    /// The maximum length of a SELECT, in bytes.
    package static let selectBytes = 16 << 10
    /// The maximum length of a template, in bytes.
    package static let templateBytes = 32 << 10
    /// The maximum number of placeholders in a template.
    package static let placeholders = 128
    /// The maximum nesting depth of the dictionary.
    package static let depth = 8
    /// The maximum length of a key as text, in bytes.
    package static let keyBytes = 1024
    /// The maximum number of bytes of a text that becomes an attribute. The rest is left out.
    package static let textBytes = 4 << 20
    /// The maximum size of a rendered promise or preview, or of a value in a row, in bytes.
    package static let valueBytes = 16 << 20
    /// The maximum number of values in a list attribute.
    package static let elements = 1000
}

extension UInt8 {
    var isLetterOrDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
