// SPDX-License-Identifier: Apache-2.0
import Foundation
import PluginTesting
import Testing

@testable import CalendarEntries

/// Random series and times, compared with dateutil, which is a separate implementation.
@Suite("Repetitions by another implementation")
struct RecurrenceOracleTests {
    private static let zones = [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Sao_Paulo",
        "Africa/Casablanca",
    ]

    /// Returns an event with a random rule. The rules have the forms that programs write.
    private func event(_ number: Int, _ random: inout SeededGenerator) -> String {
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let days = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
        let (year, month, day) = (
            Int.random(in: 2010...2026, using: &random), Int.random(in: 1...12, using: &random),
            Int.random(in: 1...28, using: &random)
        )
        let date = "\(year)\(two(month))\(two(day))"
        // Hours near the transitions between winter and summer time are chosen often.
        let time = "T\(two(pick([0, 1, 2, 2, 3, 9, 23])))\(pick(["00", "15", "30", "45"]))00"
        var rule: String
        switch Int.random(in: 0..<7, using: &random) {
        case 0: rule = "FREQ=DAILY"
        case 1: rule = "FREQ=WEEKLY;BYDAY=\(Set((0..<3).map { _ in pick(days) }).sorted().joined(separator: ","))"
        case 2: rule = "FREQ=MONTHLY;BYDAY=\(pick([1, 2, 3, 4, -1, -2]))\(pick(days))"
        case 3: rule = "FREQ=MONTHLY;BYMONTHDAY=\(pick([1, 15, 28, 29, 30, 31, -1, -2]))"
        case 4:
            rule =
                "FREQ=YEARLY;BYMONTH=\(Int.random(in: 1...12, using: &random));BYDAY=\(pick([1, 2, -1]))\(pick(days))"
        case 5: rule = "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=\(pick([1, -1, 3]))"
        default: rule = "FREQ=YEARLY"
        }
        if Bool.random(using: &random) { rule += ";INTERVAL=\(Int.random(in: 1...4, using: &random))" }
        let isDate = Int.random(in: 0..<5, using: &random) == 0
        switch Int.random(in: 0..<4, using: &random) {
        case 0: rule += ";COUNT=\(Int.random(in: 1...900, using: &random))"
        case 1:
            rule +=
                ";UNTIL=\(Int.random(in: 2025...2027, using: &random))0615" + (isDate ? "" : pick(["", "T120000Z"]))
        default: break
        }
        let zone = pick(Self.zones)
        var start = "DTSTART;TZID=\(zone):\(date)\(time)"
        if isDate {
            start = "DTSTART;VALUE=DATE:\(date)"
        } else if number % 7 == 0 {
            start = "DTSTART:\(date)\(time)Z"
        } else if number % 5 == 0 {
            start = "DTSTART:\(date)\(time)"
        }
        return
            "BEGIN:VEVENT\r\nUID:\(number)\r\nDTSTAMP:20260101T000000Z\r\n\(start)\r\nRRULE:\(rule)\r\nSUMMARY:\(rule)\r\nEND:VEVENT\r\n"
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func seriesHaveTheSameDates(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let events = (0..<300).map { event($0, &random) }
        let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n" + events.joined() + "END:VCALENDAR\r\n"
        let file = FileManager.default.temporaryDirectory.path + "/oracle-\(UUID().uuidString).ics"
        try Data(text.utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let now = 1_772_323_200 + Int(seed) * 5_000_000
        let (first, last) = (now, now + 200 * 86_400)
        let output = try SamplePeople.run(["dates", file, "\(first)", "\(last)", "Europe/Berlin"])
        let expected = try JSONDecoder().decode([String: [Int]].self, from: output)
        let list = CalendarList(Array(text.utf8), zone: "Europe/Berlin")
        #expect(list.entries.count == 300 && expected.count == 300)
        for (number, found) in list.entries.enumerated() {
            let entry = list.read(found, CalendarClock(now: now, zone: "Europe/Berlin"))
            let other = try #require(expected["\(number)"])
            // Only the next dates are kept. A date that has started may not have ended.
            let dates = entry.dates.filter { (first...last).contains($0) }
            #expect(dates == Array(other.prefix(dates.count)), "\(events[number])")
            #expect(dates.count == other.count || entry.dates.count >= CalendarEntry.maximumComing, "\(events[number])")
        }
    }

    @Test func timesAroundEachChangeOfTheClock() throws {
        for name in Self.zones {
            let zone = try #require(CalendarZone(name: name))
            let reference = try #require(TimeZone(identifier: name))
            for hour in stride(from: 1_767_225_600, to: 1_798_761_600, by: 1800) {
                let local = zone.local(hour)
                #expect(
                    local.seconds - hour == reference.secondsFromGMT(for: Date(timeIntervalSince1970: Double(hour))),
                    "\(name) \(hour)")
                // Converting back gives the same instant, or, for a local time that occurs twice,
                // the first instant.
                let back = zone.instant(local)
                #expect(back == hour || back < hour && zone.local(back) == local, "\(name) \(hour)")
            }
        }
    }

    @Test func aTimeInTheGapCountsFromTheOffsetBeforeIt() throws {
        let zone = try #require(CalendarZone(name: "Europe/Berlin"))
        let gap = try #require(CalendarTime("20260329T023000"[...].utf8))
        // 01:30 UTC, which is 03:30 in summer time.
        #expect(zone.instant(gap) == 1_774_747_800)
        let twice = try #require(CalendarTime("20261025T023000"[...].utf8))
        #expect(zone.instant(twice) == 1_792_888_200)
    }
}
