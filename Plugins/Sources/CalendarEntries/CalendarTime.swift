// SPDX-License-Identifier: Apache-2.0
import CCalendar

/// A date, or a date and a time of day, without a time zone.
package struct CalendarTime: Sendable, Hashable, Comparable {
    package var year: Int
    package var month: Int
    package var day: Int
    /// The seconds since midnight; 0 for a date.
    package var secondOfDay: Int
    package var isDate: Bool

    /// Parses `20260301` or `20260301T090000`; nil for other texts and for dates that do not exist.
    /// A leap second is treated as the second before it.
    package init?(_ text: Substring.UTF8View) {
        let text = text.last == UInt8(ascii: "Z") ? text.dropLast() : text
        let parts = text.split(separator: UInt8(ascii: "T"), omittingEmptySubsequences: false)
        guard parts.count <= 2, let date = Self.number(parts[0], count: 8) else { return nil }
        (year, month, day) = (date / 10_000, date / 100 % 100, date % 100)
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= Self.daysInMonth(year: year, month: month)
        else { return nil }
        isDate = parts.count == 1
        secondOfDay = 0
        if isDate { return }
        guard let time = Self.number(parts[1], count: 6) else { return nil }
        let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100)
        guard hour < 24, minute < 60, second <= 60 else { return nil }
        secondOfDay = hour * 3600 + minute * 60 + min(second, 59)
    }

    /// Creates the time that is `seconds` after the start of 1970, in the same zone.
    package init(seconds: Int, isDate: Bool = false) {
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        self.isDate = isDate
        secondOfDay = isDate ? 0 : seconds - days * 86_400
        (year, month, day) = Self.date(days: days)
    }

    init(_ time: calendar_time, isDate: Bool) {
        (year, month, day) = (Int(time.year), Int(time.month), Int(time.day))
        secondOfDay = isDate ? 0 : Int(time.hour) * 3600 + Int(time.minute) * 60 + Int(time.second)
        self.isDate = isDate
    }

    var c: calendar_time {
        calendar_time(
            year: Int32(year), month: Int32(month), day: Int32(day), hour: Int32(secondOfDay / 3600),
            minute: Int32(secondOfDay / 60 % 60), second: Int32(secondOfDay % 60))
    }

    /// The seconds since 1970-01-01 00:00 in the same zone.
    package var seconds: Int { Self.days(year: year, month: month, day: day) * 86_400 + secondOfDay }

    /// The same day without the time.
    package var date: CalendarTime {
        var date = self
        (date.secondOfDay, date.isDate) = (0, true)
        return date
    }

    package static func < (one: CalendarTime, other: CalendarTime) -> Bool { one.seconds < other.seconds }

    private static func number(_ text: Substring.UTF8View.SubSequence, count: Int) -> Int? {
        guard text.count == count, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func daysInMonth(year: Int, month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    // Returns the days since 1970 in the Gregorian calendar, computed with years that begin in
    // March.

    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
        let days = days + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

/// An iCalendar duration, such as `P1DT2H`.
package struct CalendarDuration: Sendable, Equatable {
    package var days = 0
    package var seconds = 0

    private static let maximumDays = 100_000

    package init(days: Int = 0, seconds: Int = 0) { (self.days, self.seconds) = (days, seconds) }

    /// Parses a duration; nil for other texts, and for a duration longer than 270 years.
    package init?(_ text: String) {
        var rest = text.utf8[...]
        var sign = 1
        if let first = rest.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            sign = first == UInt8(ascii: "-") ? -1 : 1
            rest = rest.dropFirst()
        }
        guard rest.popFirst() == UInt8(ascii: "P"), !rest.isEmpty else { return nil }
        var (number, hasDigits, isTime) = (0, false, false)
        for byte in rest {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                number = number * 10 + Int(byte - UInt8(ascii: "0"))
                hasDigits = true
                guard number < 1_000_000_000 else { return nil }
                continue
            case UInt8(ascii: "T") where !hasDigits && !isTime:
                isTime = true
                continue
            case UInt8(ascii: "W") where hasDigits && !isTime: days += number * 7
            case UInt8(ascii: "D") where hasDigits && !isTime: days += number
            case UInt8(ascii: "H") where hasDigits && isTime: seconds += number * 3600
            case UInt8(ascii: "M") where hasDigits && isTime: seconds += number * 60
            case UInt8(ascii: "S") where hasDigits && isTime: seconds += number
            default: return nil
            }
            (number, hasDigits) = (0, false)
        }
        guard !hasDigits, days <= Self.maximumDays, seconds / 86_400 <= Self.maximumDays else { return nil }
        (days, seconds) = (days * sign, seconds * sign)
    }
}
