// SPDX-License-Identifier: Apache-2.0

/// A date and time in ISO 8601 format: a calendar date, optionally a time of day, optionally an
/// offset from UTC.
///
/// The accepted forms are `2024-05-01`, `20240501`, a `T` or a space, `12`, `12:30`, `12:30:15`,
/// `12:30:15.5`, `1230`, `123015`, and `Z`, `+02`, `+02:00`, `+0200`. Without an offset, the time
/// zone of the query's clock applies. Week dates, ordinal dates, years beyond four digits and the
/// hour 24 are invalid.
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
        guard let year = digits.number(4) else { return nil }
        let dashed = digits.skip("-")
        guard let month = digits.number(2), digits.skip("-") == dashed, let dayOfMonth = digits.number(2),
            let day = CivilDay(year: year, month: month, day: dayOfMonth)
        else { return nil }
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

    /// The instant in seconds since 2001-01-01 UTC; without an offset, the time is taken as UTC.
    public var instant: Double { Double(day.index) * 86_400 + timeOfDay - Double(offset ?? 0) }
}

/// Reads fixed numbers of digits from an ISO 8601 text.
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

    mutating func timeOfDay() -> Double? {
        guard let hour = number(2), hour < 24 else { return nil }
        let colon = skip(":")
        guard colon || nextIsDigit else { return Double(hour * 3600) }
        guard let minute = number(2), minute < 60 else { return nil }
        guard colon ? skip(":") : nextIsDigit else { return Double(hour * 3600 + minute * 60) }
        // A leap second counts as the first second of the next minute.
        guard let second = number(2), second <= 60 else { return nil }
        return Double(hour * 3600 + minute * 60 + second) + fraction()
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
        // A separator without digits stays unread, so that the caller rejects it.
        if position == start + 1 { position = start }
        return value
    }

    mutating func offset() -> Offset {
        if skip("Z") || skip("z") { return .seconds(0) }
        let sign: Int
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return .none }
        guard let hours = number(2), hours < 24 else { return .invalid }
        guard skip(":") || nextIsDigit else { return .seconds(sign * hours * 3600) }
        guard let minutes = number(2), minutes < 60 else { return .invalid }
        return .seconds(sign * (hours * 3600 + minutes * 60))
    }

    private var nextIsDigit: Bool { position < bytes.count && (0x30...0x39).contains(bytes[position]) }
}
