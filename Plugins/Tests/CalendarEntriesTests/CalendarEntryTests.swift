// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import PluginTesting
import Testing

@testable import CalendarEntries

/// Entries in the styles of 20 different programs.
@Suite("Calendar entries")
struct CalendarEntryTests {
    private static let samples = Result { try SamplePeople("calendars") }
    /// 2026-01-10 12:00 UTC.
    private let now = 1_768_046_400

    private func list(_ name: String) throws -> CalendarList {
        try CalendarList(#require(try CalendarFile(contentsOf: Self.samples.get()[name])), zone: "Europe/Berlin")
    }

    private func entries(_ name: String, now: Int? = nil) throws -> [CalendarEntry] {
        let list = try list(name)
        return list.entries.map { list.read($0, CalendarClock(now: now ?? self.now, zone: "Europe/Berlin")) }
    }

    /// Returns the seconds for a time such as `2026-03-10T17:00:00Z`.
    private func utc(_ text: String) throws -> Int {
        Int(try Date(text, strategy: .iso8601).timeIntervalSince1970)
    }

    @Test(arguments: [
        ("google.ics", ["Stand-up"]), ("apple.ics", ["Dinner at the pier"]), ("outlook.ics", ["Quartalsgespräch"]),
        ("nextcloud.ics", ["Picnic", "Water the ferns"]), ("evolution.ics", ["Dentist"]),
        ("khal.ics", ["Sailing trip"]),
        ("birthdays.ics", ["Ada's birthday"]), ("tasks.ics", ["File the tax return", "Buy rope"]),
        ("journal.ics", ["Logbook"]), ("thunderbird.ics", ["Run"]), ("facebook.ics", ["Concert in the dock"]),
        ("meetup.ics", ["Swift meetup"]), ("timetable.ics", ["Lecture"]), ("flight.ics", ["Flight HAM-JFK"]),
        ("cancelled.ics", ["Cancelled regatta"]), ("invitation.ics", ["Planning"]), ("latin1.ics", ["Frühstück"]),
        ("lf.ics", ["Plain line ends"]),
        ("folded.ics", [String(repeating: "ü", count: 60) + " kaleidoscope"]),
    ])
    func titlesAreRead(_ file: String, _ titles: [String]) throws {
        let entries = try entries(file)
        #expect(entries.map(\.title) == titles)
        #expect(entries.allSatisfy { $0.problems.isEmpty }, "\(entries.map(\.problems))")
    }

    @Test func aSeriesHasItsNextDates() throws {
        let entry = try entries("google.ics")[0]
        // Monday the 12th was moved to the afternoon; the 7th is excluded.
        #expect(entry.occurrence == .init(start: try utc("2026-01-12T13:00:00Z"), end: try utc("2026-01-12T13:15:00Z")))
        #expect(try entry.dates.first == utc("2026-01-05T08:30:00Z"))
        #expect(
            try !entry.dates.contains(utc("2026-01-07T08:30:00Z")) && !entry.dates.contains(utc("2026-01-12T08:30:00Z"))
        )
        // 09:30 in winter and in summer.
        #expect(
            try entry.dates.contains(utc("2026-03-25T08:30:00Z")) && entry.dates.contains(utc("2026-03-30T07:30:00Z")))
        #expect(entry.dates.count == 1 + CalendarEntry.maximumComing && entry.isContinued)
        #expect(entry.changedTexts.contains("Room Argonaut") && entry.repeats == "every week")
        #expect(entry.url == "https://meet.example/abc" && entry.organiser?.name == "Ada Lovelace")
        #expect(entry.attendees == [CalendarPerson(name: "Bob", address: "bob@example.com", status: "accepted")])
        #expect(try list("google.ics").name == "Work")
    }

    @Test func timesHaveTheirZones() throws {
        // A time without a zone is in the machine's time zone.
        #expect(try entries("apple.ics")[0].occurrence?.start == utc("2026-03-10T17:00:00Z"))
        // A zone that is defined only in the file.
        #expect(try entries("outlook.ics")[0].occurrence?.start == utc("2026-04-01T08:00:00Z"))
        #expect(try entries("evolution.ics")[0].occurrence?.start == utc("2026-07-01T06:00:00Z"))
        // Summer time begins in the night of the flight.
        let flight = try entries("flight.ics")[0].occurrence
        #expect(try flight == .init(start: utc("2026-03-28T21:00:00Z"), end: utc("2026-03-29T05:00:00Z")))
        let picnic = try entries("nextcloud.ics")[0].occurrence
        #expect(try picnic == .init(start: utc("2026-06-15T12:00:00Z"), end: utc("2026-06-15T13:30:00Z")))
    }

    @Test func daysBeginAtMidnight() throws {
        let trip = try entries("khal.ics")[0]
        #expect(try trip.occurrence == .init(start: utc("2026-05-19T22:00:00Z"), end: utc("2026-05-22T22:00:00Z")))
        #expect(trip.isAllDay)
        let birthday = try entries("birthdays.ics")[0]
        #expect(try birthday.occurrence?.start == utc("2026-12-09T23:00:00Z"))
        #expect(birthday.dates.count == 3 && birthday.repeats == "every year")
    }

    @Test func datesOfAListAreOccurrences() throws {
        let lecture = try entries("timetable.ics")[0]
        let times = ["2026-03-02T09:00:00Z", "2026-03-04T09:00:00Z", "2026-04-01T08:00:00Z", "2026-04-02T10:00:00Z"]
        #expect(try lecture.dates == times.map(utc))
    }

    @Test func aPastSeriesKeepsItsLastDates() throws {
        let lecture = try entries("timetable.ics", now: utc("2026-06-01T00:00:00Z"))[0]
        #expect(try lecture.occurrence?.start == utc("2026-04-02T10:00:00Z"))
        #expect(!lecture.isContinued && lecture.dates.count == 4)
    }

    @Test func tasksHaveTheirState() throws {
        let ferns = try entries("nextcloud.ics")[1]
        #expect(ferns.kind == .task && ferns.percent == 40 && ferns.priority == 1 && ferns.isAllDay)
        let tasks = try entries("tasks.ics")
        #expect(try tasks[0].occurrence?.end == utc("2026-05-31T16:00:00Z"))
        #expect(
            try tasks[1].completed == Date("2026-01-02T10:15:00Z", strategy: .iso8601) && tasks[1].occurrence == nil)
        #expect(try entries("journal.ics")[0].kind == .journal)
    }

    @Test func anEntryIsExportedWithItsZones() throws {
        let list = try list("outlook.ics")
        let text = String(decoding: list.exported(list.entries[0]), as: UTF8.self)
        #expect(text.contains("TZID:W. Europe Standard Time") && text.hasSuffix("END:VEVENT\r\nEND:VCALENDAR\r\n"))
        let again = CalendarList(Array(text.utf8), zone: "UTC")
        #expect(again.entries.map(\.key) == list.entries.map(\.key))
        // All changed occurrences belong to the series.
        let series = try self.list("google.ics")
        let exported = String(decoding: series.exported(series.entries[0]), as: UTF8.self)
        #expect(exported.contains("RRULE") && exported.contains("RECURRENCE-ID"))
    }

    @Test func plainTextAndPageShowTheEntry() throws {
        let dates = CalendarEntry.DateText(
            zone: try #require(TimeZone(identifier: "Europe/Berlin")), locale: Locale(identifier: "en_GB"))
        let entry = try entries("invitation.ics")[0]
        let text = entry.plainText(dates, calendar: "Work")
        #expect(
            text.contains("Tue, 5 May 2026, 11:00 – 12:00") || text.contains("Tue 5 May 2026, 11:00 – 12:00"), "\(text)"
        )
        #expect(text.contains("Noether, Emmy <emmy@example.edu> (declined)") && text.contains("Calendar: Work"))
        let page = try entries("google.ics")[0].html(dates, calendar: "")
        #expect(page.contains("<a href=\"https://meet.example/abc\">") && page.contains("every week"))
    }

    @Test(
        arguments: [
            ("P1D", CalendarDuration(days: 1)), ("PT1H30M", CalendarDuration(seconds: 5400)),
            ("-PT15M", CalendarDuration(seconds: -900)),
            ("P2W", CalendarDuration(days: 14)), ("P1DT2H", CalendarDuration(days: 1, seconds: 7200)), ("P", nil),
            ("PT", CalendarDuration()),
            ("1D", nil), ("P1", nil), ("P99999999999D", nil), ("PT5D", nil),
        ] as [(String, CalendarDuration?)])
    func durations(_ text: String, _ expected: CalendarDuration?) {
        #expect(CalendarDuration(text) == expected)
    }

    @Test(arguments: [
        "20260229", "20261301", "2026010", "20260101T", "20260101T240000", "20260101T12000", "", "T", "2026010a",
    ])
    func otherDatesAreRejected(_ text: String) {
        #expect(CalendarTime(text[...].utf8) == nil)
    }

    @Test func secondsOfDatesAreReversible() {
        for seconds in stride(from: -62_000_000_000, through: 250_000_000_000, by: 12_345_678_901) {
            #expect(CalendarTime(seconds: seconds).seconds == seconds)
        }
    }
}
