// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Formats times and durations for users.
enum ScheduleTime {
    /// Returns the time of day if it is today; otherwise the date.
    static func text(_ moment: Double, from now: Double) -> String {
        let date = Date(timeIntervalSinceReferenceDate: moment)
        let isToday = Calendar.current.isDate(date, inSameDayAs: Date(timeIntervalSinceReferenceDate: now))
        return date.formatted(isToday ? time : day)
    }

    /// Formats a duration using its two largest units.
    static func text(seconds: Double) -> String {
        let seconds = seconds.isFinite ? max(0, seconds).rounded() : 0
        switch seconds {
        case ..<60: return "\(Int(seconds)) s"
        case ..<3600: return parts(Int(seconds), 60, "min", 1, "s")
        case ..<86400: return parts(Int(seconds), 3600, "h", 60, "min")
        default: return parts(Int(min(seconds, 1e12)), 86400, "d", 3600, "h")
        }
    }

    private static func parts(_ value: Int, _ large: Int, _ name: String, _ small: Int, _ smallName: String) -> String {
        let rest = value % large / small
        return rest == 0 ? "\(value / large) \(name)" : "\(value / large) \(name) \(rest) \(smallName)"
    }

    private static let time = style(
        "\(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits)")
    private static let day = style(
        """
        \(year: .defaultDigits)-\(month: .twoDigits)-\(day: .twoDigits) \
        \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits)
        """)

    private static func style(_ format: Date.FormatString) -> Date.VerbatimFormatStyle {
        Date.VerbatimFormatStyle(format: format, timeZone: .current, calendar: Calendar(identifier: .gregorian))
    }
}
