// SPDX-License-Identifier: Apache-2.0
import MetadataQuery

/// The English names of days, months and units, folded.
enum DateWords {
    static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]
    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    private static let numbers = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    ]

    /// Returns 1 to 12 for a month or its abbreviation of at least three letters.
    static func month(_ word: String) -> Int? {
        guard word.utf8.count >= 3 else { return nil }
        let name = word.hasSuffix(".") ? String(word.dropLast()) : word
        return months.firstIndex { $0.hasPrefix(name) && (name.utf8.count <= 4 || name == $0) }.map { $0 + 1 }
    }

    /// Returns 0 for Monday to 6 for Sunday.
    static func weekday(_ word: String) -> Int? {
        weekdays.firstIndex { $0 == word || (3...5).contains(word.utf8.count) && $0.hasPrefix(word) }
    }

    static func unit(_ word: String) -> TimeUnit? {
        switch word {
        case "day", "days", "d": .day
        case "week", "weeks", "w", "wk": .week
        case "month", "months", "m", "mo": .month
        case "year", "years", "y", "yr": .year
        default: nil
        }
    }

    /// Returns a number from 1 to 9,999, given in digits or, up to twelve, as a word.
    static func count(_ word: String) -> Int? {
        if word == "a" || word == "an" { return 1 }
        if let index = numbers.firstIndex(of: word) { return index + 1 }
        guard let number = number(word[...], digits: 1...4), number > 0 else { return nil }
        return number
    }

    /// Returns the value of a text that consists of a given number of ASCII digits.
    static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}

/// Parses dates as users write them, in English or in digits. The words must be folded.
struct DatePhrase {
    /// The largest number of words in a phrase.
    static let maximumWords = 5

    private let today: CivilDay
    private let firstWeekday: Int
    private let isMonthFirst: Bool

    /// - Parameter languages: BCP 47 tags or POSIX locales. The first one with a region determines
    ///   whether `3/4` is the third of April.
    init(clock: QueryClock, languages: [String]) {
        today = clock.wall(at: clock.now).day
        firstWeekday = clock.firstWeekday.rawValue
        isMonthFirst = Self.isMonthFirst(languages)
    }

    /// Returns the period denoted by the longest date at the start of the words, and the number of
    /// words in it.
    func period(_ words: [String]) -> (period: DatePeriod, words: Int)? {
        for count in stride(from: min(words.count, Self.maximumWords), to: 0, by: -1) {
            if let period = exactly(Array(words[..<count])) { return (period, count) }
        }
        return nil
    }

    /// Returns the period denoted by all the words together; `the` may precede them.
    func exactly(_ words: [String]) -> DatePeriod? {
        let words = words.count > 1 && words[0] == "the" ? Array(words[1...]) : words
        return switch words.count {
        case 1: single(words[0])
        case 2, 3: relative(words) ?? dayAndMonth(words)
        default: nil
        }
    }

    /// Returns the period of a date without a filter name. Accepts only relative dates, but not a
    /// single weekday.
    func bare(_ words: [String]) -> DatePeriod? {
        if words.count == 1 { return words[0] == "today" || words[0] == "yesterday" ? single(words[0]) : nil }
        return relative(words)
    }

    // MARK: Kinds

    private func single(_ word: String) -> DatePeriod? {
        switch word {
        case "today": return DatePeriod(today)
        case "yesterday": return DatePeriod(today.adding(-1, .day))
        case "tomorrow": return DatePeriod(today.adding(1, .day))
        default: break
        }
        if let weekday = DateWords.weekday(word) { return DatePeriod(latest(weekday, through: today)) }
        if let month = DateWords.month(word) { return latestMonth(month) }
        return between(word) ?? numeric(word[...]) ?? compact(word)
    }

