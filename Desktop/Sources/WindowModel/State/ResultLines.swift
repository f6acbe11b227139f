// SPDX-License-Identifier: Apache-2.0

/// The lines of the result list: results in groups, each with a heading.
package struct ResultLines: Hashable, Sendable {
    /// A line.
    package enum Line: Hashable, Sendable {
        /// The name of the group that follows.
        case heading(String)
        /// A result, by its index in ``rows``.
        case row(Int)
    }

    /// The results in display order.
    package let rows: [ResultRow]
    /// The lines.
    package let lines: [Line]

    /// No results.
    package static let empty = ResultLines([])

    private static let best = "Top Hit"
    private static let other = "Other"

    /// Groups results, which are given best first. The best result has its own group. The others
    /// are grouped by app, or by kind if all belong to one app. A group takes the position of its
    /// best result, and its results keep their order.
    package init(_ found: [ResultRow]) {
        let byKind = Set(found.map(\.item.scope.bundle)).count <= 1
        var groups: [(name: String, rows: [ResultRow])] = []
        var positions: [String: Int] = [:]
        for (index, row) in found.enumerated() {
            let name = index == 0 && found.count > 1 ? Self.best : byKind ? row.kind : row.app
            // Two apps may have the same name.
            let key = index == 0 ? "" : byKind ? row.kind : row.item.scope.bundle
            if let position = positions[key], index > 0 {
                groups[position].rows.append(row)
            } else {
                if index > 0 { positions[key] = groups.count }
                groups.append((name.isEmpty ? Self.other : name, [row]))
            }
        }
        var (rows, lines): ([ResultRow], [Line]) = ([], [])
        for group in groups {
            lines.append(.heading(group.name))
            for row in group.rows {
                lines.append(.row(rows.count))
                rows.append(row)
            }
        }
        (self.rows, self.lines) = (rows, lines)
    }
}
