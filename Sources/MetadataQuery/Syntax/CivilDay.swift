// SPDX-License-Identifier: Apache-2.0

/// A day of the Gregorian calendar, counted from 2001-01-01 (a Monday).
package struct CivilDay: Hashable, Sendable {
    /// The number of days since 2001-01-01.
    package var index: Int

    package init(index: Int) { self.index = index }

    /// Creates a day; `nil` if there is no such month, or the month does not have the day.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month), (1...Self.length(ofMonth: month, year: year)).contains(day) else { return nil }
        index = Self.index(year: year, month: month, day: day)
    }

    /// Creates the day from its number in the year, counted from 1; `nil` if the year does not have
    /// the day.
    init?(year: Int, dayOfYear: Int) {
        let days = Self.length(ofMonth: 2, year: year) + 337
        guard (1...days).contains(dayOfYear) else { return nil }
        index = Self.index(year: year, month: 1, day: 1) + dayOfYear - 1
    }

    /// Creates the day from an ISO 8601 week; `nil` if the year does not have the week. Weeks begin
    /// on Monday (1), and the first week contains January 4.
    init?(year: Int, week: Int, weekday: Int) {
        let first = Self.firstWeek(of: year)
        let weeks = (Self.firstWeek(of: year + 1) - first) / 7
        guard (1...weeks).contains(week), (1...7).contains(weekday) else { return nil }
        index = first + (week - 1) * 7 + weekday - 1
    }

    /// Returns the Monday of the first week of a year.
    private static func firstWeek(of year: Int) -> Int {
        let fourth = CivilDay(index: index(year: year, month: 1, day: 4))
        return fourth.index - fourth.weekday
    }

    static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counts years from March, so that the leap day is the last day of its year. 400 years have
    /// 146,097 days.
    private static func index(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month > 2 ? year : year - 1
        let era = floorDivide(marchYear, 400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - daysFromMarchZeroTo2001
    }

    /// The number of days from 0000-03-01 to 2001-01-01.
    private static let daysFromMarchZeroTo2001 = 730_791

    /// The year, the month and the day of the month.
    package var components: (year: Int, month: Int, day: Int) {
        let shifted = index + Self.daysFromMarchZeroTo2001
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    /// The weekday, from 0 for Monday to 6 for Sunday.
    package var weekday: Int { index - floorDivide(index, 7) * 7 }

    /// Returns the day some months later. A day that the month does not have becomes the month's
    /// last day.
    package func adding(months: Int) -> CivilDay {
        let (year, month, day) = components
        let total = year * 12 + (month - 1) + months
        let newYear = floorDivide(total, 12)
        let newMonth = total - newYear * 12 + 1
        let newDay = min(day, Self.length(ofMonth: newMonth, year: newYear))
        return CivilDay(index: Self.index(year: newYear, month: newMonth, day: newDay))
    }

    /// Returns the day some days, weeks, months or years later.
    package func adding(_ amount: Int, _ unit: TimeUnit) -> CivilDay {
        switch unit {
        case .second, .minute, .hour: self
        case .day: CivilDay(index: index + amount)
        case .week: CivilDay(index: index + amount * 7)
        case .month: adding(months: amount)
        case .year: adding(months: amount * 12)
        }
    }
}

func floorDivide(_ dividend: Int, _ divisor: Int) -> Int {
    let quotient = dividend / divisor
    return dividend % divisor < 0 ? quotient - 1 : quotient
}
