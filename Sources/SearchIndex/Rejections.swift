// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// What was durable and is not in the index, of one scope and since a mark.
public struct Rejections: Hashable, Sendable, Codable {
    /// A moment in the life of an opened index.
    public struct Mark: Hashable, Sendable, Codable {
        var refused = 0
        var ignoredUpdates = 0
    }
    /// Updates that made an item exceed a limit, the latest of very many. What was there before is still there.
    public var problems: [SearchIndexError] = []
    /// How many updates were of items that are not there.
    public var ignoredUpdates = 0
    /// Now.
    public var mark = Mark()
}

/// An item that was not put into the index.
struct LeftOutItem: Sendable {
    var scope: IndexScope
    /// Why it could not be; `nil` for an update of what is not there.
    var problem: SearchIndexError?
}

/// What was left out since the index was opened.
struct LeftOutItems: Sendable {
    /// So many refused items are kept, the latest.
    private static let maximumKept = 1000
    /// For so many scopes it is counted how many updates were ignored.
    private static let maximumScopes = 10_000

    private var refused: [(scope: IndexScope, problem: SearchIndexError)] = []
    /// How many were refused, those that are not kept any more among them.
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
        // Half as many again, so that not each one moves all.
        if refused.count > Self.maximumKept * 3 / 2 { refused.removeFirst(refused.count - Self.maximumKept) }
    }

    /// What came after a mark; only the mark itself without one.
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
