// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery

extension QueryCompiler {
    /// An attribute and its number; the name is empty for the attributes that items declare
    /// searchable by default.
    struct NumberedName {
        var name: String
        var number: Int64
    }

    /// Returns the candidates of a text comparison from the full-text tables, which contain the
    /// complete texts of many attributes. The attribute index only has keys, which can only be
    /// searched from their start.
    ///
    /// - Returns: `nil` if the attribute index is at least as good.
    func findWords(
        _ test: IndexTest, _ attributes: [NumberedName], _ comparison: Comparison
    ) throws -> Result? {
        guard hasWords, comparison.operation == .equal, !comparison.isPresenceTest,
            case .text(let pattern) = comparison.value, !Self.isBeginning(pattern, comparison.options)
        else { return nil }
        let held = attributes.filter { SearchableText.column(of: $0.name) != nil }
        let numbers = held.map(\.number)
        guard !held.isEmpty, try !hasFewerRows(numbers, than: limits.fewRows) else { return nil }
        let words = try WordCandidates(db, limits)
        let columns = Set(held.compactMap { SearchableText.column(of: $0.name) })
        switch try words.find(PatternWords(pattern, comparison.options), columns: columns) {
        case .unknown:
            // Keys say little about long texts, so most items would be candidates.
            let bodies = held.filter { SearchableText.column(of: $0.name) == "body" }.map(\.number)
            let isLong = try !bodies.isEmpty && !hasFewerRows(bodies, than: words.texts / limits.bodyShare + 1)
            return isLong ? .unrestricted : nil
        case .tooMany:
            // A rare attribute has few keys.
            return try hasFewerRows(numbers, than: words.texts / limits.rareShare + 1) ? nil : .unrestricted
        case .found(let lookup):
            var results = [Result(candidates: .words(lookup), isExact: false)]
            let others = attributes.filter { SearchableText.column(of: $0.name) == nil }.map(\.number)
            if !others.isEmpty { results.append(try find(test, names: others)) }
            // A text may be a number, and can be compared with numbers.
            let numeric = test.withoutTexts
            if !numeric.tests.isEmpty { results.append(try find(numeric, names: numbers)) }
            return Self.union(results)
        }
    }

    /// Returns `true` if a text must begin with a literal. Such patterns are looked up in the
    /// sorted attribute index.
    private static func isBeginning(_ pattern: TextPattern, _ options: MatchOptions) -> Bool {
        guard options.isDisjoint(with: [.wordBased, .tokenized]) else { return false }
        switch pattern.elements.first {
        case .literal?, nil: return true
        case .anyText?, .anyCharacter?: return false
        }
    }

    private func hasFewerRows(_ names: [Int64], than limit: Int64) throws -> Bool {
        var fragment = SQLFragment()
        fragment.append("SELECT count(*) FROM (")
        AttributeLookup(names: names, test: .presence).select(&fragment)
        fragment.append(" LIMIT ?", limit)
        fragment.append(")")
        let count = try Int64.fetchOne(db, sql: fragment.sql, arguments: StatementArguments(fragment.arguments)) ?? 0
        return count < limit
    }
}
