// SPDX-License-Identifier: Apache-2.0

/// A SELECT statement in a manifest, checked without a database: a single statement that only
/// reads, with balanced quotes and parentheses, and known parameters. SQLite checks the rest
/// against the schema.
package struct SelectStatement: Hashable, Sendable {
    /// The statement without a trailing semicolon.
    package let text: String
    /// The names of the result columns in order; `nil` if the text alone does not determine them,
    /// as with `*`.
    package let columns: [String]?

    /// The parameters of a SELECT for all rows: the path of the database file, the folder that
    /// contains it, and the home folder.
    package static let rowParameters = [":file", ":folder", ":home"]
    /// The parameters of a SELECT for one item, which include the item's key.
    package static let itemParameters = rowParameters + [":key"]

    /// Reads and checks a statement.
    ///
    /// - Throws: ``DatabaseBindingError``.
    init(_ text: String, at path: [String], parameters: [String]) throws(DatabaseBindingError) {
        let tokens = try SQLScanner.tokens(text, at: path)
        func refused(_ problem: String, _ advice: String) -> DatabaseBindingError {
            DatabaseBindingError(path, problem, advice)
        }
        guard let first = tokens.first, first.isWord("SELECT") || first.isWord("WITH") else {
            throw refused("It begins with “\(tokens.first?.text.prefix(20) ?? "")”", "Begin with SELECT or WITH")
        }
        var body = tokens
        if body.last?.text == ";" { body.removeLast() }
        guard !body.contains(where: { $0.text == ";" && $0.kind == .mark }) else {
            throw refused("It has two statements", "Give one SELECT")
        }
        var depth = 0
        for token in body where token.kind == .mark {
            if token.text == "(" { depth += 1 }
            if token.text == ")" { depth -= 1 }
            guard depth >= 0 else { break }
        }
        guard depth == 0 else { throw refused("Its parentheses do not match", "Close every parenthesis") }
        let verbs = ["SELECT", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE"]
        guard let verb = Self.top(body, from: 0, { token in verbs.contains(where: token.isWord) }),
            body[verb].isWord("SELECT")
        else { throw refused("It is not a SELECT", "Write a statement that reads") }
        for token in body where token.kind == .parameter && !parameters.contains(token.text) {
            throw DatabaseBindingError(
                path, "There is no parameter \(token.text)", "Use \(parameters.joined(separator: ", "))",
                misspelt: .init(name: token.text, known: parameters))
        }
        self.text = String(decoding: Array(text.utf8)[..<(body.last?.end ?? 0)], as: UTF8.self)
        columns = Self.columns(body)
    }

    /// Returns the names of the result columns; `nil` if the text does not determine them.
    private static func columns(_ tokens: [SQLScanner.Token]) -> [String]? {
        guard var start = top(tokens, from: 0, { $0.isWord("SELECT") }) else { return nil }
        start += 1
        if start < tokens.count, tokens[start].isWord("DISTINCT") || tokens[start].isWord("ALL") { start += 1 }
        let ends = ["FROM", "WHERE", "GROUP", "ORDER", "LIMIT", "WINDOW", "UNION", "EXCEPT", "INTERSECT", "HAVING"]
        var names: [String] = []
        var column: [SQLScanner.Token] = []
        var (depth, index) = (0, start)
        /// Adds the name of a finished column. Returns `false` if all columns of a table are
        /// selected.
        func finish() -> Bool {
            if column.last?.text == "*", column.count == 1 || column[column.count - 2].text == "." { return false }
            if let name = name(of: column) { names.append(name) }
            column = []
            return true
        }
        while index < tokens.count {
            let token = tokens[index]
            let isComparison = token.isWord("FROM") && index > 0 && tokens[index - 1].isWord("DISTINCT")
            if depth == 0, ends.contains(where: token.isWord), !isComparison { break }
            if depth == 0, token.kind == .mark, token.text == "," {
                guard finish() else { return nil }
            } else {
                column.append(token)
            }
            if token.kind == .mark { depth += token.text == "(" ? 1 : token.text == ")" ? -1 : 0 }
            index += 1
        }
        return finish() ? names : nil
    }

    private static func top(
        _ tokens: [SQLScanner.Token], from start: Int, _ isIt: (SQLScanner.Token) -> Bool
    ) -> Int? {
        var depth = 0
        for index in start..<tokens.count {
            if depth == 0, isIt(tokens[index]) { return index }
            if tokens[index].kind == .mark {
                depth += tokens[index].text == "(" ? 1 : tokens[index].text == ")" ? -1 : 0
            }
        }
        return nil
    }

    /// Returns the name of a result column: its alias, or the name of the selected column. An
    /// expression without an alias has no name that a template could use.
    private static func name(of column: [SQLScanner.Token]) -> String? {
        guard let last = column.last, last.kind == .word || last.kind == .quoted else { return nil }
        guard column.count > 1 else { return last.name }
        if last.isWord("END") || last.isWord("ISNULL") || last.isWord("NOTNULL") { return nil }
        let before = column[column.count - 2]
        switch before.kind {
        case .mark: return before.text == "." || before.text == ")" ? last.name : nil
        // After an operator, the last word is an operand.
        case .word: return operators.contains(where: before.isWord) ? nil : last.name
        case .quoted, .text, .number, .parameter: return last.name
        }
    }

    /// The words after which a word is an operand rather than an alias.
    private static let operators = [
        "AND", "OR", "NOT", "IS", "IN", "LIKE", "GLOB", "REGEXP", "MATCH", "BETWEEN", "COLLATE", "ESCAPE", "CASE",
        "WHEN", "THEN", "ELSE", "DISTINCT", "FROM",
    ]
}

/// One SELECT, or several for different versions of an app. The first one that fits the schema is
/// used.
package struct SelectAlternatives: Hashable, Sendable {
    package let statements: [SelectStatement]

    init(_ table: BindingTable, _ key: String, parameters: [String]) throws(DatabaseBindingError) {
        let texts = try table.texts(key, atMost: DatabaseLimits.alternatives, bytes: DatabaseLimits.selectBytes)
        var statements: [SelectStatement] = []
        for text in texts {
            statements.append(try SelectStatement(text, at: table.path + [key], parameters: parameters))
        }
        self.statements = statements
    }

    /// Checks that each statement has a column, if its text determines its columns.
    func check(_ column: String, at path: [String]) throws(DatabaseBindingError) {
        for columns in statements.compactMap(\.columns)
        where !columns.contains(where: { $0.lowercased() == column.lowercased() }) {
            throw DatabaseBindingError(
                path, column: column, "The SELECT does not return the column",
                "Select it, or name one of \(columns.joined(separator: ", "))",
                misspelt: .init(name: column, known: columns))
        }
    }
}

/// Splits SQL into tokens.
enum SQLScanner {
    enum Kind { case word, quoted, text, number, parameter, mark }

    struct Token {
        var kind: Kind
        var text: String
        /// The offset of the next byte.
        var end: Int

        func isWord(_ word: String) -> Bool { kind == .word && text.uppercased() == word }
        /// The name that a word or quoted name represents.
        var name: String {
            guard kind == .quoted, let quote = text.first, let last = text.last else { return text }
            let inside = text.dropFirst().dropLast()
            guard quote != "[" else { return String(inside) }
            return String(inside).replacing("\(last)\(last)", with: "\(last)")
        }
    }

    static func tokens(_ text: String, at path: [String]) throws(DatabaseBindingError) -> [Token] {
        let bytes = Array(text.utf8)
        var tokens: [Token] = []
        var place = 0
        func isNamePart(_ byte: UInt8) -> Bool {
            byte.isLetterOrDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
        }
        while place < bytes.count {
            let (start, byte) = (place, bytes[place])
            let next = place + 1 < bytes.count ? bytes[place + 1] : 0
            var kind = Kind.mark
            switch byte {
            case 0x09...0x0D, 0x20:
                place += 1
                continue
            case UInt8(ascii: "-") where next == byte:
                while place < bytes.count, bytes[place] != 0x0A { place += 1 }
                continue
            case UInt8(ascii: "/") where next == UInt8(ascii: "*"):
                place += 2
                while place + 1 < bytes.count,
                    bytes[place] != UInt8(ascii: "*") || bytes[place + 1] != UInt8(ascii: "/")
                {
                    place += 1
                }
                guard place + 1 < bytes.count else { throw open("A comment", path) }
                place += 2
                continue
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["):
                let closing = byte == UInt8(ascii: "[") ? UInt8(ascii: "]") : byte
                kind = byte == UInt8(ascii: "'") ? .text : .quoted
                place += 1
                while true {
                    guard place < bytes.count else { throw open("A quotation", path) }
                    if bytes[place] == closing {
                        let isDouble =
                            closing != UInt8(ascii: "]") && place + 1 < bytes.count && bytes[place + 1] == closing
                        place += isDouble ? 2 : 1
                        if !isDouble { break }
                    } else {
                        place += 1
                    }
                }
            case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "?"), UInt8(ascii: "#"):
                kind = .parameter
                place += 1
                while place < bytes.count, isNamePart(bytes[place]) { place += 1 }
            case let digit where (0x30...0x39).contains(digit):
                kind = .number
                while place < bytes.count, isNamePart(bytes[place]) || bytes[place] == UInt8(ascii: ".") { place += 1 }
            case let letter where isNamePart(letter):
                kind = .word
                while place < bytes.count, isNamePart(bytes[place]) { place += 1 }
                // A BLOB literal.
                if place - start == 1, letter | 0x20 == UInt8(ascii: "x"), place < bytes.count, bytes[place] == 0x27 {
                    kind = .text
                    place += 1
                    while place < bytes.count, bytes[place] != 0x27 { place += 1 }
                    guard place < bytes.count else { throw open("A quotation", path) }
                    place += 1
                }
            default: place += 1
            }
            tokens.append(Token(kind: kind, text: String(decoding: bytes[start..<place], as: UTF8.self), end: place))
        }
        return tokens
    }

    private static func open(_ what: String, _ path: [String]) -> DatabaseBindingError {
        DatabaseBindingError(path, "\(what) is not closed", "Close it")
    }
}
