// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord
import MetadataQuery
import TextAnalysis

/// A predicate expressed as lookups in the attribute index.
struct IndexTest {
    /// The lookups. `isExact` is `true` if every row found is a match. An item is a candidate if
    /// one of the lookups finds it.
    var tests: [(test: AttributeLookup.Test, isExact: Bool)]
    /// The type identifier to which a type may conform.
    var literal: String?

    static var presence: IndexTest { IndexTest(.presence, isExact: true) }
    static var never: IndexTest { IndexTest() }

    init() { tests = [] }

    /// The tests that match values other than texts.
    var withoutTexts: IndexTest {
        var test = self
        test.tests.removeAll { test, _ in
            switch test {
            case .texts: true
            case .values(let values): values.contains { if case .string = $0.storage { true } else { false } }
            case .presence, .numbers: false
            }
        }
        return test
    }

    init(_ test: AttributeLookup.Test, isExact: Bool) { tests = [(test, isExact)] }

    var isPresence: Bool { if case .presence? = tests.first?.test { true } else { false } }
}

extension QueryCompiler {
    func compile(_ comparison: Comparison) throws -> Result {
        let result = try find(IndexTest(comparison, context: context), comparison.attribute, comparison)
        return comparison.operation == .notEqual ? Self.negation(result) : result
    }

    func compile(_ range: RangePredicate) throws -> Result {
        try find(IndexTest(range, context: context), range.attribute, nil)
    }

    private func find(_ test: IndexTest, _ attribute: AttributeSelector, _ comparison: Comparison?) throws -> Result {
        switch attribute {
        case .named("uniqueIdentifier"): return try findIdentifier(test, comparison)
        case .named(AttributeKind.typeTree): return try findType(test)
        case .named(let name):
            guard let number = try AttributeIndex.number(of: name, db) else {
                return Result(candidates: .nothing, isExact: true)
            }
            return try find(test, [NumberedName(name: name, number: number)], comparison)
        case .anyAttribute:
            guard let names = try defaultNames() else { return .unrestricted }
            return try find(test, names, comparison)
        }
    }

    private func find(_ test: IndexTest, _ attributes: [NumberedName], _ comparison: Comparison?) throws -> Result {
        if let comparison, let result = try findWords(test, attributes, comparison) { return result }
        return try find(test, names: attributes.map(\.number))
    }

    /// Returns the items for which one of the attributes passes the test.
    func find(_ test: IndexTest, names: [Int64]) throws -> Result {
        guard !names.isEmpty, !test.tests.isEmpty else { return Result(candidates: .nothing, isExact: true) }
        var sets: [CandidateSet] = []
        var isExact = true
        for (test, isExactTest) in test.tests {
            let lookup = AttributeLookup(names: names, test: test)
            // An empty lookup keeps the result exact: most numbers do not occur as texts.
            if !isExactTest, case .values = test, try isEmpty(lookup) { continue }
            sets.append(.rows(lookup))
            isExact = isExact && isExactTest
        }
        if test.isPresence { return Result(candidates: .union(sets), isExact: true) }
        let unknown = AttributeLookup(names: names, test: .values([AttributeRows.unknown]))
        if try !isEmpty(unknown) {
            sets.append(.rows(unknown))
            isExact = false
        }
        return Result(candidates: .union(sets), isExact: isExact)
    }

    private func isEmpty(_ lookup: AttributeLookup) throws -> Bool {
        var fragment = SQLFragment()
        lookup.select(&fragment)
        fragment.append(" LIMIT 1")
        return try Int64.fetchOne(db, sql: fragment.sql, arguments: StatementArguments(fragment.arguments)) == nil
    }

    /// Returns the attributes that `**` covers; `nil` if there are too many, or if some are
    /// special.
    private func defaultNames() throws -> [NumberedName]? {
        if let known = cache.defaultNames { return known }
        let names = try findDefaultNames()
        cache.defaultNames = .some(names)
        return names
    }

