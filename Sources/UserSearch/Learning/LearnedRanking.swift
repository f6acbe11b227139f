// SPDX-License-Identifier: Apache-2.0

/// What earlier engagement with items adds to their scores in one search. A value for one search.
///
/// The gain is bounded (``maximum``): habit lifts an item past those that fit somewhat better. An item that only has the words needs
/// nearly all of it, and to be the newer one, to come before one whose whole title is what was typed.
public struct LearnedRanking: Sendable {
    /// The most that engagement adds to a score: less than the evidence of a whole title.
    public static let maximum = maximumOfText + maximumOfShare + maximumOfItem
    /// For being chosen after what was typed.
    private static let maximumOfText = 0.3
    /// For being chosen after it rather than others.
    private static let maximumOfShare = 0.3
    /// For being chosen after anything, as a factor of what the item has without; of no more than 1.
    private static let maximumOfItem = 0.6
    /// At such a count half of the maximum is reached.
    private static let (halfOfText, halfOfShare, halfOfItem) = (1.0, 1.0, 2.0)

    /// The counts for what was typed, by the number of the item, each with the credit of its text.
    public private(set) var counts: [Int64: Double] = [:]
    private var total = 0.0

    /// A search about which nothing has been learned.
    public init() {}

    /// Adds what is counted for an item and a text.
    ///
    /// - Parameters:
    ///   - count: The count, at the moment of the search.
    ///   - stored: The text it was counted for, folded (``EngagementText``).
    ///   - typed: The text that is searched for, folded.
    public mutating func add(_ count: Double, item: Int64, stored: String, typed: String) {
        let count = max(0, count) * Self.credit(of: stored, for: typed)
        guard count > 0 else { return }
        counts[item, default: 0] += count
        total += count
    }

    /// How much of what was counted for one text counts for another: all for the same text; if one begins with the other, the less
    /// the more they differ in length; else nothing.
    ///
    /// A choice after “quarterly” helps “quar”, since the user was on the way to it, and a choice after “quar” helps “quarterly”,
    /// since it is still what may be meant.
    public static func credit(of stored: String, for typed: String) -> Double {
        if stored == typed { return 1 }
        let (one, other) = (stored.utf8.count, typed.utf8.count)
        guard one > 0, other > 0 else { return 0 }
        let isRelated =
            one < other ? typed.utf8.starts(with: stored.utf8) : stored.utf8.starts(with: typed.utf8)
        return isRelated ? 0.3 + 0.6 * Double(min(one, other)) / Double(max(one, other)) : 0
    }

    /// What is added to the score of an item, 0 to ``maximum``.
    ///
    /// - Parameters:
    ///   - anyText: The count of the item whatever was typed, at the moment of the search.
    ///   - score: What the item's evidence, words and nearness are worth together.
    public func gain(of item: Int64, anyText: Double, over score: Double) -> Double {
        let count = counts[item] ?? 0
        let anyText = max(0, anyText)
        return Self.maximumOfText * count / (count + Self.halfOfText)
            + Self.maximumOfShare * count / (total + Self.halfOfShare)
            + Self.maximumOfItem * anyText / (anyText + Self.halfOfItem) * min(1, max(0, score))
    }
}

/// Bounds how many events are counted: a bucket for each reporter that fills up again with time.
public struct EngagementAllowance: Sendable {
    /// So many events are counted at once, and one more after each interval, in seconds.
    private let (burst, interval): (Double, Double)
    private var buckets: [String: (events: Double, moment: Double)] = [:]
    /// So many reporters are remembered; then all are forgotten, which gives each a full bucket.
    private static let maximumReporters = 4096

    /// A bound.
    public init(burst: Double = 1000, interval: Double = 0.5) { (self.burst, self.interval) = (burst, interval) }

    /// Whether an event of a reporter counts.
    ///
    /// - Parameters:
    ///   - reporter: The bundle identifier of the app, which need not have donated anything.
    ///   - moment: In seconds, of a clock that is not set back for long.
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
