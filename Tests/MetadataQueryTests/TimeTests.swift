// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import MetadataQuery

@Suite("Dates")
struct TimeTests {
    static func resolve(_ term: String, _ clock: QueryClock) throws -> ResolvedTime {
        guard case .comparison(let comparison) = try QueryExpression(parsing: "d == " + term),
            case .time(let time) = comparison.value
        else { throw ParserTests.ParseMismatch(text: term) }
        return time.resolved(at: clock)
    }

    static func moment(_ text: String) throws -> Double {
        try #require(ISO8601DateFormatter().date(from: text)).timeIntervalSinceReferenceDate
    }

    /// UTC+2 until 2024-10-27 01:00 UTC, UTC+1 after; UTC+1 before 2024-03-31 01:00 UTC.
    static func oslo(_ now: String) throws -> QueryClock {
        let spring = try moment("2024-03-31T01:00:00Z")
        let autumn = try moment("2024-10-27T01:00:00Z")
        return QueryClock(now: try moment(now)) { $0 >= spring && $0 < autumn ? 7_200 : 3_600 }
    }

    @Test(
        "Terms mean local periods",
        arguments: [
            ("$time.today", "2024-05-14T22:00:00Z", "2024-05-15T22:00:00Z"),
            ("$time.today(-10)", "2024-05-04T22:00:00Z", "2024-05-05T22:00:00Z"),
            ("$time.today(-10d)", "2024-05-04T22:00:00Z", "2024-05-05T22:00:00Z"),
            ("$time.today(+1w)", "2024-05-21T22:00:00Z", "2024-05-22T22:00:00Z"),
            ("$time.today(-2h)", "2024-05-14T20:00:00Z", "2024-05-15T20:00:00Z"),
            ("$time.today(-3M)", "2024-02-14T23:00:00Z", "2024-02-15T23:00:00Z"),
            ("$time.yesterday", "2024-05-13T22:00:00Z", "2024-05-14T22:00:00Z"),
            ("$time.this_week", "2024-05-12T22:00:00Z", "2024-05-19T22:00:00Z"),
            ("$time.this_week(-1)", "2024-05-05T22:00:00Z", "2024-05-12T22:00:00Z"),
            ("$time.last_week", "2024-05-05T22:00:00Z", "2024-05-12T22:00:00Z"),
            ("$time.this_month", "2024-04-30T22:00:00Z", "2024-05-31T22:00:00Z"),
            ("$time.this_month(-5)", "2023-11-30T23:00:00Z", "2023-12-31T23:00:00Z"),
            ("$time.this_year", "2023-12-31T23:00:00Z", "2024-12-31T23:00:00Z"),
            ("$time.this_year(1)", "2024-12-31T23:00:00Z", "2025-12-31T23:00:00Z"),
        ])
    func periods(term: String, start: String, end: String) throws {
        let resolved = try Self.resolve(term, try Self.oslo("2024-05-15T12:00:00Z"))
        #expect(resolved.start == (try Self.moment(start)))
        // Outside the year covered by the test's time zone, the offset stays at UTC+1.
        #expect(resolved.end == (try Self.moment(end)))
    }

    @Test(
        "now and iso are instants",
        arguments: [
            ("$time.now", "2024-05-15T12:00:00Z"), ("$time.now(-60)", "2024-05-15T11:59:00Z"),
            ("$time.now(5m)", "2024-05-15T12:05:00Z"), ("$time.now(-24h)", "2024-05-14T12:00:00Z"),
            ("$time.now(-60d)", "2024-03-16T13:00:00Z"), ("$time.now(1M)", "2024-06-15T12:00:00Z"),
            ("$time.iso(2024-05-01T12:00:00Z)", "2024-05-01T12:00:00Z"),
            ("$time.iso(2024-05-01T12:00:00+02:00)", "2024-05-01T10:00:00Z"),
            ("$time.iso(20240501T120000-0330)", "2024-05-01T15:30:00Z"),
            ("$time.iso(2024-05-01 12:30)", "2024-05-01T10:30:00Z"),
            ("$time.iso(2024-01-01)", "2023-12-31T23:00:00Z"), ("$time.iso('2024-05-01T12')", "2024-05-01T10:00:00Z"),
            ("$time.iso(2016-12-31T23:59:60Z)", "2017-01-01T00:00:00Z"),
        ])
    func instants(term: String, expected: String) throws {
        let resolved = try Self.resolve(term, try Self.oslo("2024-05-15T12:00:00Z"))
        #expect(resolved == ResolvedTime(start: try Self.moment(expected), end: nil))
    }

    @Test("Fractions of seconds are read", arguments: ["15.25", "15,25"])
    func fractions(seconds: String) throws {
        let resolved = try Self.resolve("$time.iso(2001-01-01T00:00:\(seconds)Z)", QueryClock(now: 0))
        #expect(abs(resolved.start - 15.25) < 1e-9)
    }

    @Test(
        "An invalid date is rejected",
        arguments: [
            "", "2024", "2024-05", "2024-0501", "202405-01", "2024-02-30", "1900-02-29", "2024-05-01T",
            "2024-05-01T24:01",
            "2024-05-01T12:60", "2024-05-01T12:00:61", "2024-05-01T12:00:00.", "2024-05-01T12:00+2", "2024-05-01Z",
            "2024-05-01T12:00:00Zx", "2024-05-01T12:00:00+24:00", "24-05-01", "２024-05-01", "2024-W20", "2024-W203",
            "2024W20-3",
            "2024-W53-1", "2024-W00-1", "2024-W20-8", "2023-366", "2024-000", "2024-12-2", "2024-5-01", "+002024-05-01",
            "P1D",
            "2024-05-01/2024-05-02", "2024-05-01T24:00:00.5", "12:30",
        ])
    func refused(text: String) {
        #expect(ISOMoment(text) == nil)
    }

