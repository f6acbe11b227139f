// SPDX-License-Identifier: Apache-2.0

/// A date in ISO 8601 format, with an optional time of day and an optional offset from UTC.
///
/// - The date is a calendar date (`2024-05-01`, `20240501`), a week date (`2024-W18-3`, `2024W183`)
///   or an ordinal date (`2024-122`, `2024122`).
/// - The time follows a `T` or a space: `12`, `12:30`, `12:30:15`, `1230` or `123015`. Its last
///   part may have a fraction. `24:00` is midnight at the end of the day. A leap second is treated
///   as the first second of the next minute.
/// - The offset is `Z`, `+02`, `+02:00` or `+0200`. Without an offset, the time is in the time zone
///   of the query's clock.
///
/// Dates without a day, years without exactly four digits, periods and durations are rejected.
public struct ISOMoment: Hashable, Sendable {
    /// The original text.
    public let spelling: String
    let day: CivilDay
    /// The seconds since midnight.
    let timeOfDay: Double
    /// The offset in seconds east of UTC; `nil` if there is none.
    let offset: Int?

    /// Parses the text; `nil` if it is not valid.
    public init?(_ spelling: String) {
        guard spelling.utf8.count <= 40 else { return nil }
        var digits = DigitReader(spelling)
        guard let day = digits.day() else { return nil }
        var seconds = 0.0
        var offset: Int?
        if digits.skip("T") || digits.skip("t") || digits.skip(" ") {
            guard let time = digits.timeOfDay() else { return nil }
            seconds = time
            switch digits.offset() {
            case .none: break
            case .invalid: return nil
            case .seconds(let value): offset = value
            }
        }
        guard digits.isAtEnd else { return nil }
        self.spelling = spelling
        self.day = day
        timeOfDay = seconds
        self.offset = offset
    }

    /// The instant in seconds since 2001-01-01 UTC; without an offset, the time is interpreted as
    /// UTC.
    public var instant: Double { Double(day.index) * 86_400 + timeOfDay - Double(offset ?? 0) }
}

/// Reads fixed-length numbers from an ISO 8601 text.
private struct DigitReader {
    enum Offset { case none, invalid, seconds(Int) }

    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }

    /// Skips a minus sign (U+2212), which the standard prefers to a hyphen.
    private mutating func skipMinusSign() -> Bool {
        guard bytes[position...].starts(with: "\u{2212}".utf8) else { return false }
        position += 3
        return true
    }

    mutating func number(_ count: Int) -> Int? {
        guard position + count <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[position..<(position + count)] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        position += count
        return value
    }

    /// The number of digits at the position.
    private var digitsAhead: Int { bytes[position...].prefix { (0x30...0x39).contains($0) }.count }

    /// Reads a date in any of the three forms.
    mutating func day() -> CivilDay? {
        guard let year = number(4) else { return nil }
        let dashed = skip("-")
        if skip("W") || skip("w") {
            guard let week = number(2), skip("-") == dashed, let weekday = number(1) else { return nil }
            return CivilDay(year: year, week: week, weekday: weekday)
        }
        if digitsAhead == 3 { return number(3).flatMap { CivilDay(year: year, dayOfYear: $0) } }
        guard let month = number(2), skip("-") == dashed, let dayOfMonth = number(2) else { return nil }
        return CivilDay(year: year, month: month, day: dayOfMonth)
    }

    /// Reads a time of day as seconds since midnight. The last part may have a fraction.
    mutating func timeOfDay() -> Double? {
        guard let hour = number(2), hour <= 24 else { return nil }
        var seconds = Double(hour * 3600)
        let colon = skip(":")
        if colon || nextIsDigit {
            guard let minute = number(2), minute < 60 else { return nil }
            seconds += Double(minute * 60)
            if colon ? skip(":") : nextIsDigit {
                // A leap second is the first second of the next minute.
                guard let second = number(2), second <= 60 else { return nil }
                seconds += Double(second) + fraction()
            } else {
                seconds += fraction() * 60
            }
        } else {
            seconds += fraction() * 3600
        }
        // Hour 24 is only valid for midnight.
        return hour < 24 || seconds == 86_400 ? seconds : nil
    }

    private mutating func fraction() -> Double {
        let start = position
        guard skip(".") || skip(",") else { return 0 }
        var value = 0.0
        var scale = 0.1
        while let digit = number(1) {
            value += Double(digit) * scale
            scale /= 10
        }
        // Leaves a separator without digits unread, so that the caller rejects it.
        if position == start + 1 { position = start }
        return value
    }

    mutating func offset() -> Offset {
        if skip("Z") || skip("z") { return .seconds(0) }
        let sign: Int
        if skip("+") { sign = 1 } else if skip("-") || skipMinusSign() { sign = -1 } else { return .none }
        guard let hours = number(2), hours < 24 else { return .invalid }
        guard skip(":") || nextIsDigit else { return .seconds(sign * hours * 3600) }
        guard let minutes = number(2), minutes < 60 else { return .invalid }
        return .seconds(sign * (hours * 3600 + minutes * 60))
    }

    private var nextIsDigit: Bool { position < bytes.count && (0x30...0x39).contains(bytes[position]) }
}
