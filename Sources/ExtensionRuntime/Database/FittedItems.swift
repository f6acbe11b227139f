// SPDX-License-Identifier: Apache-2.0
import DatabaseBindings
import ServiceMessages

/// A kind of item, with the SELECTs that fit a database.
struct FittedItem {
    let binding: ItemBinding
    /// The SELECT for all rows.
    let select: String
    /// The SELECTs for promises and the preview, by position; the preview's is the last.
    fileprivate let extra: [String?]

    /// Returns the SELECT for a promise's bytes.
    func select(ofPromise index: Int) -> String? { extra[index] }
    var selectOfPreview: String? { extra[binding.promises.count] }

    /// Returns the rows after a key, in key order.
    func rows(_ reader: DatabaseReader, after key: RowKey?) throws(BindingFailure) -> RowCursor {
        let column = Self.quoted(binding.key)
        let condition = key == nil ? "\(column) IS NOT NULL" : "\(column) > :after"
        return try cursor(
            reader, "SELECT * FROM (\n\(select)\n) WHERE \(condition) ORDER BY \(column)",
            key.map { [":after": $0.value] } ?? [:])
    }

    /// Returns the row with a key; `nil` if there is none.
    func row(_ reader: DatabaseReader, _ key: RowKey) throws(BindingFailure) -> Row? {
        try cursor(
            reader, "SELECT * FROM (\n\(select)\n) WHERE \(Self.quoted(binding.key)) = :after", [":after": key.value]
        ).next()
    }

    /// Returns the key of each row, with the values that differ after the row has changed.
    func states(_ reader: DatabaseReader) throws(BindingFailure) -> RowCursor {
        let columns = binding.changed.map { "\(Self.quoted(binding.key)), \(Self.quoted($0))" } ?? "*"
        return try cursor(reader, "SELECT \(columns) FROM (\n\(select)\n)", [:])
    }

    private func cursor(
        _ reader: DatabaseReader, _ text: String, _ parameters: [String: RowValue]
    ) throws(BindingFailure) -> RowCursor {
        do throws(SelectProblem) { return try reader.select(text, parameters: parameters) } catch {
            throw error.failure(of: reader.path)
        }
    }

    static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}

/// Checks that a database contains what a binding reads, before any of it is read.
enum SchemaCheck {
    /// Returns the kinds of items, each with the first SELECT that fits.
    ///
    /// - Throws: ``BindingFailure``, which names the key, the missing table or column, and what
    ///   exists instead.
    static func fit(_ binding: DatabaseBinding, _ reader: DatabaseReader) throws(BindingFailure) -> [FittedItem] {
        var items: [FittedItem] = []
        for (number, item) in binding.items.enumerated() {
            let path = "Items.\(number + 1)"
            let (select, columns) = try fit(item.select, "\(path).Select", reader)
            try check(item, columns, path, reader)
            var extra: [String?] = []
            for (position, promise) in item.promises.enumerated() {
                extra.append(try fit(promise.source, "\(path).Promises.\(position + 1)", reader))
            }
            extra.append(
                try item.preview.flatMap { (preview) throws(BindingFailure) in
                    try fit(preview.source, "\(path).Preview", reader)
                })
            items.append(FittedItem(binding: item, select: select, extra: extra))
        }
        return items
    }

    private static func fit(
        _ source: PromiseBinding.Source, _ path: String, _ reader: DatabaseReader
    ) throws(BindingFailure) -> String? {
        guard case .select(let alternatives) = source else { return nil }
        return try fit(alternatives, path + ".Select", reader).text
    }

    private static func fit(
        _ alternatives: SelectAlternatives, _ path: String, _ reader: DatabaseReader
    ) throws(BindingFailure) -> (text: String, columns: [String]) {
        var first: (SelectProblem, String)?
        for statement in alternatives.statements {
            do throws(SelectProblem) {
                return (statement.text, try reader.select(statement.text).columns)
            } catch {
                first = first ?? (error, statement.text)
            }
        }
        guard let (problem, text) = first else { throw BindingFailure(.failed, "\(path) has no SELECT") }
        // SQLITE_ERROR and SQLITE_AUTH come from compiling the statement, so the schema differs.
        // Other errors say nothing about the schema.
        guard problem.code == 1 || problem.code == 23 else { throw problem.failure(of: reader.path) }
        throw BindingFailure(
            .unsupported,
            """
            \(reader.path) does not fit Searchlight.Database.\(path): \(problem.message). \
            \(tables(reader, in: text)). The app may have another version; add a SELECT for it
            """)
    }

