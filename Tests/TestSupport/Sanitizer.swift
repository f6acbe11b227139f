// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The sanitizer under which the tests run, which only Scripts/sanitize says.
public enum Sanitizer: String, Sendable {
    case address
    case thread

    /// `nil` in tests without one.
    public static let current = environment["SEARCHLIGHT_SANITIZER"].flatMap(Sanitizer.init)
    /// The folder of reports.
    public static let reports = environment["SEARCHLIGHT_SANITIZER_REPORTS"]

    private static var environment: [String: String] { ProcessInfo.processInfo.environment }
}
