// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery

/// A metadata query with its filters, ready to be compiled for a store.
struct PreparedQuery: Sendable {
    /// The limits of a query including its filters: the number of comparisons, and the nesting
    /// depth.
    static let maximumTerms = 4096
    static let maximumDepth = 256

    let expression: QueryExpression
    let context: QueryContext
    /// The bundle whose items are searched; `nil` for all bundles.
    let bundle: String?
    /// The name of the index whose items are searched; `nil` for all indexes.
    var index: String?
    let limits: CandidateLimits
    private let evaluator: QueryEvaluator

    /// - Throws: ``IndexQueryError/tooComplex(what:value:limit:)``.
    init(
        _ query: QueryExpression, filters: [QueryExpression], bundle: String?, context: QueryContext,
        limits: CandidateLimits = CandidateLimits()
    ) throws(IndexQueryError) {
        expression = filters.isEmpty ? query : .and([query] + filters)
        try Self.check(expression)
        self.context = context
        self.bundle = bundle
        self.limits = limits
        evaluator = QueryEvaluator(expression, context: context)
    }

    /// Checks the limits without recursion, because the depth is not yet known.
    private static func check(_ expression: QueryExpression) throws(IndexQueryError) {
        var rest = [(expression, 1)]
        var terms = 0
        while let (next, depth) = rest.popLast() {
            guard depth <= maximumDepth else {
                throw .tooComplex(what: "levels of nested terms", value: depth, limit: maximumDepth)
            }
            terms += 1
            // Operands wait in the list before they are counted, so the list is limited too.
            guard terms + rest.count <= maximumTerms * 2 else {
                throw .tooComplex(what: "terms", value: terms + rest.count, limit: maximumTerms * 2)
            }
            switch next {
            case .comparison, .range: break
            case .not(let operand): rest.append((operand, depth + 1))
            case .and(let operands), .or(let operands):
                guard operands.count <= maximumTerms else {
                    throw .tooComplex(what: "terms", value: operands.count, limit: maximumTerms)
                }
                rest += operands.map { ($0, depth + 1) }
            }
        }
    }

    /// Compiles the query and runs `body` with it. The connection must have no running statement.
    func run<Value>(_ db: Database, now: Double, _ body: (CompiledQuery) throws -> Value) throws -> Value {
        let compiled = try CompiledQuery(self, db, now: now)
        guard !compiled.isExact else { return try body(compiled) }
        return try evaluator.withFunction(db) { try body(compiled) }
    }
}

extension PreparedQuery {
    /// Returns the texts of the items that the indexes cannot rule out. Reads no records, and at
    /// most `maximum` rows of each index list.
    ///
    /// - Returns: The texts; `nil` if there are more than `maximum`, or if the indexes cannot list
    ///   them.
    func candidateTexts(upTo maximum: Int, _ db: Database) throws -> Set<Int64>? {
        guard try AttributeIndex.isCurrent(db) else { return nil }
        let compiler = try QueryCompiler(db, context: context, limits: limits)
        guard let candidates = try compiler.listed(compiler.compile(expression).candidates, upTo: maximum),
            let condition = candidates.condition, condition.arguments.count <= CompiledQuery.maximumArguments
        else { return nil }
        var select = SQLFragment()
        select.append("SELECT text_row FROM item WHERE text_row IS NOT NULL AND ")
        select.append(condition)
        select.append(" LIMIT ?", maximum + 1)
        let texts = try Set(Int64.fetchAll(db, sql: select.sql, arguments: StatementArguments(select.arguments)))
        return texts.count <= maximum ? texts : nil
    }
}

/// A query as an SQL condition, for one state of the store.
struct CompiledQuery {
    /// `true` if the indexes alone decide whether an item matches, without reading records.
    let isExact: Bool
    /// `true` if indexes list the candidates; otherwise all items are scanned.
    let hasCandidates: Bool
    /// The condition on `item` that the matches satisfy.
    let condition: SQLFragment

    /// The largest number of SQL variables for candidates, below SQLite's limit of 32,766.
    fileprivate static let maximumArguments = 16_384

    init(_ query: PreparedQuery, _ db: Database, now: Double) throws {
        var result = QueryCompiler.Result.unrestricted
        if try AttributeIndex.isCurrent(db) {
            result = try QueryCompiler(db, context: query.context, limits: query.limits).compile(query.expression)
        }
        var candidates = result.candidates.condition
        if let condition = candidates, condition.arguments.count > Self.maximumArguments {
            result = .unrestricted
            candidates = nil
        }
        isExact = result.isExact
        hasCandidates = candidates != nil && !result.candidates.isComplement
        var condition = SQLFragment()
        if let candidates {
            condition.append(candidates)
            condition.append(" AND ")
        }
        // The unary plus keeps SQLite from using an index other than the candidates' index.
        if let bundle = query.bundle {
            let number = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT id FROM bundle WHERE identifier = ?"), arguments: [bundle])
            condition.append("+item.bundle = ?", number ?? 0)
            condition.append(" AND ")
        }
        if let index = query.index {
            condition.append("+item.index_name = ?", index)
            condition.append(" AND ")
        }
        condition.append("(item.expires IS NULL OR +item.expires > ?)", now)
        if !isExact { condition.append(" AND metadata_query_matches(plain_record(item.record))") }
        self.condition = condition
    }

    /// Returns a statement that selects from the matches; `tail` follows the condition.
    func select(_ columns: String, tail: SQLFragment = SQLFragment()) -> SQLFragment {
        var fragment = SQLFragment()
        fragment.append("SELECT ")
        fragment.append(constant: columns)
        // CROSS JOIN fixes the join order: candidates first.
        fragment.append(" FROM item CROSS JOIN bundle ON bundle.id = item.bundle WHERE ")
        fragment.append(condition)
        fragment.append(tail)
        return fragment
    }
}