    private static func check(
        _ item: ItemBinding, _ columns: [String], _ path: String, _ reader: DatabaseReader
    ) throws(BindingFailure) {
        let known = Set(columns.map { $0.lowercased() })
        var wanted = [("Key", item.key)]
        if let changed = item.changed { wanted.append(("Changed", changed)) }
        if let type = item.type { wanted += type.columns.map { ("Type", $0) } }
        wanted += item.attributes.flatMap { attribute in
            attribute.template.columns.map { ("Attributes.\(attribute.name)", $0) }
        }
        for (position, promise) in item.promises.enumerated() {
            wanted += promise.columns.map { ("Promises.\(position + 1)", $0) }
        }
        wanted += item.preview?.columns.map { ("Preview", $0) } ?? []
        guard let missing = wanted.first(where: { !known.contains($0.1.lowercased()) }) else { return }
        throw BindingFailure(
            .unsupported,
            """
            \(reader.path) does not fit Searchlight.Database.\(path).\(missing.0): the SELECT does not return the column \
            \(missing.1), but \(columns.joined(separator: ", "))
            """)
    }

    /// Returns a phrase with the tables that a statement names, or else with all tables.
    private static func tables(_ reader: DatabaseReader, in text: String) -> String {
        let schema = (try? DatabaseSchema.read(reader, samples: 0)) ?? DatabaseSchema(tables: [])
        let words = Set(text.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        let named = schema.tables.filter { words.contains($0.name.lowercased()) }
        let shown = (named.isEmpty ? schema.tables : named).prefix(20)
        guard !shown.isEmpty else { return "It has no tables" }
        let list = shown.map { table in
            named.isEmpty
                ? table.name : "\(table.name) (\(table.columns.prefix(40).map(\.name).joined(separator: ", ")))"
        }
        return "It has \(list.joined(separator: "; "))"
    }
}

extension DatabaseSchema {
    /// The maximum number of tables that are read.
    private static let maximumTables = 500

    /// Reads the tables with their columns and some rows.
    ///
    /// - Parameter samples: The number of rows from each table.
    static func read(_ reader: DatabaseReader, samples: Int) throws(BindingFailure) -> DatabaseSchema {
        let names: RowCursor
        do throws(SelectProblem) {
            names = try reader.select(
                "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
                    + "ORDER BY type, rowid LIMIT \(maximumTables)")
        } catch { throw error.failure(of: reader.path) }
        var tables: [DatabaseSchema.Table] = []
        while let row = try names.next() {
            guard let name = row.values.first?.text else { continue }
            let table = FittedItem.quoted(name)
            // If a table belongs to a module that is not available, it cannot be read and is
            // omitted.
            guard let rows = try? reader.select("SELECT * FROM \(table) LIMIT \(max(samples, 1))") else { continue }
            var values = [[RowValue]](repeating: [], count: rows.columns.count)
            var count = 0
            do throws(BindingFailure) {
                while count < samples, let row = try rows.next() {
                    for (column, value) in row.values.enumerated() { values[column].append(value) }
                    count += 1
                }
            } catch {
                // A view without an end or a damaged table is omitted.
                continue
            }
            let total = samples == 0 ? 0 : self.count(reader, table) ?? count
            let keys = rows.columns.filter { reader.isKey($0, of: name) }
            // A view has no row numbers, and running it may take long.
            let hasRowNumbers =
                row.values.last?.text == "table" && (try? reader.select("SELECT rowid FROM \(table)")) != nil
            tables.append(
                DatabaseSchema.Table(
                    name: name, columns: zip(rows.columns, values).map { .init(name: $0, samples: $1) }, rows: total,
                    primaryKey: keys.count == 1 ? keys[0] : nil, hasRowNumbers: hasRowNumbers))
        }
        return DatabaseSchema(tables: tables)
    }

    private static func count(_ reader: DatabaseReader, _ table: String) -> Int? {
        guard let cursor = try? reader.select("SELECT count(*) FROM (SELECT 1 FROM \(table) LIMIT 1000000)"),
            case .integer(let count)? = (try? cursor.next())??.values.first
        else { return nil }
        return Int(count)
    }
}
