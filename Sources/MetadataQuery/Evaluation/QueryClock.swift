// SPDX-License-Identifier: Apache-2.0

/// The current time for a query. It is passed in, so that a query uses a single time and a test can
/// choose one.
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

    /// Creates a clock that is fixed at one time.
    ///
    /// - Parameters:
    ///   - now: The seconds since 2001-01-01 00:00 UTC. Non-finite values are treated as 0, and
    ///     years beyond 12,000 are clamped.
    ///   - firstWeekday: The first day of a week in the user's region.
    ///   - secondsFromUTC: Returns the local time zone's offset east of UTC at an instant, in
    ///     seconds. Called on the thread that evaluates or compiles; results beyond 26 hours are
    ///     clamped.
    public init(now: Double, firstWeekday: Weekday = .monday, secondsFromUTC: @escaping @Sendable (Double) -> Int) {
        self.now = now.isFinite ? min(max(now, -Self.farthest), Self.farthest) : 0
        self.firstWeekday = firstWeekday
        self.secondsFromUTC = secondsFromUTC
    }

    /// Creates a clock in UTC.
    public init(now: Double, firstWeekday: Weekday = .monday) {
        self.init(now: now, firstWeekday: firstWeekday) { _ in 0 }
    }

    private static let farthest = 315_576_000_000.0

    func offset(at instant: Double) -> Int { min(max(secondsFromUTC(instant), -93_600), 93_600) }

    /// Returns the local day and the seconds since its midnight, as a wall clock shows them.
    package func wall(at instant: Double) -> (day: CivilDay, seconds: Double) {
        let local = instant + Double(offset(at: instant))
        // Truncates and adjusts, because rounding down would need the C mathematics library. The
        // day is far within range.
        let truncated = Int(local / 86_400)
        let day = Double(truncated) * 86_400 > local ? truncated - 1 : truncated
        return (CivilDay(index: day), local - Double(day) * 86_400)
    }

    /// Returns the first instant at which a wall clock shows this time. For a time that is skipped
    /// because clocks are set forward, uses the offset before the change.
    func instant(_ day: CivilDay, seconds: Double = 0) -> Double {
        let local = Double(day.index) * 86_400 + seconds
        let before = local - Double(offset(at: local - 86_400))
        let after = local - Double(offset(at: local + 86_400))
        // Rounding affects fractions of seconds; a millisecond is precise enough to select the
        // offset.
        let valid = [before, after].filter { abs($0 + Double(offset(at: $0)) - local) < 0.001 }
        return valid.min() ?? before
    }
}
