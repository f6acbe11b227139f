// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

extension CalendarPerson {
    /// The name and the address in one line.
    package var line: String {
        switch (name, address) {
        case (let name?, let address?): "\(name) <\(address)>"
        case (let name?, nil): name
        case (nil, let address): address ?? ""
        }
    }
}

extension CalendarEntry {
    /// The maximum size of the indexed text, in bytes.
    package static let maximumText = 256 << 10
    /// The maximum number of people, and of dates, that are shown.
    private static let maximumShown = 30

    /// The title, or a name for the kind of entry.
    package var displayTitle: String {
        if !title.isEmpty { return title }
        switch kind {
        case .event: return "(event without a title)"
        case .task: return "(task without a title)"
        case .journal:
            return description.isEmpty ? "(note without a title)" : description.summary(maximumCharacters: 80)
        }
    }

    /// Formats dates in a time zone.
    package struct DateText {
        private let zone: TimeZone
        private let locale: Locale

        package init(zone: TimeZone, locale: Locale = .ofDates) { (self.zone, self.locale) = (zone, locale) }

        func day(_ seconds: Int) -> String {
            text(seconds, Date.FormatStyle(locale: locale, timeZone: zone).weekday().day().month().year())
        }

        func time(_ seconds: Int) -> String {
            text(seconds, Date.FormatStyle(locale: locale, timeZone: zone).hour().minute())
        }

        private func text(_ seconds: Int, _ style: Date.FormatStyle) -> String {
            Date(timeIntervalSince1970: Double(seconds)).formatted(style)
        }

        /// Returns the period of an occurrence, such as `Sun, 1 Mar 2026, 09:00 – 10:00`.
        func period(_ occurrence: Occurrence, isAllDay: Bool) -> String {
            let start = day(occurrence.start)
            if isAllDay {
                // A period of whole days ends on the day after its last day.
                let last = day(max(occurrence.start, occurrence.end - 43_200))
                return start == last ? start : "\(start) – \(last)"
            }
            let begin = "\(start), \(time(occurrence.start))"
            if occurrence.end <= occurrence.start { return begin }
            let end = day(occurrence.end)
            return "\(begin) – \(end == start ? "" : end + ", ")\(time(occurrence.end))"
        }
    }

    private func rows(_ dates: DateText, calendar: String) -> [(name: String, values: [String])] {
        var when: [String] = []
        if let occurrence { when = [dates.period(occurrence, isAllDay: isAllDay)] }
        if let repeats { when.append("(\(repeats))") }
        let coming = self.dates.filter { $0 > occurrence?.start ?? 0 }.prefix(5).map {
            isAllDay ? dates.day($0) : "\(dates.day($0)), \(dates.time($0))"
        }
        var state: [String] = []
        if let status { state.append(status.replacing("-", with: " ").capitalized) }
        if let percent, percent > 0 { state.append("\(percent) %") }
        if let completed { state.append("completed \(dates.day(Int(completed.timeIntervalSince1970)))") }
        let people = attendees.prefix(Self.maximumShown).map { person in
            person.line + (person.status.map { $0 == "needs-action" ? "" : " (\($0))" } ?? "")
        }
        let more = attendees.count > Self.maximumShown ? ["and \(attendees.count - Self.maximumShown) more"] : []
        let all: [(name: String, values: [String])] = [
            (kind == .task ? "Due" : "When", when), ("Next", coming), ("Where", location.isEmpty ? [] : [location]),
            ("Status", state.isEmpty ? [] : [state.joined(separator: ", ")]),
            ("Organiser", organiser.map { [$0.line] } ?? []), ("People", people + more),
            ("Link", url.map { [$0] } ?? []),
            ("Categories", categories.isEmpty ? [] : [categories.joined(separator: ", ")]),
            ("Attached", Array(attachments.prefix(Self.maximumShown))),
            ("Calendar", calendar.isEmpty ? [] : [calendar]),
        ]
        return all.filter { !$0.values.isEmpty }
    }

    /// Returns the entry as plain text, for receivers of text.
    package func plainText(_ dates: DateText, calendar: String) -> String {
        var lines = [displayTitle]
        for (name, values) in rows(dates, calendar: calendar) {
            lines += values.map { "\(name): \($0.oneLine)" }
        }
        if !description.isEmpty { lines += ["", description] }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The text that is searchable in addition to the attributes, and the number of bytes beyond
    /// the limit.
    package var indexedText: (text: String, missing: Int) {
        let people = ([organiser].compactMap { $0 } + attendees).map(\.line)
        let parts = [description, location] + changedTexts + people + attachments
        let text = parts.filter { !$0.isEmpty }.joined(separator: "\n")
        let kept = text.prefix(maximumUTF8Bytes: Self.maximumText)
        return (kept, text.utf8.count - kept.utf8.count)
    }

    /// Returns the entry as an HTML page.
    package func html(_ dates: DateText, calendar: String) -> String {
        let isOff = status == "CANCELLED"
        var body = "<h1 class=\"event-title\(isOff ? " event-off" : "")\">\(displayTitle.escapedForHTML)</h1>\n"
        body += "<table class=\"event\">\n"
        for (name, values) in rows(dates, calendar: calendar) {
            let cells = values.map { Self.link($0.oneLine) }.joined(separator: "<br>")
            body += "<tr><th>\(name)</th><td>\(cells)</td></tr>\n"
        }
        body += "</table>\n"
        if !description.isEmpty { body += "<pre class=\"event-text\">\(description.escapedForHTML)</pre>\n" }
        return HTMLPage.text(title: displayTitle, style: Self.style, body: body)
    }

    private static func link(_ text: String) -> String {
        let escaped = text.escapedForHTML
        let lowered = text.lowercased()
        let isLink = (lowered.hasPrefix("https://") || lowered.hasPrefix("http://")) && !text.contains(" ")
        return isLink ? "<a href=\"\(escaped)\">\(escaped)</a>" : escaped
    }

    private static let style = """

        .event-title { font: bold 1.4em/1.3 system-ui, sans-serif; margin: 0 0 .5em; }
        .event-off { text-decoration: line-through; }
        .event { font: 15px/1.5 system-ui, sans-serif; border-collapse: collapse; }
        .event th { text-align: left; vertical-align: top; padding: 0 1em 0 0; color: #6a737d; font-weight: normal; }
        .event-text { white-space: pre-wrap; overflow-wrap: anywhere; font: 15px/1.5 system-ui, sans-serif; }

        """
}