    /// Reads `2026-01..2026-03`, in which either end may be any single date.
    private func between(_ word: String) -> DatePeriod? {
        guard let dots = word.firstRange(of: "..") else { return nil }
        let (left, right) = (String(word[..<dots.lowerBound]), String(word[dots.upperBound...]))
        guard !right.contains(".."), let first = single(left), let last = single(right) else { return nil }
        return DatePeriod(from: first.first, through: last.last)
    }

    /// Reads `last week`, `this month`, `next year`, `past week`, `last monday`, `2 days ago`,
    /// `last 7 days`.
    private func relative(_ words: [String]) -> DatePeriod? {
        let shift: Int? =
            switch words[0] {
            case "last", "previous", "past": -1
            case "this": 0
            case "next": 1
            default: nil
            }
        if words.count == 2, let shift {
            if let unit = DateWords.unit(words[1]), words[1].utf8.count > 2, unit != .day {
                return words[0] == "past" ? through(today, 1, unit) : calendar(unit, shift)
            }
            guard let weekday = DateWords.weekday(words[1]), words[0] != "past", words[0] != "previous" else {
                return nil
            }
            switch shift {
            case -1: return DatePeriod(latest(weekday, through: today.adding(-1, .day)))
            case 1: return DatePeriod(latest(weekday, through: today.adding(7, .day)))
            default: return DatePeriod(startOfWeek.adding((weekday - firstWeekday + 7) % 7, .day))
            }
        }
        guard words.count == 3 else { return nil }
        if let shift, shift < 0, let count = DateWords.count(words[1]), let unit = DateWords.unit(words[2]) {
            return through(today, count, unit)
        }
        if words[2] == "ago", let count = DateWords.count(words[0]), let unit = DateWords.unit(words[1]) {
            return calendar(unit, -count)
        }
        return nil
    }

    /// Reads `14 november`, `november 14`, `14 november 2026`, `november 14 2026`, `november 2026`.
    private func dayAndMonth(_ words: [String]) -> DatePeriod? {
        let year = words.count == 3 ? DateWords.number(words[2][...], digits: 4...4) : nil
        if words.count == 3, year == nil { return nil }
        if let month = DateWords.month(words[0]) {
            if let day = ordinal(words[1]) { return date(year, month, day) }
            guard year == nil, let year = DateWords.number(words[1][...], digits: 4...4) else { return nil }
            return DatePeriod(year: year, month: month)
        }
        guard let day = ordinal(words[0]), let month = DateWords.month(words[1]) else { return nil }
        return date(year, month, day)
    }

    /// Reads `14`, `14.`, `14,`, `14th`.
    private func ordinal(_ word: String) -> Int? {
        var text = word[...]
        for ending in [",", ".", "st", "nd", "rd", "th"] where text.hasSuffix(ending) {
            text = text.dropLast(ending.utf8.count)
        }
        return DateWords.number(text, digits: 1...2)
    }

    /// Reads `2w`: the week two weeks ago.
    private func compact(_ word: String) -> DatePeriod? {
        guard let last = word.last, let unit = DateWords.unit(String(last)),
            let count = DateWords.number(word.dropLast(), digits: 1...4), count > 0
        else { return nil }
        return calendar(unit, -count)
    }

