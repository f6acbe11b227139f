// SPDX-License-Identifier: Apache-2.0
import MetadataQuery

/// The format of the times in a column. Templates name it, as in `{changed:unix-ms}`.
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
    /// Text such as `2026-11-27 08:30:00`, with a time zone or in UTC.
    case iso

    /// The seconds between 1970 and 2001.
    private static let appleEpoch = 978_307_200.0
    /// The seconds between 1601 and 1970.
    private static let webkitEpoch = 11_644_473_600.0
    /// The Julian day at the start of 1970.
    private static let julianEpoch = 2_440_587.5
    /// The maximum length of a date as text, in bytes.
    private static let maximumBytes = 64
    /// The range of valid times: the years 1 to 9999, in seconds since 1970.
    private static let range = -62_135_596_800.0..<253_402_300_800.0

    /// Returns the time in seconds since 2001, as in an item; `nil` for NULL and for values outside
    /// the years 1 to 9999. Apps store the number 0 for “never”, so it also gives `nil`.
    package func moment(_ value: RowValue) -> Double? {
        let seconds: Double
        if self == .iso {
            guard case .text(let text) = value, text.utf8.count <= Self.maximumBytes, let moment = Self.isoMoment(text)
            else { return nil }
            seconds = moment.instant + Self.appleEpoch
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

    /// Reads an ISO 8601 date. Many programs write a space before the offset.
    private static func isoMoment(_ text: String) -> ISOMoment? {
        ISOMoment(text.trimmed.replacing(" +", with: "+").replacing(" -", with: "-"))
    }
}
