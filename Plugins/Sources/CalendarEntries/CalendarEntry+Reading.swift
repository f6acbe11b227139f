// SPDX-License-Identifier: Apache-2.0
import ContentLines
import FileReading
import Foundation

extension CalendarEntry {
    /// The number of days before and after the current day for which occurrences are computed.
    static let daysBefore = 100
    static let daysAfter = 400
    /// The maximum numbers of past and coming occurrences of an item.
    package static let maximumPast = 12
    package static let maximumComing = 50
    private static let maximumFound = 4_000

    /// Reads an entry.
    ///
    /// - Parameters:
    ///   - parts: The bytes of its components. The component without `RECURRENCE-ID` is the series.
    ///   - zones: The time zones of the file.
    init(_ kind: Kind, parts: [ArraySlice<UInt8>], _ zones: ZoneTable, _ clock: CalendarClock) {
        self.kind = kind
        var components = parts.map { CalendarComponent($0, zones) }
        let index = components.firstIndex { $0.recurrenceID == nil } ?? 0
        let main = components.remove(at: index)
        take(main, zones)
        for changed in components {
            for text in [changed.summary, changed.location, changed.description]
            where !text.isEmpty && ![title, location, description].contains(text) && !changedTexts.contains(text) {
                if changedTexts.count < CalendarComponent.Limits.values { changedTexts.append(text) }
            }
            for problem in changed.problems where !problems.contains(problem) { problems.append(problem) }
        }
        setOccurrences(main, changed: components, zones, clock)
    }

    private mutating func take(_ main: CalendarComponent, _ zones: ZoneTable) {
        func date(_ time: ZonedTime?) -> Date? {
            time.map { Date(timeIntervalSince1970: Double($0.instant(floating: zones.floating))) }
        }
        identifier = main.identifier
        title = main.summary.oneLine
        description = main.description
        location = main.location.oneLine
        url = main.url ?? main.conference
        categories = main.categories
        organiser = main.organiser
        attendees = main.attendees
        attachments = main.attachments
        status = main.status
        isPrivate = main.isPrivate
        priority = main.priority
        percent = main.percent
        position = main.position
        completed = date(main.completed)
        created = date(main.created)
        modified = date(main.modified)
        problems = main.problems
    }

    // MARK: Occurrences

    /// The first occurrence of a component, and its length.
    private struct Span {
        var start: ZonedTime
        var days = 0
        var seconds = 0

        /// - Parameter kind: For a task without a start, the due date is used.
        init?(_ component: CalendarComponent, _ kind: Kind, floating: CalendarZone?) {
            let end = kind == .task ? component.due : component.end
            guard let start = component.start ?? (kind == .task ? component.due : nil) else { return nil }
            self.start = start
            if let end {
                if start.time.isDate, end.time.isDate {
                    days = max(0, (end.time.seconds - start.time.seconds) / 86_400)
                } else {
                    seconds = max(0, end.instant(floating: floating) - start.instant(floating: floating))
                }
            } else if let duration = component.duration {
                (days, seconds) = (max(0, duration.days), max(0, duration.seconds))
            } else if start.time.isDate, kind == .event {
                days = 1
            }
        }

        func occurrence(_ start: ZonedTime, floating: CalendarZone?) -> Occurrence {
            let begin = start.instant(floating: floating)
            guard days > 0 else { return Occurrence(start: begin, end: begin + seconds) }
            // A day may have 23 or 25 hours.
            var end = start
            end.time = CalendarTime(seconds: start.time.seconds + days * 86_400, isDate: start.time.isDate)
            return Occurrence(start: begin, end: end.instant(floating: floating) + seconds)
        }
    }

