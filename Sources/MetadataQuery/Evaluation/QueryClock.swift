// SPDX-License-Identifier: Apache-2.0

/// The present as a query sees it: handed in, so that a query has one "now" and a test has its own.
public struct QueryClock: Sendable {
    /// A day of the week.
    public enum Weekday: Int, Hashable, Sendable, CaseIterable {
        /// The days in order.
        case monday, tuesday, wednesday, thursday, friday, saturday, sunday
    }

    /// The current instant, in seconds since 2001-01-01 00:00 UTC.
    public let now: Double
    /// The first day of a week, for `$time.this_week`.
    public let firstWeekday: Weekday
    private let secondsFromUTC: @Sendable (Double) -> Int

    /// Creates a clock that stands still.
    ///
    /// - Parameters:
    ///   - now: seconds since 2001-01-01 00:00 UTC; what is not finite counts as 0, years beyond 12,000 are cut.
    ///   - firstWeekday: the first day of a week where the person lives.
    ///   - secondsFromUTC: the local time zone: how far it is east of UTC at an instant. Called on the thread that
    ///     evaluates or compiles; answers beyond 26 hours are cut.
    public init(now: Double, firstWeekday: Weekday = .monday, secondsFromUTC: @escaping @Sendable (Double) -> Int) {
        self.now = now.isFinite ? min(max(now, -Self.farthest), Self.farthest) : 0
        self.firstWeekday = firstWeekday
        self.secondsFromUTC = secondsFromUTC
    }

    /// A clock in UTC.
    public init(now: Double, firstWeekday: Weekday = .monday) {
        self.init(now: now, firstWeekday: firstWeekday) { _ in 0 }
    }

    private static let farthest = 315_576_000_000.0

    func offset(at instant: Double) -> Int { min(max(secondsFromUTC(instant), -93_600), 93_600) }

    /// The local day and the seconds since its midnight, as a clock on the wall shows them.
    package func wall(at instant: Double) -> (day: CivilDay, seconds: Double) {
        let local = instant + Double(offset(at: instant))
        // By truncation, since rounding down would need the C mathematics library; the day is far within range.
        let truncated = Int(local / 86_400)
        let day = Double(truncated) * 86_400 > local ? truncated - 1 : truncated
        return (CivilDay(index: day), local - Double(day) * 86_400)
    }

    /// The first instant at which the wall shows this time. A time that is skipped (clocks put forward) is counted with
    /// the offset before the change.
    func instant(_ day: CivilDay, seconds: Double = 0) -> Double {
        let local = Double(day.index) * 86_400 + seconds
        let before = local - Double(offset(at: local - 86_400))
        let after = local - Double(offset(at: local + 86_400))
        // Fractions of seconds are rounded on the way: a millisecond is near enough to say which offset holds.
        let valid = [before, after].filter { abs($0 + Double(offset(at: $0)) - local) < 0.001 }
        return valid.min() ?? before
    }
}