    private func findDefaultNames() throws -> [NumberedName]? {
        guard !AttributeKind.special.contains(where: context.isSearchableByDefault) else { return nil }
        var found: [NumberedName] = []
        if try AttributeIndex.hasSearchableByDefault(db) {
            found.append(NumberedName(name: "", number: AttributeIndex.searchableByDefault))
        }
        let names = try Row.fetchCursor(db, sql: "SELECT id, name FROM attribute_name ORDER BY id")
        var seen = 0
        while let row = try names.next() {
            seen += 1
            guard seen <= 65_536, found.count < 1024 else { return nil }
            let name = try row.decode(String.self, forColumn: "name")
            if context.isSearchableByDefault(name) {
                found.append(NumberedName(name: name, number: try row.decode(forColumn: "id")))
            }
        }
        return found
    }

    // MARK: Identifiers

    private func findIdentifier(_ test: IndexTest, _ comparison: Comparison?) throws -> Result {
        if test.isPresence { return Result(candidates: .everything, isExact: true) }
        guard let comparison, !comparison.operation.isOrdering else {
            return Result(candidates: .nothing, isExact: true)
        }
        let pattern: TextPattern
        switch comparison.value {
        case .text(let text): pattern = text
        case .number(let number): pattern = TextPattern(literal: number.spelling)
        case .time: return Result(candidates: .nothing, isExact: true)
        }
        guard comparison.options.isEmpty else { return .unrestricted }
        let isWhole = context.maximumTextLength >= ItemRecord.maximumIdentifierBytes
        // Identifiers that are not ASCII have rows like other attributes.
        let other = try AttributeIndex.number(of: "uniqueIdentifier", db)
        var results = try other.map { [try find(test, names: [$0])] } ?? []
        func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { (1..<0x80).contains($0) } }
        if let literal = pattern.literal {
            let identifier = TextFolding.folded(literal, case: false, diacritics: false)
            if isPlain(identifier) {
                results.append(Result(candidates: .identifiers(.equal(identifier)), isExact: other == nil && isWhole))
            }
        } else if case .literal(let literal)? = pattern.elements.first {
            let start = TextFolding.folded(literal, case: false, diacritics: false)
            if isPlain(start) {
                // The greatest ASCII character is DEL.
                let range = IdentifierLookup.range(lower: start, upper: start + "\u{80}")
                let isExact = pattern.prefix != nil && other == nil && isWhole
                results.append(Result(candidates: .identifiers(range), isExact: isExact))
            }
        } else {
            return .unrestricted
        }
        return Self.union(results)
    }

    // MARK: Types

    /// Combines lookups of the stored type tree, the type, and the existing types that conform to
    /// the literal.
    private func findType(_ test: IndexTest) throws -> Result {
        var results: [Result] = []
        for name in [AttributeKind.typeTree, AttributeKind.type] {
            guard let number = try AttributeIndex.number(of: name, db) else { continue }
            results.append(try find(test, names: [number]))
            guard let literal = test.literal else { continue }
            guard let types = try types(of: number) else { return .unrestricted }
            // A truncated key may stand for any type.
            let conforming = types.filter {
                AttributeKey.isCut($0) || context.conforms($0, literal)
            }
            guard !conforming.isEmpty else { continue }
            let values = conforming.map(\.databaseValue)
            let isCut = conforming.contains(where: AttributeKey.isCut)
            results.append(try find(IndexTest(.values(values), isExact: !isCut), names: [number]))
        }
        return Self.union(results)
    }

    /// Returns the distinct texts of an attribute, with one index lookup each; `nil` if there are
    /// too many.
    private func types(of name: Int64) throws -> [String]? {
        if let known = cache.types[name] { return known }
        let types = try findTypes(of: name)
        cache.types[name] = .some(types)
        return types
    }

    private func findTypes(of name: Int64) throws -> [String]? {
        var types: [String] = []
        let next = try db.cachedStatement(
            sql: "SELECT value FROM attribute WHERE name = ? AND value > ? AND value < x'' ORDER BY value LIMIT 1")
        var last: DatabaseValue = Double.infinity.databaseValue
        while let type = try String.fetchOne(next, arguments: [name, last]) {
            guard types.count < Self.maximumValues else { return nil }
            types.append(type)
            last = type.databaseValue
        }
        return types
    }
}

/// The attributes with special handling.
enum AttributeKind {
    static let type = "contentType"
    static let typeTree = "contentTypeTree"
    /// The attributes for which the evaluator does not read the item's attributes.
    static let special = ["uniqueIdentifier", "domainIdentifier", typeTree]
}
