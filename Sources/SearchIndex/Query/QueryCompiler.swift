// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery

/// Compiles a query to the set of items that the indexes cannot rule out.
///
/// The result never omits an item that satisfies the query. If the set is exact, it contains no
/// other items. Conditions that the indexes cannot test do not restrict the set; the evaluator
/// decides (``QueryEvaluator``).
struct QueryCompiler {
    /// The candidates. `isExact` is `true` if all of them match.
    struct Result {
        var candidates: CandidateSet
        var isExact: Bool

        static var unrestricted: Result { Result(candidates: .everything, isExact: false) }
    }

    /// The largest nesting depth of sets, below the limits of SQLite's parser. The evaluator
    /// handles deeper parts.
    static let maximumDepth = 8
    /// The largest number of lookups of one query. Queries with more are left to the evaluator.
    static let maximumLookups = 128
    /// The largest number of values and attributes in one lookup, far below SQLite's variable
    /// limit.
    static let maximumValues = 4096
    /// The number of candidates of one `&&` operand below which evaluating these candidates costs
    /// less than looking up larger operands.
    static let fewCandidates = 3000

    let db: Database
    let context: QueryContext
    let limits: CandidateLimits
    /// `true` if the full-text tables have the current format, so that queries may use them.
    let hasWords: Bool
    let cache = Cache()

    /// Results shared by several comparisons of one query.
    final class Cache {
        var types: [Int64: [String]?] = [:]
        var defaultNames: [NumberedName]??
    }

    init(_ db: Database, context: QueryContext, limits: CandidateLimits) throws {
        self.db = db
        self.context = context
        self.limits = limits
        hasWords = try FullTextIndex.derived.isCurrent(db)
    }

    /// Returns the candidates of a query. Reads the attribute names, types and sizes that it needs.
    func compile(_ expression: QueryExpression) throws -> Result {
        let result = try compile(expression, depth: 0)
        guard result.candidates.lookupCount <= Self.maximumLookups else { return .unrestricted }
        return result
    }

    private func compile(_ expression: QueryExpression, depth: Int) throws -> Result {
        guard depth <= Self.maximumDepth else { return .unrestricted }
        switch expression {
        case .comparison(let comparison): return try compile(comparison)
        case .range(let range): return try compile(range)
        case .not(let operand): return Self.negation(try compile(operand, depth: depth))
        case .or(let operands):
            var results: [Result] = []
            for operand in operands {
                let result = try compile(operand, depth: depth + 1)
                // No later operand can restrict the set.
                if case .everything = result.candidates { return result.isExact ? result : .unrestricted }
                results.append(result)
            }
            return Self.union(results)
        case .and(let operands):
            return try intersection(operands.map { try compile($0, depth: depth + 1) })
        }
    }

    static func union(_ results: [Result]) -> Result {
        Result(candidates: .union(results.map(\.candidates)), isExact: results.allSatisfy(\.isExact))
    }

    static func negation(_ result: Result) -> Result {
        result.isExact ? Result(candidates: .complement(result.candidates), isExact: true) : .unrestricted
    }

    // MARK: Intersections

    private func intersection(_ results: [Result]) throws -> Result {
        // A false operand makes the conjunction false.
        if let never = results.first(where: { if case .nothing = $0.candidates { true } else { false } }) {
            return Result(candidates: never.candidates, isExact: true)
        }
        let isExact = results.allSatisfy(\.isExact)
        let sets = results.map(\.candidates).filter { if case .everything = $0 { false } else { true } }
        guard sets.count > 1 else { return Result(candidates: sets.first ?? .everything, isExact: isExact) }
        let sized = try sets.map { (set: $0, size: try size(of: $0)) }.sorted { $0.size < $1.size }
        let few = sized.filter { $0.size < Self.fewCandidates }
        guard !few.isEmpty else { return Result(candidates: .intersection(sized.map(\.set)), isExact: isExact) }
        return Result(
            candidates: .intersection(few.map(\.set)), isExact: isExact && few.count == sized.count)
    }

    /// Returns the approximate number of items in a set, counted up to ``fewCandidates``.
    private func size(of set: CandidateSet) throws -> Int {
        switch set {
        case .nothing: return 0
        case .everything, .except: return .max
        case .identifiers(.equal): return 1
        case .identifiers(.range): return Self.fewCandidates - 1
        case .all(let sets): return try sets.map(size).min() ?? .max
        case .any(let sets):
            var sum = 0
            for set in sets where sum < Self.fewCandidates { sum += min(try size(of: set), Self.fewCandidates) }
            return sum
        case .rows(let lookup):
            if case .texts(_, _, let parts) = lookup.test, !parts.isEmpty { return .max - 1 }
            if lookup.names.isEmpty { return 0 }
            return try size { lookup.select(&$0) }
        case .words(let lookup): return try size { lookup.select(&$0) }
        }
    }

    /// Returns a set that contains the given set, built from index lists with at most `maximum`
    /// rows each; `nil` if there is no such set.
    func listed(_ set: CandidateSet, upTo maximum: Int) throws -> CandidateSet? {
        switch set {
        case .nothing, .identifiers(.equal): return set
        case .everything, .except, .identifiers(.range): return nil
        case .any(let sets):
            let found = try sets.compactMap { try listed($0, upTo: maximum) }
            return found.count == sets.count ? .union(found) : nil
        case .all(let sets):
            // A complement restricts a list but cannot supply one.
            let included = try sets.compactMap { try listed($0, upTo: maximum) }
            return included.isEmpty ? nil : .intersection(included)
        case .rows(let lookup):
            if case .texts(_, _, let parts) = lookup.test, !parts.isEmpty { return nil }
            if lookup.names.isEmpty { return .nothing }
            return try size(upTo: maximum + 1) { lookup.select(&$0) } <= maximum ? set : nil
        case .words(let lookup): return try size(upTo: maximum + 1) { lookup.select(&$0) } <= maximum ? set : nil
        }
    }

    private func size(
        upTo maximum: Int = fewCandidates, _ select: (inout SQLFragment) -> Void
    ) throws -> Int {
        var fragment = SQLFragment()
        fragment.append("SELECT count(*) FROM (")
        select(&fragment)
        fragment.append(" LIMIT ?", maximum)
        fragment.append(")")
        return try Int.fetchOne(db, sql: fragment.sql, arguments: StatementArguments(fragment.arguments)) ?? 0
    }
}
