// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// The clock of a trace: days, time zones and times as people write them.
public struct TraceClock: Hashable, Sendable {
    /// Midnight of the first day, in seconds since 2001-01-01 UTC.
    public var midnight: Double
    /// The time zone, in seconds east of UTC.
    public var zone: Int

    /// Creates a clock.
    public init(midnight: Double, zone: Int) { (self.midnight, self.zone) = (midnight, zone) }

    /// A moment as a clock time counted from midnight of the first day: `9:05`, `09:05:30.250`, `26:10` (the next day),
    /// `-1:30` (the evening before). `nil` if the text is none.
    func moment(_ text: String) -> Double? {
        let isNegative = text.hasPrefix("-")
        let parts = text.dropFirst(isNegative ? 1 : 0).split(separator: ":", omittingEmptySubsequences: false)
        guard text.utf8.count <= 16, (2...3).contains(parts.count), let hours = Self.whole(parts[0], digits: 1...3),
            let minutes = Self.whole(parts[1], digits: 2...2), minutes < 60
        else { return nil }
        var milliseconds = (hours * 60 + minutes) * 60_000
        if parts.count == 3 {
            let pieces = parts[2].split(separator: ".", omittingEmptySubsequences: false)
            guard pieces.count <= 2, let seconds = Self.whole(pieces[0], digits: 2...2), seconds < 60 else {
                return nil
            }
            milliseconds += seconds * 1000
            if pieces.count == 2 {
                guard let fraction = Self.whole(pieces[1], digits: 1...3) else { return nil }
                milliseconds += fraction * [100, 10, 1][pieces[1].utf8.count - 1]
            }
        }
        return midnight + Double(isNegative ? -milliseconds : milliseconds) / 1000
    }

    private static func whole(_ text: some StringProtocol, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    /// The clock time of a moment, as short as it is exact to a millisecond.
    func text(_ moment: Double) -> String {
        let offset = ((moment - midnight) * 1000).rounded().clamped(to: -3_596_400_000...3_596_400_000)
        let milliseconds = Int(abs(offset))
        func padded(_ number: Int, _ digits: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        var text = offset < 0 ? "-" : ""
        text += padded(milliseconds / 3_600_000, 2) + ":" + padded(milliseconds / 60_000 % 60, 2)
        if milliseconds % 60_000 != 0 { text += ":" + padded(milliseconds / 1000 % 60, 2) }
        if milliseconds % 1000 != 0 { text += "." + padded(milliseconds % 1000, 3) }
        return text
    }

    /// The time of day of a moment, to the second, with `+1` for each day after the first.
    public func timeOfDay(_ moment: Double) -> String {
        let seconds = Int((moment - midnight).rounded(.down).clamped(to: -1e9...1e9))
        let days = (Double(seconds) / 86400).rounded(.down)
        let rest = seconds - Int(days) * 86400
        let parts = [rest / 3600, rest / 60 % 60, rest % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        let day = days == 0 ? "" : " \(days > 0 ? "+" : "−")\(Int(abs(days)))"
        return parts.joined(separator: ":") + day
    }

    // MARK: Days and zones

    /// Reads a day (`2026-03-02`) and a time zone (`+01:00` or `Z`); `nil` if they are none.
    init?(date: String, zone: String) {
        guard let zone = Self.zone(zone), let day = Self.day(date) else { return nil }
        self.init(midnight: Double(day) * 86400 - Double(zone), zone: zone)
    }

    /// The day, as it is read.
    var date: String {
        // Days since 0000-03-01, whose years end with the leap day (Howard Hinnant, chrono-Compatible Low-Level Date
        // Algorithms).
        let days = Int(((midnight + Double(zone)) / 86400).rounded()) + Self.daysTo2001
        let era = days / 146_097
        let rest = days - era * 146_097
        let year = (rest - rest / 1460 + rest / 36524 - rest / 146_096) / 365
        let dayOfYear = rest - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let shown = [year + era * 400 + (month < 10 ? 0 : 1), month < 10 ? month + 3 : month - 9, day]
        return shown.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: "-")
    }

    /// The time zone, as it is read.
    var zoneText: String {
        let minutes = abs(zone) / 60
        let parts = [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return (zone < 0 ? "-" : "+") + parts.joined(separator: ":")
    }

    private static let daysTo2001 = 730_791

    private static func zone(_ text: String) -> Int? {
        if text == "Z" { return 0 }
        let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard text.hasPrefix("+") || text.hasPrefix("-"), parts.count == 2,
            let hours = whole(parts[0], digits: 2...2), hours <= 14, let minutes = whole(parts[1], digits: 2...2),
            minutes < 60
        else { return nil }
        return (hours * 3600 + minutes * 60) * (text.hasPrefix("-") ? -1 : 1)
    }

    /// A day as the number of days since 2001-01-01.
    private static func day(_ text: String) -> Int? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let year = whole(parts[0], digits: 4...4), (2001...2200).contains(year),
            let month = whole(parts[1], digits: 2...2), (1...12).contains(month),
            let day = whole(parts[2], digits: 2...2), day >= 1
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        guard day <= [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] else { return nil }
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - daysTo2001
    }
}

extension Trace {
    /// The clock that its file is written with.
    public var clock: TraceClock { TraceClock(midnight: midnight, zone: zone) }
}
