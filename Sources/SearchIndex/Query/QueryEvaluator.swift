// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import MetadataQuery
import Synchronization

/// The query evaluator as an SQL function on records, so that SQL and direct evaluation always
/// agree.
struct QueryEvaluator: Sendable {
    private let matcher: QueryMatcher
    private let projection: RecordProjection
    private let prefilter: RecordPrefilter?

    init(_ expression: QueryExpression, context: QueryContext) {
        matcher = QueryMatcher(expression, context: context)
        projection = RecordProjection(expression, context: context)
        prefilter = RecordPrefilter(expression, context: context)
    }

    /// Returns `true` if the item of a stored record satisfies the query.
    func matches(_ value: DatabaseValue) throws -> Bool {
        guard case .blob(let bytes) = value.storage else { return false }
        if let prefilter, bytes.withContiguousStorageIfAvailable({ !prefilter.mayMatch($0) }) ?? false { return false }
        do {
            return matcher.matches(try projection.record(decoding: bytes))
        } catch {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "an item record: \(error)")
        }
    }

    /// The name of the function, which takes one record.
    static let functionName = "metadata_query_matches"

    /// Registers the function with a connection and runs `body`.
    ///
    /// The connection must have no running statement, because SQLite does not allow functions to
    /// change while one runs. Afterwards the function stays registered, but no longer refers to the
    /// evaluator.
    func withFunction<Value>(_ db: Database, _ body: () throws -> Value) throws -> Value {
        let slot = Slot(self)
        db.add(
            function: DatabaseFunction(Self.functionName, argumentCount: 1, pure: true) { arguments in
                guard let evaluator = slot.evaluator else {
                    throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the query has ended")
                }
                return try evaluator.matches(arguments[0])
            })
        defer { slot.clear() }
        return try body()
    }

    /// Holds the evaluator while the query runs.
    private final class Slot: Sendable {
        private let content: Mutex<QueryEvaluator?>

        init(_ evaluator: QueryEvaluator) { content = Mutex(evaluator) }

        var evaluator: QueryEvaluator? { content.withLock { $0 } }

        func clear() { content.withLock { $0 = nil } }
    }
}
