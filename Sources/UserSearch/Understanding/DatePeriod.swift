// SPDX-License-Identifier: Apache-2.0
import MetadataQuery

/// The local days from ``first`` through ``last``.
struct DatePeriod: Hashable {
    var first: CivilDay
    var last: CivilDay

    /// Creates a period of one day.
    init(_ day: CivilDay) { (first, last) = (day, day) }

    /// Creates a period; `nil` if the last day precedes the first, or if a year does not have four
    /// digits, as queries require.
    init?(from first: CivilDay, through last: CivilDay) {
        guard first.index <= last.index, Self.years.contains(first.components.year),
            Self.years.contains(last.adding(1, .day).components.year)
        else { return nil }
        (self.first, self.last) = (first, last)
    }

    /// Creates a calendar month; `nil` if there is no such month.
    init?(year: Int, month: Int) {
        guard let first = CivilDay(year: year, month: month, day: 1) else { return nil }
        self.init(from: first, through: CivilDay(index: first.adding(months: 1).index - 1))
    }

    /// Creates a calendar year.
    init?(year: Int) {
        guard Self.years.contains(year), let first = CivilDay(year: year, month: 1, day: 1) else { return nil }
        self.init(from: first, through: CivilDay(index: first.adding(months: 12).index - 1))
    }

    private static let years = 1_000...9_998

    /// Formats a day in plain English: “16 November 2026”.
    static func text(_ day: CivilDay) -> String {
        let (year, month, dayOfMonth) = day.components
        return "\(dayOfMonth) \(DateWords.months[month - 1].capitalizedASCII) \(year)"
    }

    /// The kind of a condition on an item's date.
    enum Bound: Hashable {
        case before, onOrAfter, within, through

        func text(_ period: DatePeriod) -> String {
            switch self {
            case .before: "before " + DatePeriod.text(period.first)
            case .onOrAfter: "on or after " + DatePeriod.text(period.first)
            case .through: "on or before " + DatePeriod.text(period.last)
            case .within where period.first == period.last: "on " + DatePeriod.text(period.first)
            case .within: "from \(DatePeriod.text(period.first)) to \(DatePeriod.text(period.last))"
            }
        }

        /// Returns the conditions for the time from an item's start to its end: an item satisfies
        /// one of them if this time overlaps the period. The end itself is excluded, because an
        /// all-day event ends at the start of the next day. A due day is included, and so is the
        /// end of an item that has no start.
        func spans(_ period: DatePeriod) -> [QueryExpression]? {
            let (start, afterwards) = (period.first, period.last.adding(1, .day))
            switch self {
            case .before: return Self.compared("endDate", .less, start).map { [Self.onlyEnd([$0])] }
            case .onOrAfter: return Self.compared("endDate", .greater, start).map { [$0] }
            case .through: return Self.compared("endDate", .less, afterwards).map { [Self.onlyEnd([$0])] }
            case .within:
                guard let begins = Self.compared("startDate", .less, start),
                    let ends = Self.compared("endDate", .greater, start),
                    let isDue = Self.compared("dueDate", .greaterOrEqual, start),
                    let endsInside = Self.compared("endDate", .greaterOrEqual, start),
                    let hasEnded = Self.compared("endDate", .less, afterwards)
                else { return nil }
                return [.and([ends, begins]), .and([isDue, begins]), Self.onlyEnd([endsInside, hasEnded])]
            }
        }

        /// Returns conditions on the end of an item that has no start.
        private static func onlyEnd(_ conditions: [QueryExpression]) -> QueryExpression {
            let start = Comparison(
                attribute: .named("startDate"), operation: .equal, value: .text(TextPattern([.anyText])))
            return .and(conditions + [.not(.comparison(start))])
        }

        private static func compared(
            _ attribute: String, _ operation: ComparisonOperator, _ day: CivilDay
        ) -> QueryExpression? {
            ISOMoment(DatePeriod.spelling(day)).map { moment in
                .comparison(Comparison(attribute: .named(attribute), operation: operation, value: .time(.iso(moment))))
            }
        }

        /// Returns the condition for one attribute.
        func expression(_ attribute: String, _ period: DatePeriod) -> QueryExpression? {
            func compared(_ operation: ComparisonOperator, _ day: CivilDay) -> QueryExpression? {
                Self.compared(attribute, operation, day)
            }
            let afterwards = period.last.adding(1, .day)
            switch self {
            case .before: return compared(.less, period.first)
            case .onOrAfter: return compared(.greaterOrEqual, period.first)
            case .through: return compared(.less, afterwards)
            case .within:
                guard let start = compared(.greaterOrEqual, period.first), let end = compared(.less, afterwards) else {
                    return nil
                }
                return .and([start, end])
            }
        }
    }

    private static func spelling(_ day: CivilDay) -> String {
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (year, month, dayOfMonth) = day.components
        return "\(year)-\(padded(month))-\(padded(dayOfMonth))"
    }
}

extension String {
    /// The string with its first letter capitalized if it is one of a to z.
    var capitalizedASCII: String {
        guard let first = utf8.first, (0x61...0x7A).contains(first) else { return self }
        return String(decoding: [first - 32] + utf8.dropFirst(), as: UTF8.self)
    }
}
