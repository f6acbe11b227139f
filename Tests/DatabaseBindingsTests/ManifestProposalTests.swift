// SPDX-License-Identifier: Apache-2.0
import JSONText
import Testing

@testable import DatabaseBindings

@Suite("The proposal for an unknown database")
struct ManifestProposalTests {
    private func table(_ name: String, _ columns: [(String, [RowValue])]) -> DatabaseSchema.Table {
        DatabaseSchema.Table(
            name: name, columns: columns.map { DatabaseSchema.Column(name: $0.0, samples: $0.1) },
            rows: columns.first?.1.count ?? 0)
    }

    private func proposal(_ tables: DatabaseSchema.Table...) throws -> (ManifestProposal, DatabaseBinding) {
        let made = try #require(ManifestProposal(DatabaseSchema(tables: tables), file: "~/App/data.db"))
        return (made, try DatabaseBinding(made.value))
    }

    @Test("finds key, title, text, moments with their units, address, tags and the column for changes")
    func columns() throws {
        let (made, binding) = try proposal(
            table(
                "Notes",
                [
                    ("_id", [.integer(1), .integer(2)]), ("subject", [.text("a"), .text("b")]),
                    ("body", [.text("<p>x</p>"), .text("<b>y</b>")]), ("created", [.integer(1_600_000_000), .null]),
                    ("modified_at", [.integer(1_600_000_000_000), .integer(1_600_000_000_001)]),
                    ("due_date", [.text("2026-11-27"), .text("")]), ("link", [.text("https://a.example"), .null]),
                    ("author", [.text("Ann"), .null]), ("tags", [.text("x, y"), .null]),
                    ("flags", [.integer(3), .integer(4)]),
                ]))
        let item = binding.items[0]
        #expect(item.name == "note" && item.key == "_id" && item.changed == "modified_at")
        let row = Row([
            ("_id", .integer(1)), ("subject", .text("a")), ("body", .text("<p>x &amp; z</p>")),
            ("created", .integer(1_600_000_000)),
            ("modified_at", .integer(1_600_000_000_000)), ("due_date", .text("2026-11-27")),
            ("link", .text("https://a.example")),
            ("author", .text("Ann")), ("tags", .text("x, y")),
        ])
        let record = item.record(row, identifier: "note/1", domain: "note")
        #expect(
            record.text("title") == "a" && record.text("textContent") == "x & z\n"
                && record.texts("keywords") == ["x", "y"])
        #expect(record.attributes["contentCreationDate"] == .date(621_692_800))
        #expect(record.attributes["contentModificationDate"] == .date(621_692_800))
        #expect(record.attributes["dueDate"] != nil && record.attributes["url"] == .url("https://a.example"))
        #expect(record.texts("authorNames") == ["Ann"] && item.preview != nil)
        #expect(
            record.texts("providerDataTypeIdentifiers") == ["public.html", "public.utf8-plain-text", "public.url"])
        let without = item.record(Row([("_id", .integer(1)), ("subject", .text("a"))]), identifier: "n", domain: "n")
        #expect(without.texts("providerDataTypeIdentifiers") == ["public.html", "public.utf8-plain-text"])
        #expect(made.notes[0].hasPrefix("Notes (2 rows): title subject, text body"), "\(made.notes)")
    }

    @Test("uses the declared primary key, and proposes no table without a key and without row numbers")
    func declaredKey() throws {
        let texts: [RowValue] = [.text("a"), .text("b")]
        var books = table("books", [("isbn", texts), ("name", [.text("Moby"), .text("Dick")])])
        (books.primaryKey, books.hasRowNumbers) = ("isbn", false)
        books.columns.append(.init(name: "latin", samples: texts))
        var pairs = table("pairs", [("a", texts), ("name", texts)])
        pairs.hasRowNumbers = false
        let (made, binding) = try proposal(books, pairs)
        #expect(binding.items.map(\.key) == ["isbn"] && made.notes.last == "not used: pairs", "\(made.notes)")
        #expect(made.notes.first == "books (2 rows): title name; columns not used: latin", "\(made.notes)")
        #expect(binding.items[0].select.statements.map(\.text) == [#"SELECT "isbn", "name" FROM "books""#])
    }

    @Test(
        "omits indexes of words, empty tables and invalid names, gives kinds different names, and uses row numbers without a key"
    )
    func tables() throws {
        let texts: [RowValue] = [.text("a"), .text("b")]
        let (made, binding) = try proposal(
            table("docs", [("title", texts), ("body\u{1}", texts), ("{note}", texts)]),
            table("docs_content", [("title", texts)]), table("docs\u{7}", [("title", texts)]),
            table("Docs!", [("name", texts)]),
            table("empty", [("title", [])]), table("odd", [("a:b", texts), ("x", [.integer(1)])]))
        #expect(binding.items.map(\.key) == ["row_number", "row_number"] && Set(binding.items.map(\.name)).count == 2)
        #expect(made.notes.last == "not used: empty (empty), odd", "\(made.notes)")
        #expect(ManifestProposal(DatabaseSchema(tables: [table("n", [("x", [.integer(1)])])]), file: "a") == nil)
    }

    @Test("is a property list")
    func plist() throws {
        let value = JSONValue.object([
            .init(key: "a<b", value: .list([.text("x & <y>"), .integer(3), .bool(true)]))
        ])
        #expect(
            value.propertyList(indented: 1) == """
                    <dict>
                        <key>a&lt;b</key>
                        <array>
                            <string>x &amp; &lt;y&gt;</string>
                            <integer>3</integer>
                            <true/>
                        </array>
                    </dict>

                """)
    }
}
