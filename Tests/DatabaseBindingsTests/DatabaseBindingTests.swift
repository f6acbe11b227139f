// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import JSONText
import TestSupport
import Testing

@testable import DatabaseBindings

/// Returns a binding from JSON text instead of a property list.
func binding(_ json: String) throws -> DatabaseBinding { try DatabaseBinding(json: json) }

/// Returns a binding with one kind of item that has these fields instead of the usual ones.
func item(_ fields: String = "", select: String = "SELECT id, title, body, changed FROM notes") throws -> ItemBinding {
    let own = fields.isEmpty ? "" : ", " + fields
    let attributes = fields.contains("\"Attributes\"") ? "" : #", "Attributes": {"title": "{title}"}"#
    return try binding(
        #"{"Files": ["~/notes.db"], "Items": [{"Name": "note", "Select": "\#(select)", "Key": "id"\#(attributes)\#(own)}]}"#
    ).items[0]
}

/// Returns the error that a closure throws.
func problem(_ body: () throws -> some Any) -> DatabaseBindingError? {
    do { _ = try body() } catch { return error as? DatabaseBindingError }
    return nil
}

@Suite("A database binding")
struct DatabaseBindingTests {
    @Test("is read with its files, SELECTs, attributes, promises and preview, and again from its own text")
    func whole() throws {
        let read = try binding(
            """
            {"Files": ["~/.config/joplin/*/database.sqlite", "$XDG_DATA_HOME/j.db"], "Items": [{
                "Name": "note", "Select": ["SELECT id, title, body AS text, t FROM notes", "SELECT * FROM old"],
                "Key": "id", "Changed": "t", "Type": "net.daringfireball.markdown",
                "Attributes": {"title": "{title}", "contentModificationDate": "{t:unix-ms}", "com_example_x": "{t}"},
                "Promises": [{"Type": "public.html", "Template": "<p>{text}</p>"},
                             {"Type": "public.png", "Select": "SELECT data FROM images WHERE note = :key"},
                             {"Type": "{title}", "File": "{text}"}],
                "Preview": {"Type": "public.html", "Title": "{title}", "Template": "<h1>{title}</h1>"}}]}
            """)
        let note = read.items[0]
        #expect(read.files.count == 2 && note.select.statements.count == 2)
        #expect(note.select.statements[0].columns == ["id", "title", "text", "t"])
        #expect(note.select.statements[1].columns == nil)
        #expect(note.attributes.map(\.name) == ["com_example_x", "contentModificationDate", "title"])
        #expect(note.promises.count == 3 && note.preview?.type == "public.html" && note.changed == "t")
        #expect(try DatabaseBinding(json: read.json) == read)
    }

