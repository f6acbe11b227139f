// SPDX-License-Identifier: Apache-2.0

/// The meaning of a `$time` term at a given current time: the instants from ``start`` up to but not
/// including ``end``.
///
/// `==` and `!=` test whether a date is within the period. Ordering operators and both bounds of
/// `InRange` use only ``start`` (docs/QUERY-LANGUAGE.md, "Dates").
public struct ResolvedTime: Hashable, Sendable {
    /// The first instant, in seconds since 2001-01-01 00:00 UTC.
    public let start: Double
    /// The first instant after the period, in seconds since 2001-01-01 00:00 UTC; `nil` if the term
    /// is a single instant.
    public let end: Double?

    /// Returns `true` if `==` is true for the date.
    public func contains(_ date: Double) -> Bool {
        guard let end else { return date == start }
        return date >= start && date < end
    }
}

extension TimeTerm {
    /// Returns the instants that the term denotes.
    public func resolved(at clock: QueryClock) -> ResolvedTime {
        switch self {
        case .iso(let moment):
            guard moment.offset == nil else { return ResolvedTime(start: moment.instant, end: nil) }
            return ResolvedTime(start: clock.instant(moment.day, seconds: moment.timeOfDay), end: nil)
        case .relative(.now, let shift):
            if let seconds = shift.unit.seconds {
                return ResolvedTime(start: clock.now + Double(shift.amount) * Double(seconds), end: nil)
            }
            let wall = clock.wall(at: clock.now)
            let day = wall.day.adding(shift.amount, shift.unit)
            return ResolvedTime(start: clock.instant(day, seconds: wall.seconds), end: nil)
        case .relative(let function, let shift):
            let start = function.firstDay(at: clock).adding(shift.amount, shift.unit)
            let end = start.adding(1, function.defaultUnit)
            let seconds = Double(shift.amount) * Double(shift.unit.seconds ?? 0)
            return ResolvedTime(start: clock.instant(start) + seconds, end: clock.instant(end) + seconds)
        }
    }
}

extension TimeFunction {
    /// Returns the first local day of the function's period.
    fileprivate func firstDay(at clock: QueryClock) -> CivilDay {
        let today = clock.wall(at: clock.now).day
        let (_, month, day) = today.components
        let sinceFirstWeekday = (today.weekday - clock.firstWeekday.rawValue + 7) % 7
        return switch self {
        case .now, .today: today
        case .yesterday: CivilDay(index: today.index - 1)
        case .thisWeek: CivilDay(index: today.index - sinceFirstWeekday)
        case .lastWeek: CivilDay(index: today.index - sinceFirstWeekday - 7)
        case .thisMonth: CivilDay(index: today.index - day + 1)
        case .thisYear: CivilDay(index: today.index - day + 1).adding(months: 1 - month)
        }
    }
}
