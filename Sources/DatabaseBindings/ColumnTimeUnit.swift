// SPDX-License-Identifier: Apache-2.0

/// The format of the moments in a column. Templates name it, as in `{changed:unix-ms}`.
package enum ColumnTimeUnit: String, Hashable, Sendable, CaseIterable {
    /// Seconds since 1970.
    case unix
    /// Milliseconds since 1970.
    case unixMilliseconds = "unix-ms"
    /// Microseconds since 1970.
    case unixMicroseconds = "unix-us"
    /// Seconds since 2001, as in Apple's programs.
    case apple
    /// Days since noon of 24 November 4714 BC (SQLite's `julianday()`).
    case julian
    /// Microseconds since 1601, as in Chromium and WebKit.
    case webkit
    /// Text such as `2026-11-27 08:30:00`, with a zone or in UTC.
    case iso

    /// The seconds between 1970 and 2001.
    private static let appleEpoch = 978_307_200.0
    /// The seconds between 1601 and 1970.
    private static let webkitEpoch = 11_644_473_600.0
    /// The Julian day of the start of 1970.
    private static let julianEpoch = 2_440_587.5
    /// The range of moments: the years 1 to 9999, in seconds since 1970.
    private static let range = -62_135_596_800.0..<253_402_300_800.0

    /// Returns the moment in seconds since 2001, as in an item; `nil` for NULL and for values
    /// outside of the years 1 to 9999. Apps store the number 0 for “never”, so it is `nil` too.
    package func moment(_ value: RowValue) -> Double? {
        let seconds: Double
        if self == .iso {
            guard case .text(let text) = value, let found = Self.seconds(ofText: text) else { return nil }
            seconds = found
        } else {
            guard let number = value.number, number != 0, number.isFinite else { return nil }
            switch self {
            case .unix: seconds = number
            case .unixMilliseconds: seconds = number / 1e3
            case .unixMicroseconds: seconds = number / 1e6
            case .apple: seconds = number + Self.appleEpoch
            case .julian: seconds = (number - Self.julianEpoch) * 86400
            case .webkit: seconds = number / 1e6 - Self.webkitEpoch
            case .iso: return nil
            }
        }
        return Self.range.contains(seconds) ? seconds - Self.appleEpoch : nil
    }

    /// Returns the seconds since 1970 of a date in ISO 8601's form: `2026-11-27`, with a time after
    /// a space or `T`, a fraction, and `Z` or an offset.
    static func seconds(ofText text: String) -> Double? {
        var rest = Array(text.utf8)[...]
        func digits(_ count: Int) -> Int? {
            guard rest.count >= count else { return nil }
            var number = 0
            for byte in rest.prefix(count) {
                guard (0x30...0x39).contains(byte) else { return nil }
                number = number * 10 + Int(byte) - 0x30
            }
            rest = rest.dropFirst(count)
            return number
        }
        func take(_ characters: String) -> UInt8? {
            guard let byte = rest.first, characters.utf8.contains(byte) else { return nil }
            rest = rest.dropFirst()
            return byte
        }
        guard let year = digits(4), take("-") != nil, let month = digits(2), take("-") != nil, let day = digits(2),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var seconds = Double(days(year, month, day)) * 86400
        if rest.isEmpty { return seconds }
        guard take("T ") != nil, let hour = digits(2), take(":") != nil, let minute = digits(2), hour < 25, minute < 60
        else { return nil }
        seconds += Double(hour * 3600 + minute * 60)
        if take(":") != nil {
            guard let second = digits(2), second < 61 else { return nil }
            seconds += Double(second)
            if take(".,") != nil {
                var scale = 0.1
                while let digit = take("0123456789") {
                    seconds += Double(digit - 0x30) * scale
                    scale /= 10
                }
            }
        }
        while take(" ") != nil {}
        if let sign = take("+-") {
            guard let hours = digits(2) else { return nil }
            _ = take(":")
            let minutes = rest.isEmpty ? 0 : digits(2)
            guard let minutes else { return nil }
            let offset = Double(hours * 3600 + minutes * 60)
            seconds -= sign == UInt8(ascii: "-") ? -offset : offset
        } else {
            _ = take("Z")
        }
        return rest.isEmpty ? seconds : nil
    }

    /// Returns the number of days from 1970-01-01 to a date of the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // Years begin with March, so that a leap day is the last day of its year.
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