    @Test(
        "with an error is rejected with the key, the column and the remedy",
        arguments: [
            (#"{"Files": [], "Items": []}"#, "Files", nil, "array of 1 to"),
            (#"{"Files": ["a"], "Itms": []}"#, "Itms", nil, "Files, Items"),
            (#"{"Files": [1], "Items": []}"#, "Files", nil, "only texts"),
            (#"{"Files": ["a"], "Items": [{}]}"#, "Items.1.Name", nil, "Add it"),
            (#"{"Files": ["a"], "Items": [{"Name": "a/b"}]}"#, "Items.1.Name", nil, "letters"),
            (
                #"{"Files": ["a"], "Items": [{"Name": "n", "Select": "DELETE FROM notes"}]}"#, "Items.1.Select", nil,
                "SELECT"
            ),
            (
                #"{"Files": ["a"], "Items": [{"Name": "n", "Select": "WITH q AS (SELECT 1) DELETE FROM notes"}]}"#,
                "Items.1.Select", nil, "reads"
            ),
            (
                #"{"Files": ["a"], "Items": [{"Name": "n", "Select": "SELECT 1; DROP TABLE x"}]}"#, "Items.1.Select",
                nil, "one"
            ),
            (
                #"{"Files": ["a"], "Items": [{"Name": "n", "Select": "SELECT (1"}]}"#, "Items.1.Select", nil,
                "Close every"
            ),
            (#"{"Files": ["a"], "Items": [{"Name": "n", "Select": "SELECT 'a"}]}"#, "Items.1.Select", nil, "Close it"),
            (#"{"Files": ["a"], "Items": [{"Name": "n", "Select": "SELECT :kee"}]}"#, "Items.1.Select", nil, ":folder"),
        ] as [(String, String, String?, String)])
    func refused(text: String, key: String, column: String?, advice: String) throws {
        let error = try #require(problem { try binding(text) })
        #expect(error.key == key && error.column == column && error.advice.contains(advice), "\(error)")
    }

    @Test("with a column in a template that the SELECT lacks is rejected with both names")
    func columns() throws {
        let title = try #require(problem { try item(#""Attributes": {"title": "{titel}"}"#) })
        #expect(title.key == "Items.1.Attributes.title" && title.column == "titel")
        #expect(title.misspelt?.known == ["id", "title", "body", "changed"], "\(title)")
        #expect(problem { try item(#""Changed": "mtime""#) }?.key == "Items.1.Changed")
        #expect(problem { try item(#""Type": "{kind}""#) }?.key == "Items.1.Type")
        let promise = problem { try item(#""Promises": [{"Type": "public.html", "Template": "{x}"}]"#) }
        #expect(promise?.key == "Items.1.Promises.1.Template" && promise?.column == "x")
        #expect(problem { try item(#""Preview": {"Type": "public.html", "Title": "{y}", "Template": ""}"#) } != nil)
        // The columns of “*” are known only from the database.
        _ = try item(#""Attributes": {"title": "{titel}"}"#, select: "SELECT * FROM notes")
    }

    @Test("with a template that does not fit the attribute is rejected")
    func attributes() throws {
        func error(_ name: String, _ template: String) -> DatabaseBindingError? {
            problem { try item(#""Attributes": {"\#(name)": "\#(template)"}"#) }
        }
        #expect(error("contentCreationDate", "{changed}")?.column == "changed")
        #expect(error("contentCreationDate", "{changed}")?.advice.contains("unix-ms") == true)
        #expect(error("contentCreationDate", "since {changed:unix}")?.advice.contains("{column:unix}") == true)
        #expect(error("authors", "{title}, {body}") != nil && error("rating", "{title} of 5") != nil)
        #expect(error("titel", "{title}")?.misspelt?.known.contains("title") == true)
        #expect(error("uniqueIdentifier", "{title}") != nil && error("emailHeaders", "{title}") != nil)
        #expect(error("title", "{title") != nil && error("title", "title}") != nil && error("title", "{}") != nil)
        #expect(error("title", "{title:unx}")?.misspelt?.known.contains("unix") == true)
        #expect(error("title", "{{title}}") == nil && error("com_example_yield", "{body}") == nil)
    }

    @Test("has one source for each promise, and a preview of a displayable type")
    func sources() throws {
        func error(_ fields: String) -> String? { problem { try item(fields) }?.key }
        #expect(error(#""Promises": [{"Type": "a.b"}]"#) == "Items.1.Promises.1")
        #expect(error(#""Promises": [{"Type": "a.b", "File": "{body}", "Template": ""}]"#) == "Items.1.Promises.1")
        #expect(error(#""Preview": {"Type": "public.movie", "Template": "x"}"#) == "Items.1.Preview.Type")
        #expect(error(#""Preview": {"Type": "public.png", "Select": "SELECT a FROM b WHERE c = :key"}"#) == nil)
    }

    @Test("is bounded in each count and length")
    func limits() throws {
        let files = (0...DatabaseLimits.files).map { "\"~/\($0).db\"" }.joined(separator: ",")
        #expect(problem { try binding("{\"Files\": [\(files)], \"Items\": []}") }?.key == "Files")
        let long = String(repeating: "x", count: DatabaseLimits.selectBytes)
        #expect(problem { try item(select: "SELECT \(long)") }?.key == "Items.1.Select")
        let many = String(repeating: "{title}", count: DatabaseLimits.placeholders + 1)
        #expect(problem { try item(#""Attributes": {"title": "\#(many)"}"#) }?.key == "Items.1.Attributes.title")
    }
}

@Suite("The result columns of a SELECT")
struct SelectStatementTests {
    private func columns(_ text: String) throws -> [String]? {
        try SelectStatement(text, at: [], parameters: SelectStatement.rowParameters).columns
    }

    @Test(
        "are known from its text",
        arguments: [
            ("SELECT a, t.b, \"c d\", [e], `f` FROM t", ["a", "b", "c d", "e", "f"]),
            ("SELECT n.id key, \"my col\" x, 1 y, 'a' z FROM notes n", ["key", "x", "y", "z"]),
            ("SELECT a ISNULL, b OR c, CASE WHEN a THEN b END FROM t", []),
            ("select distinct a as x, max(b, (SELECT c FROM d)) AS \"y\" from t", ["x", "y"]),
            ("SELECT a x, count(*) n, CASE WHEN a THEN b END z, a || b, 'FROM' AS w FROM t", ["x", "n", "z", "w"]),
            ("WITH q(a) AS (SELECT 1, 2), r AS (SELECT * FROM q) SELECT a, b FROM q", ["a", "b"]),
            ("SELECT a IS DISTINCT FROM b AS same, c FROM t -- , d\n /* , e */", ["same", "c"]),
            ("SELECT a FROM t UNION SELECT b, c FROM u", ["a"]), ("VALUES", nil), ("SELECT 1", []),
        ] as [(String, [String]?)])
    func known(text: String, names: [String]?) throws {
        guard text != "VALUES" else {
            #expect(problem { try columns("VALUES (1)") } != nil)
            return
        }
        #expect(try columns(text) == names)
    }

    @Test("are unknown with all columns of a table", arguments: ["SELECT * FROM t", "SELECT a, t.* FROM t"])
    func unknown(text: String) throws { #expect(try columns(text) == nil) }

    @Test("do not include a semicolon at the end")
    func end() throws {
        let statement = try SelectStatement("SELECT ';' AS a FROM t; -- end", at: [], parameters: [])
        #expect(statement.text == "SELECT ';' AS a FROM t" && statement.columns == ["a"])
    }

    @Test("of random text never trap")
    func random() {
        var generator = SplitMix64(seed: MutationLoop.seed)
        let pieces = [
            "SELECT", " ", "FROM", "(", ")", "'", "\"", "[", "]", "`", "--", "/*", "*/", ",", "*", ".", "a", ":key",
            ";",
            "x'", "WITH", "AS", "é", "\n", "1",
        ]
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 1...20, using: &generator)).map { _ in generator.pick(pieces) }
                .joined()
            _ = try? SelectStatement("SELECT " + text, at: [], parameters: [":key"])
            _ = try? DatabaseTemplate("{" + text + "}", at: [])
            _ = MarkupText.plain("<" + text + "&" + text)
        }
    }
}
