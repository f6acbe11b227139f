// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Glibc

/// The findings of the last opening that found a problem.
public struct KeptFindings: Hashable, Sendable, Codable {
    /// The time of the opening, in seconds since 2001-01-01 UTC.
    public var moment: Double
    /// The findings, one sentence each.
    public var findings: [String]
}

extension SearchIndex {
    /// Returns the findings of the last opening that found a problem; `nil` if there was none.
    public func lastFindings() async throws(SearchIndexError) -> KeptFindings? {
        try await readApplied("Reading the findings") { db in
            let rows = try Row.fetchAll(db, sql: "SELECT moment, finding FROM recovery ORDER BY rowid LIMIT 100")
            guard let first = rows.first else { return nil }
            return KeptFindings(
                moment: try first.decode(forColumn: "moment"),
                findings: try rows.map { try $0.decode(forColumn: "finding") })
        }
    }
}
