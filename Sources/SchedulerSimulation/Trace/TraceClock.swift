// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling

/// The clock of a trace: converts days, time zones and clock times from and to text.
public struct TraceClock: Hashable, Sendable {
    /// Midnight of the first day, in seconds since 2001-01-01 UTC.
    public var midnight: Double
    /// The time zone, in seconds east of UTC.
    public var zone: Int

    /// Creates a clock.
    public init(midnight: Double, zone: Int) { (self.midnight, self.zone) = (midnight, zone) }

    /// Parses a clock time relative to midnight of the first day; `nil` if the text is invalid.
    /// Examples: `9:05`, `09:05:30.250`, `26:10` (the next day), `-1:30` (the evening before).
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

    /// Returns the clock time of a moment, as short as possible at millisecond precision.
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

    /// Returns the time of day of a moment, to the second, with a suffix such as `+1` for later
    /// days.
    public func timeOfDay(_ moment: Double) -> String {
        let seconds = Int((moment - midnight).rounded(.down).clamped(to: -1e9...1e9))
        let days = (Double(seconds) / 86400).rounded(.down)
        let rest = seconds - Int(days) * 86400
        let parts = [rest / 3600, rest / 60 % 60, rest % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        let day = days == 0 ? "" : " \(days > 0 ? "+" : "−")\(Int(abs(days)))"
        return parts.joined(separator: ":") + day
    }

    // MARK: Days and zones

    /// Parses a day (`2026-03-02`) and a time zone (`+01:00` or `Z`); `nil` if either one is
    /// invalid.
    init?(date: String, zone: String) {
        guard let zone = Self.zone(zone), let day = Self.day(date) else { return nil }
        self.init(midnight: day - Double(zone), zone: zone)
    }

    /// The day, in the header's format.
    var date: String {
        Date(timeIntervalSinceReferenceDate: midnight + Double(zone)).formatted(Self.style)
    }

    private static let style = Date.ISO8601FormatStyle().year().month().day()

    /// The time zone, in the header's format.
    var zoneText: String {
        let minutes = abs(zone) / 60
        let parts = [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return (zone < 0 ? "-" : "+") + parts.joined(separator: ":")
    }

    private static func zone(_ text: String) -> Int? {
        if text == "Z" { return 0 }
        let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard text.hasPrefix("+") || text.hasPrefix("-"), parts.count == 2,
            let hours = whole(parts[0], digits: 2...2), hours <= 14, let minutes = whole(parts[1], digits: 2...2),
            minutes < 60
        else { return nil }
        return (hours * 3600 + minutes * 60) * (text.hasPrefix("-") ? -1 : 1)
    }

    /// Returns UTC midnight of a day in the years 2001 to 2200.
    private static func day(_ text: String) -> Double? {
        guard let date = try? Date(text, strategy: style), date.formatted(style) == text,
            ("2001-01-01"..."2200-12-31").contains(text)
        else { return nil }
        return date.timeIntervalSinceReferenceDate
    }
}

extension Trace {
    /// The clock used in the trace's file.
    public var clock: TraceClock { TraceClock(midnight: midnight, zone: zone) }
}
