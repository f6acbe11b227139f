// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import PluginTesting
import Testing

@testable import CalendarEntries
@testable import ContentLines

/// Calendars that repeat every second, nest, refer to files and never end.
@Suite("Hostile calendars", .timeLimit(.minutes(10)))
struct HostileCalendarTests {
    private static let samples = Result { try SamplePeople("hostile-calendars") }
    private let now = 1_772_323_200

    private func list(_ name: String) throws -> CalendarList {
        try CalendarList(#require(try CalendarFile(contentsOf: Self.samples.get()[name])), zone: "UTC")
    }

    private func entries(_ name: String) throws -> [CalendarEntry] {
        let list = try list(name)
        return list.entries.filter { !$0.isTooLarge }.map { list.read($0, CalendarClock(now: now, zone: "UTC")) }
    }

    private func check(_ entry: CalendarEntry) {
        #expect(entry.dates.count <= CalendarEntry.maximumPast + CalendarEntry.maximumComing)
        #expect(entry.attendees.count <= 200 && entry.changedTexts.count <= 200)
        #expect(entry.indexedText.text.utf8.count <= CalendarEntry.maximumText)
    }

    @Test func eachFileLosesItsHostileEntryOnly() throws {
        for name in try Self.samples.get().names {
            let entries = try entries(name)
            entries.forEach(check)
            if name == "empty.ics" || name == "binary.ics" {
                #expect(entries.isEmpty)
            } else {
                #expect(entries.contains { $0.title == "Sound event" }, "\(name)")
            }
        }
    }

    @Test(arguments: [
        ("secondly.ics", CalendarEntry.Problem.tooOften), ("secondly-count.ics", .tooOften),
        ("secondly-never.ics", .tooOften), ("daily-seconds.ics", .tooOften),
        ("minutely.ics", .tooOften), ("old-daily.ics", .tooOften), ("nonsense.ics", .invalidRule),
        ("zero-interval.ics", .invalidRule), ("long-rule.ics", .tooOften), ("many-rules.ics", .tooManyDates),
        ("dates.ics", .tooManyDates), ("attendees.ics", .tooManyValues), ("zone-bomb.ics", .unknownZone),
        ("zone-rules.ics", .unknownZone), ("zone-parts.ics", .unknownZone),
        ("zone-path.ics", .unknownZone), ("invalid-dates.ics", .invalidDate),
        ("no-end.ics", .noEnd), ("huge-event.ics", .tooManyLines),
    ])
    func lossesAreNamed(_ file: String, _ problem: CalendarEntry.Problem) throws {
        let problems = try entries(file)[0].problems
        #expect(problems.contains(problem), "\(problems)")
    }

    @Test func aSeriesThatRepeatsTooOftenKeepsItsFirstDate() throws {
        let bomb = try entries("secondly.ics")[0]
        #expect(bomb.occurrence?.start == 1_767_225_600 && bomb.dates.count == 1)
    }

    @Test func alarmsCostNothing() throws {
        #expect(try entries("alarms.ics")[0].problems.isEmpty)
    }

    @Test func largeEntriesAndFilesWithoutEntriesAreNamed() throws {
        #expect(try list("huge-line.ics").entries[0].isTooLarge)
        #expect(try list("binary.ics").leftOut == "it has no iCalendar" && list("empty.ics").leftOut == nil)
    }

    @Test func aCalendarWhoseEntriesCannotBeReadIsNamedAndAnEmptyOneIsNot() {
        func leftOut(_ text: String) -> String? { CalendarList(Array(text.utf8), zone: "UTC").leftOut }
        let zone = "BEGIN:VTIMEZONE\nTZID:X\nBEGIN:STANDARD\nEND:STANDARD\nEND:VTIMEZONE\n"
        for text in [
            "", "BEGIN:VCALENDAR\nVERSION:2.0\nEND:VCALENDAR", "\u{FEFF}begin:vcalendar\r\nEND:VCALENDAR\r\n\r\n",
            "BEGIN:VCALENDAR\n\(zone)X-WR-CALNAME:Holi\n days\nEND:VCALENDAR\nBEGIN:VCALENDAR\nEND:VCALENDAR\n",
            "BEGIN:VCALENDAR\nBEGIN:VFREEBUSY\nEND:VFREEBUSY\nEND:VCALENDAR\n",
        ] { #expect(leftOut(text) == nil, "\(text)") }
        for text in [
            "BEGIN:VCALENDAR\nVERSION:2.0\n", "BEGIN:VCALENDAR\nPEGIN:VEVENT\nEND:VEVENT\nEND:VCALENDAR\n",
            "BEGIN:VCALENDAR\nBEGIN:VEVEN\nEND:VEVENT\nEND:VCALENDAR\n",
            "BEGIN:VCALENDAR\nEND:VCALENDAR\nSUMMARY:Lost\n", "BEGIN:VCALENDAR\nDTSTART:20260101\nEND:VCALENDAR\n",
            "BEGIN:VCALENDAR\nVERS\nEND:VCALENDAR\n", String(repeating: "BEGIN:VCALENDAR\n", count: 100_000),
        ] { #expect(leftOut(text) == "it has no entry that can be read", "\(text.prefix(100))") }
    }

    @Test func afterTheTimeForRepetitionsTheFirstDateIsIndexed() throws {
        let list = try list("many-series.ics")
        let entry = list.read(list.entries[0], CalendarClock(now: now, zone: "UTC", isOver: { true }))
        #expect(entry.problems == [.outOfTime] && entry.occurrence?.start == 1_577_836_800)
    }

    @Test func markupOfEntriesIsEscaped() throws {
        let dates = CalendarEntry.DateText(zone: .gmt)
        let page = try entries("html.ics")[0].html(dates, calendar: "<b>")
        #expect(!page.contains("<script>") && !page.contains("<b>") && !page.contains("href=\"javascript"))
    }

    /// Changes random bytes in real calendars. An environment variable makes this test longer.
    @Test(.timeLimit(.minutes(60))) func mutatedCalendarsAreReadWithinTheirBounds() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["SEARCHLIGHT_PEOPLE_FUZZ"].flatMap { Int($0) } ?? 3_000
        let seed = environment["SEARCHLIGHT_PEOPLE_SEED"].flatMap { UInt64($0) } ?? 1
        let samples = try SamplePeople("calendars").contents()
        var mutation = Mutation(
            SeededGenerator(seed: seed),
            pieces: [
                "BEGIN:VEVENT\r\n", "END:VEVENT\n", "\r\n ", "RRULE:FREQ=", "SECONDLY", "HOURLY;", "INTERVAL=",
                "COUNT=999999",
                "BYDAY=-53SU", ";BYSETPOS=-366", "BYWEEKNO=53;BYMONTH=2;", "BYMONTHDAY=31,-31;", "EXDATE:", "RDATE:",
                "TZID=", "BEGIN:VTIMEZONE\nTZID:Europe/Nowhere\n",
                "RECURRENCE-ID:20260105T093000\n", "DTSTART;VALUE=DATE:", "19000101", "99991231T235959Z", "\\", ";",
                ",", "\"", "\0", "P1W",
            ])
        for _ in 0..<count {
            let sample = samples[Int.random(in: 0..<samples.count, using: &mutation.random)]
            let list = CalendarList(ContentEncoding.utf8(mutation.mutated(sample)), zone: "Europe/Berlin")
            for found in list.entries where !found.isTooLarge {
                let entry = list.read(found, CalendarClock(now: now, zone: "Europe/Berlin"))
                try #require(entry.dates.count <= CalendarEntry.maximumPast + CalendarEntry.maximumComing)
                try #require(entry.dates == entry.dates.sorted())
                try #require(entry.indexedText.text.utf8.count <= CalendarEntry.maximumText)
                _ = list.exported(found)
            }
        }
    }
}
