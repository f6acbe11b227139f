// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// The donations of one scope after a mark that were durable but did not change the index.
public struct Rejections: Hashable, Sendable, Codable {
    /// A position in the counts of an open index.
    public struct Mark: Hashable, Sendable, Codable {
        var refused = 0
        var ignoredUpdates = 0
    }
    /// Updates that would have made an item exceed a limit; only the latest if there are many. The
    /// previous version of each item remains.
    public var problems: [SearchIndexError] = []
    /// The number of updates of items that do not exist.
    public var ignoredUpdates = 0
    /// The mark at the time of this report.
    public var mark = Mark()
}

/// An item that was not indexed.
struct LeftOutItem: Sendable {
    var scope: IndexScope
    /// The reason for the rejection; `nil` for an update of an item that does not exist.
    var problem: SearchIndexError?
}

/// The items left out since the index was opened.
struct LeftOutItems: Sendable {
    /// The largest number of rejected items to keep; older ones are dropped.
    private static let maximumKept = 1000
    /// The largest number of scopes whose ignored updates are counted.
    private static let maximumScopes = 10_000

    private var refused: [(scope: IndexScope, problem: SearchIndexError)] = []
    /// The number of rejected items, including dropped ones.
    private var refusedCount = 0
    private var ignored: [IndexScope: Int] = [:]

    var all: [SearchIndexError] { refused.map(\.problem) }

    mutating func add(_ item: LeftOutItem) {
        guard let problem = item.problem else {
            if ignored[item.scope] != nil || ignored.count < Self.maximumScopes {
                ignored[item.scope, default: 0] += 1
            }
            return
        }
        refusedCount += 1
        refused.append((item.scope, problem))
        // Drops a third at once, so that not every rejection moves the whole array.
        if refused.count > Self.maximumKept * 3 / 2 { refused.removeFirst(refused.count - Self.maximumKept) }
    }

    /// Returns the rejections after a mark; without a mark, only the new mark.
    func report(_ scope: IndexScope, after mark: Rejections.Mark?) -> Rejections {
        var report = Rejections()
        report.mark = Rejections.Mark(refused: refusedCount, ignoredUpdates: ignored[scope] ?? 0)
        guard let mark else { return report }
        let new = max(0, min(refused.count, refusedCount - max(0, mark.refused)))
        report.problems = refused.suffix(new).filter { $0.scope == scope }.map(\.problem)
        report.ignoredUpdates = max(0, report.mark.ignoredUpdates - max(0, mark.ignoredUpdates))
        return report
    }
}
