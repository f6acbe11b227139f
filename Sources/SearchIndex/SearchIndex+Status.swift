// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Glibc

/// What the last opening that found something wrong found.
public struct KeptFindings: Hashable, Sendable, Codable {
    /// When, in seconds since 2001-01-01 UTC.
    public var moment: Double
    /// What, a sentence each.
    public var findings: [String]
}

extension SearchIndex {
    /// What the last opening found that found something; `nil` if none ever did.
    public func lastFindings() async throws(SearchIndexError) -> KeptFindings? {
        try await readApplied("Reading what was found") { db in
            let rows = try Row.fetchAll(db, sql: "SELECT moment, finding FROM recovery ORDER BY rowid LIMIT 100")
            guard let first = rows.first else { return nil }
            return KeptFindings(
                moment: try first.decode(forColumn: "moment"),
                findings: try rows.map { try $0.decode(forColumn: "finding") })
        }
    }
}