    @Test("Days of 23 and 25 hours, and times that are skipped or repeated")
    func daylightSaving() throws {
        let spring = try Self.resolve("$time.today", try Self.oslo("2024-03-31T10:00:00Z"))
        #expect(try #require(spring.end) - spring.start == 23 * 3_600)
        let autumn = try Self.resolve("$time.today", try Self.oslo("2024-10-27T10:00:00Z"))
        #expect(try #require(autumn.end) - autumn.start == 25 * 3_600)
        let clock = try Self.oslo("2024-05-15T12:00:00Z")
        #expect(
            try Self.resolve("$time.iso(2024-03-31T02:30)", clock).start == (try Self.moment("2024-03-31T01:30:00Z")))
        #expect(
            try Self.resolve("$time.iso(2024-10-27T02:30)", clock).start == (try Self.moment("2024-10-27T00:30:00Z")))
    }

    @Test("The first day of the week is the clock's", arguments: QueryClock.Weekday.allCases)
    func firstWeekday(day: QueryClock.Weekday) throws {
        for offset in 0..<14 {
            let now = testNow + Double(offset) * 86_400
            let week = try Self.resolve("$time.this_week", QueryClock(now: now, firstWeekday: day))
            #expect(week.contains(now))
            #expect(CivilDay(index: Int(week.start / 86_400)).weekday == day.rawValue)
        }
    }

    @Test("Days and dates are converted as Foundation does", arguments: [41, 42] as [UInt64])
    func civilDays(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for _ in 0..<2_000 {
            let day = CivilDay(index: Int.random(in: -140_000...1_000_000, using: &random))
            let date = Date(timeIntervalSinceReferenceDate: Double(day.index) * 86_400)
            let expected = calendar.dateComponents([.year, .month, .day], from: date)
            let (year, month, dayOfMonth) = day.components
            #expect([year, month, dayOfMonth] == [expected.year, expected.month, expected.day])
            #expect(CivilDay(year: year, month: month, day: dayOfMonth) == day)
            let months = Int.random(in: -500...500, using: &random)
            // Not Foundation's addition, which adds years and so loses leap days (2488-02-29).
            let moved = day.adding(months: months)
            let (newYear, newMonth, newDay) = moved.components
            #expect(newYear * 12 + newMonth == year * 12 + month + months)
            let next = moved.adding(1, .day).components
            #expect(newDay == dayOfMonth || (newDay < dayOfMonth && next.day == 1))
        }
    }

    @Test("== means the period, order operators and InRange its first instant")
    func comparisons() throws {
        let noon = item(["d": .date(testNow)])
        let midnight = item(["d": .date(testNow - 43_200)])
        for query in ["d == $time.today", "d > $time.today", "d >= $time.today", "d != $time.yesterday"] {
            #expect(try holds(query, noon), "\(query)")
        }
        for query in [
            "d <= $time.today", "d < $time.today", "d == $time.yesterday", "InRange(d,$time.today(-1),$time.today)",
        ] {
            #expect(try !holds(query, noon), "\(query)")
        }
        #expect(try holds("InRange(d,$time.today(-1),$time.today)", midnight))
        #expect(try holds("InRange(d,$time.today,$time.today(1))", noon))
        #expect(try holds("d == $time.now", noon))
        #expect(try holds("d == $time.today", item(["d": .double(testNow)])))
        #expect(try holds("d == $time.today", item(["d": .array([.date(0), .date(testNow)])])))
        #expect(try !holds("d == $time.today", item(["d": .string("today")])))
    }

    @Test("A hostile clock does no harm")
    func hostileClock() throws {
        for now in [Double.nan, .infinity, -.infinity, 1e300, -1e300, 0] {
            let clock = QueryClock(now: now) { $0 > 0 ? .max : .min }
            for term in ["$time.now(-3000y)", "$time.today(36000M)", "$time.this_week", "$time.iso(0000-01-01)"] {
                #expect(try Self.resolve(term, clock).start.isFinite)
            }
        }
    }
    @Test(
        "A date without a clock is in UTC unless it has a zone",
        arguments: [
            ("2024-05-01", "2024-05-01T00:00:00Z"), ("20240501T1230", "2024-05-01T12:30:00Z"),
            ("2024-05-01 12:30:15", "2024-05-01T12:30:15Z"), ("2024-05-01T12:30:00+02:00", "2024-05-01T10:30:00Z"),
            ("1999-12-31T23:00-0130", "2000-01-01T00:30:00Z"), ("2024-03-01T08\u{2212}05:30", "2024-03-01T13:30:00Z"),
            ("2024-060", "2024-02-29T00:00:00Z"), ("2023060T06", "2023-03-01T06:00:00Z"),
            ("2024-366", "2024-12-31T00:00:00Z"),
            ("2020-W53-5", "2021-01-01T00:00:00Z"), ("2025W011", "2024-12-30T00:00:00Z"),
            ("2026-W01-4T10:00Z", "2026-01-01T10:00:00Z"), ("2024-02-29T24:00", "2024-03-01T00:00:00Z"),
            ("2024-02-29T24", "2024-03-01T00:00:00Z"), ("2024-05-01T10:30.5", "2024-05-01T10:30:30Z"),
            ("20240501T10,25", "2024-05-01T10:15:00Z"),
        ])
    func instantWithoutClock(text: String, expected: String) throws {
        #expect(try #require(ISOMoment(text)).instant == Self.moment(expected))
    }

    @Test("A date keeps its fraction")
    func fraction() throws {
        #expect(try #require(ISOMoment("2001-01-01T00:00:01.25Z")).instant == 1.25)
    }
}
