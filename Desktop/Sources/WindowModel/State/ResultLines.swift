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
    package private(set) var rows: [ResultRow] = []
    /// The lines.
    package private(set) var lines: [Line] = []
    /// The number of pages of results. Later pages follow the lines of the earlier ones.
    package private(set) var pages = 1
    private var byKind: Bool
    private var lastKey: String?

    private struct Group {
        var key: String
        var name: String
        var rows: [ResultRow]
    }

    /// No results.
    package static let empty = ResultLines([])

    private static let best = "Top Hit"
    private static let other = "Other"

    /// Groups results, which are given best first. The best result has its own group. The others
    /// are grouped by app, or by kind if all belong to one app. A group takes the position of its
    /// best result, and its results keep their order.
    package init(_ found: [ResultRow]) {
        byKind = Set(found.map(\.item.scope.bundle)).count <= 1
        let best = found.count > 1 ? Array(found.prefix(1)) : []
        if !best.isEmpty { add([Group(key: "", name: Self.best, rows: best)]) }
        add(groups(of: found.dropFirst(best.count)))
    }

    /// Returns the lines with another page of results. Its groups follow the others, so no earlier
    /// line moves.
    package func appending(_ found: [ResultRow]) -> ResultLines {
        var all = self
        all.pages += 1
        all.byKind = byKind && found.allSatisfy { $0.item.scope.bundle == rows.first?.item.scope.bundle }
        all.add(all.groups(of: found))
        return all
    }

    private func groups(of found: some Sequence<ResultRow>) -> [Group] {
        var groups: [Group] = []
        var positions: [String: Int] = [:]
        for row in found {
            let name = byKind ? row.kind : row.app
            // Two apps may have the same name.
            let key = byKind ? "kind \(row.kind)" : "app \(row.item.scope.bundle)"
            if let position = positions[key] {
                groups[position].rows.append(row)
            } else {
                positions[key] = groups.count
                groups.append(Group(key: key, name: name.isEmpty ? Self.other : name, rows: [row]))
            }
        }
        return groups
    }

    private mutating func add(_ groups: [Group]) {
        for group in groups {
            // A page may continue the last group.
            if group.key != lastKey { lines.append(.heading(group.name)) }
            lastKey = group.key
            for row in group.rows {
                lines.append(.row(rows.count))
                rows.append(row)
            }
        }
    }
}
