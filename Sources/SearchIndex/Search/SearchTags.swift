// SPDX-License-Identifier: Apache-2.0
import GRDB

/// Restricts a search to a bundle within FTS5.
struct SearchTags: Sendable {
    /// The number of the only bundle to search; `nil` means all. An unknown bundle has the number
    /// 0, which no item has.
    let bundle: Int64?

    /// - Throws: `DatabaseError`.
    init(bundle: String?, _ db: Database) throws {
        self.bundle = try bundle.map {
            try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT id FROM bundle WHERE identifier = ?"), arguments: [$0]) ?? 0
        }
    }

    /// The expression for the table of ranked words.
    var expression: String? { bundle.map { "\"\(FullTextTag(bundle: $0).text)\"" } }
    /// The expression for the table of texts.
    var textExpression: String? { bundle.map { FullTextTag(bundle: $0).expression } }
}
