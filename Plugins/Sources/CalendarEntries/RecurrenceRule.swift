// SPDX-License-Identifier: Apache-2.0
import CCalendar
import FileReading

/// A recurrence rule (`RRULE`), checked so that its expansion is bounded.
package struct RecurrenceRule: Sendable, Equatable {
    /// The maximum number of steps in an expansion.
    static let maximumSteps = 50_000
    private static let maximumSize = 2_000

    /// The reason why a rule is not expanded.
    package enum Fault: Error, Sendable, Equatable {
        case invalid
        case tooOften
    }

    private static let parts: Set<String> = [
        "FREQ", "INTERVAL", "COUNT", "WKST", "BYSECOND", "BYMINUTE", "BYHOUR", "BYDAY", "BYMONTHDAY", "BYYEARDAY",
        "BYWEEKNO", "BYMONTH", "BYSETPOS",
    ]
    private static let periods = [
        "SECONDLY": 1, "MINUTELY": 60, "HOURLY": 3600, "DAILY": 86_400, "WEEKLY": 7 * 86_400, "MONTHLY": 28 * 86_400,
        "YEARLY": 365 * 86_400,
    ]

    /// The rule without `UNTIL`, as text for libical.
    private var text = ""
    /// The minimum time between two occurrences of a rule without `BY` parts, in seconds.
    private var period: Int
    private var count: Int?
    private var hasParts = false
    private var until: CalendarTime?
    private var untilIsUTC = false

    package init(_ value: String) throws(Fault) {
        guard value.utf8.count <= Self.maximumSize else { throw .tooOften }
        var kept: [String] = []
        var frequency: Int?
        var interval = 1
        for part in value.uppercased().split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1).map { String($0).trimmed }
            guard pair.count == 2 else { throw .invalid }
            switch pair[0] {
            case "UNTIL":
                guard let time = CalendarTime(pair[1][...].utf8) else { throw .invalid }
                until = time
                untilIsUTC = pair[1].hasSuffix("Z")
                continue
            case "FREQ": frequency = Self.periods[pair[1]]
            case "INTERVAL":
                guard let number = Int(pair[1]), (1...Int(Int16.max)).contains(number) else { throw .invalid }
                interval = number
            case "COUNT":
                guard let number = Int(pair[1]), number > 0 else { throw .invalid }
                count = min(number, Int(Int32.max))
            case "RSCALE", "SKIP": throw .invalid
            case let name where name.hasPrefix("BY"): hasParts = true
            default: break
            }
            guard Self.parts.contains(pair[0]), pair[1].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                if pair[0].hasPrefix("X-") { continue }
                throw .invalid
            }
            kept.append("\(pair[0])=\(pair[1])")
        }
        guard let frequency else { throw .invalid }
        period = frequency * interval
        text = kept.joined(separator: ";")
    }

    /// Returns the occurrences in a window, as local times.
    ///
    /// - Parameters:
    ///   - start: The first occurrence of the event.
    ///   - recent: The beginning of the window for a rule that repeats within a day.
    ///   - zone: The zone of the event; nil for dates.
    ///   - limit: The maximum number of occurrences.
    func occurrences(
        from start: CalendarTime, in window: ClosedRange<CalendarTime>, recent: CalendarTime, zone: CalendarZone?,
        limit: Int
    ) throws(Fault) -> [CalendarTime] {
        var last = window.upperBound
        if var end = until {
            if untilIsUTC, let zone, !start.isDate { end = zone.local(end.seconds) }
            // A date includes the whole day.
            if end.isDate, !start.isDate { end = CalendarTime(seconds: end.seconds + 86_399) }
            last = min(last, end)
        }
        let first = period < 86_400 ? max(window.lowerBound, recent) : window.lowerBound
        guard last >= start, last >= first else { return [] }
        // With COUNT, the steps begin at the first occurrence.
        let from = count == nil ? max(start, first) : start
        var steps = (last.seconds - from.seconds) / period
        if let count, !hasParts { steps = min(steps, count) }
        guard steps <= Self.maximumSteps else { throw .tooOften }
        let found = try expanded(from: start, first: first, last: last, limit: limit)
        // All of them may be in the past, but the coming ones matter more.
        guard found.count == limit, first < recent else { return found }
        return try expanded(from: start, first: recent, last: last, limit: limit)
    }

    private func expanded(
        from start: CalendarTime, first: CalendarTime, last: CalendarTime, limit: Int
    ) throws(Fault) -> [CalendarTime] {
        var found = [calendar_time](repeating: calendar_time(), count: limit)
        func adjusted(_ time: CalendarTime) -> calendar_time { (start.isDate ? time.date : time).c }
        let filled = calendar_rule_expand(
            text, start.c, start.isDate ? 1 : 0, adjusted(first), adjusted(last), &found, limit, Self.maximumSteps)
        guard filled != -2 else { throw .tooOften }
        guard filled >= 0 else { throw .invalid }
        return found[..<filled].map { CalendarTime($0, isDate: start.isDate) }
    }
}