    private mutating func setOccurrences(
        _ main: CalendarComponent, changed: [CalendarComponent], _ zones: ZoneTable, _ clock: CalendarClock
    ) {
        guard let span = Span(main, kind, floating: zones.floating) else { return }
        isAllDay = span.start.time.isDate
        let first = span.occurrence(span.start, floating: zones.floating)
        let isSeries = !main.rules.isEmpty || !main.dates.isEmpty || !changed.isEmpty
        guard isSeries else {
            occurrence = first
            return
        }
        repeats = main.rules.first.map(Self.words)
        let zone = span.start.isUTC ? CalendarZone(name: "UTC") : span.start.zone ?? zones.floating
        let now = zone?.local(clock.now) ?? CalendarTime(seconds: clock.now)
        let recent = CalendarTime(seconds: now.seconds - 86_400)
        let window =
            CalendarTime(
                seconds: now.seconds - Self.daysBefore * 86_400)...CalendarTime(
                seconds: now.seconds + Self.daysAfter * 86_400)
        // Keyed by instant, so that the same instant in another zone matches.
        var starts: [Int: Occurrence] = [first.start: first]
        let rules = clock.isOver() ? [] : main.rules
        if rules.count < main.rules.count { report(.outOfTime) }
        for rule in rules {
            do throws(RecurrenceRule.Fault) {
                let times = try RecurrenceRule(rule).occurrences(
                    from: span.start.time, in: window, recent: recent, zone: zone, limit: Self.maximumFound)
                for time in times {
                    let start = ZonedTime(time: time, zone: span.start.zone, isUTC: span.start.isUTC)
                    let found = span.occurrence(start, floating: zones.floating)
                    starts[found.start] = found
                }
            } catch {
                report(error == .tooOften ? .tooOften : .invalidRule)
            }
        }
        for date in main.dates {
            let found = span.occurrence(date, floating: zones.floating)
            starts[found.start] = found
        }
        remove(main.exceptions + changed.compactMap(\.recurrenceID), from: &starts, zone, zones)
        for component in changed {
            guard component.status != "CANCELLED", let span = Span(component, kind, floating: zones.floating) else {
                continue
            }
            let found = span.occurrence(span.start, floating: zones.floating)
            starts[found.start] = found
        }
        select(starts.values.sorted { ($0.start, $0.end) < ($1.start, $1.end) }, first, now: clock.now)
    }

    /// Removes occurrences. A date removes all occurrences that begin on that day.
    private func remove(
        _ times: [ZonedTime], from starts: inout [Int: Occurrence], _ zone: CalendarZone?, _ zones: ZoneTable
    ) {
        var days: Set<CalendarTime> = []
        for time in times {
            if time.time.isDate, !isAllDay {
                days.insert(time.time)
            } else if isAllDay, !time.time.isDate {
                let day = ZonedTime(time: time.time.date, zone: nil, isUTC: false)
                starts[day.instant(floating: zones.floating)] = nil
            } else {
                starts[time.instant(floating: zones.floating)] = nil
            }
        }
        if days.isEmpty { return }
        for start in starts.keys where days.contains((zone?.local(start) ?? CalendarTime(seconds: start)).date) {
            starts[start] = nil
        }
    }

    /// Keeps the recent and the coming occurrences.
    private mutating func select(_ all: [Occurrence], _ first: Occurrence, now: Int) {
        let coming = all.filter { max($0.end, $0.start) >= now }
        let past = all.filter { max($0.end, $0.start) < now }
        occurrence = coming.first ?? past.last ?? first
        isContinued = !coming.isEmpty
        dates = (past.suffix(Self.maximumPast) + coming.prefix(Self.maximumComing)).map(\.start).sorted()
    }

    private mutating func report(_ problem: Problem) {
        if !problems.contains(problem) { problems.append(problem) }
    }

    /// Returns the rule in words, such as `every 2 weeks`.
    private static func words(_ rule: String) -> String {
        var (unit, interval) = ("", 1)
        for part in rule.uppercased().split(separator: ";") {
            if part.hasPrefix("INTERVAL=") { interval = Int(part.dropFirst(9)) ?? 1 }
            guard part.hasPrefix("FREQ=") else { continue }
            let units = [
                "SECONDLY": "second", "MINUTELY": "minute", "HOURLY": "hour", "DAILY": "day", "WEEKLY": "week",
                "MONTHLY": "month", "YEARLY": "year",
            ]
            unit = units[String(part.dropFirst(5))] ?? ""
        }
        if unit.isEmpty { return "repeats" }
        return interval == 1 ? "every \(unit)" : "every \(interval) \(unit)s"
    }
}