    /// Reads `2026`, `2026-11`, `2026-11-16`, `20261116`, `16.11.2026`, `11/16/26`, `16/11`.
    private func numeric(_ word: Substring) -> DatePeriod? {
        if let year = DateWords.number(word, digits: 4...4) { return DatePeriod(year: year) }
        if let digits = DateWords.number(word, digits: 8...8) {
            return date(digits / 10_000, digits / 100 % 100, digits % 100)
        }
        guard let separator = word.first(where: { "-/.".contains($0) }) else { return nil }
        var parts = word.split(separator: separator, omittingEmptySubsequences: false)
        if separator == ".", parts.count == 3, parts[2].isEmpty { parts.removeLast() }
        guard (2...3).contains(parts.count), let first = DateWords.number(parts[0], digits: 1...4) else { return nil }
        if parts[0].utf8.count == 4 {
            guard separator != ".", let month = DateWords.number(parts[1], digits: 1...2) else { return nil }
            guard parts.count == 3 else { return DatePeriod(year: first, month: month) }
            return DateWords.number(parts[2], digits: 1...2).flatMap { date(first, month, $0) }
        }
        guard let second = DateWords.number(parts[1], digits: 1...2), parts[0].utf8.count <= 2 else { return nil }
        let year: Int?
        if parts.count == 3 {
            guard let number = DateWords.number(parts[2], digits: 2...4), parts[2].utf8.count != 3 else { return nil }
            year = number < 100 ? century(number) : number
        } else {
            // Two numbers may also be a version or a fraction; with a hyphen they are rejected.
            guard separator != "-" else { return nil }
            year = nil
        }
        // Dots are used in countries where the day comes first.
        let monthFirst = isMonthFirst && separator != "."
        let (month, day) = monthFirst ? (first, second) : (second, first)
        return date(year, month, day) ?? date(year, day, month)
    }

    // MARK: Arithmetic

    private func date(_ year: Int?, _ month: Int, _ day: Int) -> DatePeriod? {
        if let year {
            return CivilDay(year: year, month: month, day: day).flatMap { DatePeriod(from: $0, through: $0) }
        }
        // Without a year, uses the latest such date that has begun; a leap day may be eight years
        // back.
        let thisYear = today.components.year
        for year in stride(from: thisYear, to: thisYear - 9, by: -1) {
            if let date = CivilDay(year: year, month: month, day: day), date.index <= today.index {
                return DatePeriod(date)
            }
        }
        return nil
    }

    /// Returns the four-digit year for a two-digit year: from 80 years ago to 19 years ahead.
    private func century(_ number: Int) -> Int {
        let thisYear = today.components.year
        let year = thisYear - thisYear % 100 + number
        return year > thisYear + 19 ? year - 100 : year < thisYear - 80 ? year + 100 : year
    }

    private func latest(_ weekday: Int, through day: CivilDay) -> CivilDay {
        day.adding(-((day.weekday - weekday + 7) % 7), .day)
    }

    private func latestMonth(_ month: Int) -> DatePeriod? {
        let (year, thisMonth, _) = today.components
        return DatePeriod(year: month <= thisMonth ? year : year - 1, month: month)
    }

    private var startOfWeek: CivilDay { latest(firstWeekday, through: today) }

    /// Returns the calendar day, week, month or year that is `shift` units from the current one.
    private func calendar(_ unit: TimeUnit, _ shift: Int) -> DatePeriod? {
        let (_, month, day) = today.components
        let start: CivilDay
        switch unit {
        case .second, .minute, .hour, .day: start = today
        case .week: start = startOfWeek
        case .month: start = today.adding(1 - day, .day)
        case .year: start = today.adding(1 - day, .day).adding(months: 1 - month)
        }
        let first = start.adding(shift, unit)
        return DatePeriod(from: first, through: first.adding(1, unit).adding(-1, .day))
    }

    /// Returns the `count` units that end with a day.
    private func through(_ day: CivilDay, _ count: Int, _ unit: TimeUnit) -> DatePeriod? {
        DatePeriod(from: day.adding(-count, unit).adding(1, .day), through: day)
    }

    private static func isMonthFirst(_ languages: [String]) -> Bool {
        for tag in languages.prefix(16) {
            let parts = tag.prefix { $0 != "." && $0 != "@" }.split { $0 == "-" || $0 == "_" }
            if let region = parts.dropFirst().first(where: { $0.utf8.count == 2 }) {
                return ["us", "ph", "pr", "gu", "vi", "as", "mp", "fm", "mh", "pw"].contains(region.lowercased())
            }
            // English without a region means the United States (CLDR, likely subtags).
            if let language = parts.first { return language.lowercased() == "en" }
        }
        return false
    }
}
