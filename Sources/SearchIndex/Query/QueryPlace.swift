// SPDX-License-Identifier: Apache-2.0
import Foundation
import MetadataQuery

/// The locale settings that affect the `$time` terms of a query, in addition to the current time.
public struct QueryPlace: Hashable, Sendable, Codable {
    /// The time zone's identifier, such as `Europe/Oslo`.
    public var timeZone: String
    /// The first day of a week, counted from Sunday as 1.
    public var firstWeekday: Int

    /// Creates the settings.
    public init(timeZone: String, firstWeekday: Int) {
        self.timeZone = timeZone
        self.firstWeekday = firstWeekday
    }

    /// The settings of this process.
    public static var current: QueryPlace {
        QueryPlace(timeZone: TimeZone.current.identifier, firstWeekday: Calendar.current.firstWeekday)
    }

    /// Returns a clock fixed at a time, in seconds since 2001-01-01 UTC. An unknown time zone is
    /// replaced by this process's time zone.
    package func clock(at now: Double) -> QueryClock {
        let zone = TimeZone(identifier: timeZone) ?? TimeZone.current
        let weekday = (1...7).contains(firstWeekday) ? QueryClock.Weekday(rawValue: (firstWeekday + 5) % 7) : nil
        return QueryClock(now: now, firstWeekday: weekday ?? .monday) { instant in
            zone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: instant))
        }
    }
}
