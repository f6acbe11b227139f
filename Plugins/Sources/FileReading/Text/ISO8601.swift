// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Parses the ISO 8601 and YAML date formats found in notes: `2024-05-01`, `2024-5-1`,
/// `2024-05-01T10:00`, with seconds, with a fraction, with `Z`, `+02:00` or `-5`, with spaces
/// instead of the T.
package enum ISO8601 {
    /// - Parameter timeZone: The time zone for times without one.
    /// - Returns: nil for any other text, for days and times that do not exist, and for the year 1,
    ///   which site generators write for a missing date.
    package static func date(from text: String, timeZone: TimeZone) -> Date? {
        var scanner = Scanner(bytes: Array(text.trimmed.utf8.prefix(64)))
        var parts = DateComponents()
        guard let year = scanner.number(digits: 4), scanner.skip("-"), let month = scanner.number(digits: 1...2),
            scanner.skip("-"), let day = scanner.number(digits: 1...2)
        else { return nil }
        (parts.year, parts.month, parts.day) = (year, month, day)
        var zone = timeZone
        var fraction = 0.0
        if scanner.skip("T") || scanner.skip("t") || scanner.skipSpaces() {
            guard let hour = scanner.number(digits: 1...2), scanner.skip(":"), let minute = scanner.number(digits: 2)
            else { return nil }
            (parts.hour, parts.minute, parts.second) = (hour, minute, 0)
            if scanner.skip(":") {
                guard let second = scanner.number(digits: 2) else { return nil }
                parts.second = second
                if scanner.skip(".") { fraction = scanner.fraction() }
            }
            _ = scanner.skipSpaces()
            guard let named = scanner.zone(default: timeZone) else { return nil }
            zone = named
        }
        guard scanner.isAtEnd else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        parts.calendar = calendar
        guard year > 1, (1...12).contains(month), (1...31).contains(day), (0...23).contains(parts.hour ?? 0),
            (0...59).contains(parts.minute ?? 0), (0...59).contains(parts.second ?? 0),
            let date = calendar.date(from: parts),
            calendar.component(.day, from: date) == day, calendar.component(.month, from: date) == month
        else { return nil }
        return date.addingTimeInterval(fraction)
    }

    private struct Scanner {
        var bytes: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == bytes.count }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        mutating func skipSpaces() -> Bool {
            let start = position
            while skip(" ") || skip("\t") {}
            return position > start
        }

        mutating func digit() -> Int? {
            guard position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) else {
                return nil
            }
            position += 1
            return Int(bytes[position - 1] - UInt8(ascii: "0"))
        }

        mutating func number(digits: Int) -> Int? {
            var value = 0
            for _ in 0..<digits {
                guard let digit = digit() else { return nil }
                value = value * 10 + digit
            }
            return value
        }

        /// Scans as many digits as possible, up to the upper bound.
        mutating func number(digits: ClosedRange<Int>) -> Int? {
            var value: Int?
            for _ in 0..<digits.upperBound {
                guard let digit = digit() else { break }
                value = (value ?? 0) * 10 + digit
            }
            return value
        }

        mutating func fraction() -> Double {
            var value = 0.0
            var unit = 0.1
            while let digit = digit() {
                value += Double(digit) * unit
                unit /= 10
            }
            return value
        }

        /// Scans `Z`, `+2`, `+02`, `+0200`, `+02:00`, or nothing.
        mutating func zone(default timeZone: TimeZone) -> TimeZone? {
            if isAtEnd { return timeZone }
            if skip("Z") || skip("z") { return TimeZone(secondsFromGMT: 0) }
            let isWest = skip("-")
            guard isWest || skip("+"), let hours = number(digits: 1...2), hours <= 18 else { return nil }
            _ = skip(":")
            let minutes = isAtEnd ? 0 : number(digits: 2)
            guard let minutes, minutes < 60 else { return nil }
            return TimeZone(secondsFromGMT: (isWest ? -1 : 1) * (hours * 3600 + minutes * 60))
        }
    }
}
