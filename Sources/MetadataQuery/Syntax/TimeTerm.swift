// SPDX-License-Identifier: Apache-2.0

/// A `$time` term of a query. It is resolved when the query starts (``TimeTerm/resolved(at:)``).
public enum TimeTerm: Hashable, Sendable {
    /// `$time.today`, `$time.now(-3600)`, `$time.this_week(-1)`, `$time.today(-7d)` and so on.
    case relative(TimeFunction, TimeShift)
    /// `$time.iso(2024-05-01T12:00:00Z)`.
    case iso(ISOMoment)
}

/// The functions that are relative to the current time.
public enum TimeFunction: String, Hashable, Sendable, CaseIterable {
    /// The current instant.
    case now
    /// The current local day.
    case today
    /// The local day before the current one.
    case yesterday
    /// The current local week.
    case thisWeek = "this_week"
    /// The local week before the current one.
    case lastWeek = "last_week"
    /// The current local month.
    case thisMonth = "this_month"
    /// The current local year.
    case thisYear = "this_year"

    /// The unit of an argument that has no suffix.
    public var defaultUnit: TimeUnit {
        switch self {
        case .now: .second
        case .today, .yesterday: .day
        case .thisWeek, .lastWeek: .week
        case .thisMonth: .month
        case .thisYear: .year
        }
    }

    /// `true` if the function accepts an argument.
    public var takesArgument: Bool { self != .yesterday && self != .lastWeek }
}

/// The argument of a time function: the amount to shift, negative for backwards.
public struct TimeShift: Hashable, Sendable {
    /// The number of units, at most ``TimeUnit/maximumAmount`` in either direction.
    public let amount: Int
    /// The unit.
    public let unit: TimeUnit

    /// Creates a shift; `nil` if the amount exceeds the unit's limit.
    public init?(_ amount: Int, _ unit: TimeUnit) {
        guard amount.magnitude <= UInt(unit.maximumAmount) else { return nil }
        self.amount = amount
        self.unit = unit
    }

    private init(none unit: TimeUnit) {
        amount = 0
        self.unit = unit
    }

    /// Returns the shift of a function without an argument: zero.
    public static func none(for function: TimeFunction) -> TimeShift { TimeShift(none: function.defaultUnit) }
}

/// The units of shifts and their suffixes. Only `m` (minute) and `M` (month) differ in case.
public enum TimeUnit: String, Hashable, Sendable, CaseIterable {
    /// `s`
    case second = "s"
    /// `m`
    case minute = "m"
    /// `h`
    case hour = "h"
    /// `d`: a local day, even if it has 23 or 25 hours.
    case day = "d"
    /// `w`: seven local days.
    case week = "w"
    /// `M`: a calendar month. A day that the month does not have becomes the month's last day.
    case month = "M"
    /// `y`: a calendar year.
    case year = "y"

    /// The length in seconds of a unit with a constant length; `nil` for calendar units.
    var seconds: Int? {
        switch self {
        case .second: 1
        case .minute: 60
        case .hour: 3600
        case .day, .week, .month, .year: nil
        }
    }

    /// The largest shift, in units: about 3,000 years, so that no date arithmetic can overflow.
    public var maximumAmount: Int {
        switch self {
        case .second: 100_000_000_000
        case .minute: 1_600_000_000
        case .hour: 26_000_000
        case .day: 1_100_000
        case .week: 156_000
        case .month: 36_000
        case .year: 3_000
        }
    }
}
