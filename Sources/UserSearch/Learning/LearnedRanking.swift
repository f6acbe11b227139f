// SPDX-License-Identifier: Apache-2.0

/// The effect of earlier engagement on the scores of one search.
///
/// The gain is bounded (``maximum``): habit lifts an item above slightly better matches. An item
/// that only contains the words must be newer and have nearly the full gain to rank above an item
/// whose whole title equals the text.
public struct LearnedRanking: Sendable {
    /// The largest amount that engagement adds to a score, less than the evidence for a whole
    /// title.
    public static let maximum = maximumOfText + maximumOfShare + maximumOfItem
    /// The largest gain from choices made for the typed text.
    private static let maximumOfText = 0.3
    /// The largest gain from the item's share of all choices made for the typed text.
    private static let maximumOfShare = 0.3
    /// The largest gain from choices made for any text, as a factor of the item's text score, which
    /// is capped at 1.
    private static let maximumOfItem = 0.6
    /// The counts at which half of each maximum is reached.
    private static let (halfOfText, halfOfShare, halfOfItem) = (1.0, 1.0, 2.0)

    /// The counts for the typed text, by item number, weighted by the credit of their texts.
    public private(set) var counts: [Int64: Double] = [:]
    private var total = 0.0

    /// Creates a ranking without engagement.
    public init() {}

    /// Adds the count of an item and a text.
    ///
    /// - Parameters:
    ///   - count: The count at the time of the search.
    ///   - stored: The folded text of the count (``EngagementText``).
    ///   - typed: The folded text of the search.
    public mutating func add(_ count: Double, item: Int64, stored: String, typed: String) {
        let count = max(0, count) * Self.credit(of: stored, for: typed)
        guard count > 0 else { return }
        counts[item, default: 0] += count
        total += count
    }

    /// Returns the share of a count for one text that applies to another text: 1 for equal texts, 0
    /// if neither begins with the other. In between, the share decreases with the difference in
    /// length.
    ///  A choice made for “quarterly” counts for “quar”, because the user was typing towards it. A
    ///  choice made for “quar” counts for “quarterly”, because that item may still be the wanted
    ///  one.
    public static func credit(of stored: String, for typed: String) -> Double {
        if stored == typed { return 1 }
        let (one, other) = (stored.utf8.count, typed.utf8.count)
        guard one > 0, other > 0 else { return 0 }
        let isRelated =
            one < other ? typed.utf8.starts(with: stored.utf8) : stored.utf8.starts(with: typed.utf8)
        return isRelated ? 0.3 + 0.6 * Double(min(one, other)) / Double(max(one, other)) : 0
    }

    /// Returns the gain of an item, 0 to ``maximum``.
    ///
    /// - Parameters:
    ///   - anyText: The item's count over all texts, at the time of the search.
    ///   - score: The sum of the item's evidence, word strength and nearness.
    public func gain(of item: Int64, anyText: Double, over score: Double) -> Double {
        let count = counts[item] ?? 0
        let anyText = max(0, anyText)
        return Self.maximumOfText * count / (count + Self.halfOfText)
            + Self.maximumOfShare * count / (total + Self.halfOfShare)
            + Self.maximumOfItem * anyText / (anyText + Self.halfOfItem) * min(1, max(0, score))
    }
}

/// Limits the number of counted events with a token bucket for each reporter.
public struct EngagementAllowance: Sendable {
    /// The bucket size in events, and the number of seconds after which one event is added.
    private let (burst, interval): (Double, Double)
    private var buckets: [String: (events: Double, moment: Double)] = [:]
    /// The largest number of buckets. Beyond it, all buckets are dropped, which gives each reporter
    /// a full bucket.
    private static let maximumReporters = 4096

    /// Creates a limit.
    public init(burst: Double = 1000, interval: Double = 0.5) { (self.burst, self.interval) = (burst, interval) }

    /// Returns `true` if an event of a reporter is to be counted.
    ///
    /// - Parameters:
    ///   - reporter: The bundle identifier of the app, which need not have donated anything.
    ///   - moment: The time in seconds, from a clock that is not set back by much.
    public mutating func take(reporter: String, at moment: Double) -> Bool {
        if buckets.count >= Self.maximumReporters, buckets[reporter] == nil { buckets = [:] }
        var bucket = buckets[reporter] ?? (burst, moment)
        bucket.events = min(burst, bucket.events + max(0, moment - bucket.moment) / interval)
        bucket.moment = moment
        let isCounted = bucket.events >= 1
        if isCounted { bucket.events -= 1 }
        buckets[reporter] = bucket
        return isCounted
    }
}
