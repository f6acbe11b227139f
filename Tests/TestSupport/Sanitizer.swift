// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The sanitizer of the test run, set by Scripts/sanitize.
public enum Sanitizer: String, Sendable {
    case address
    case thread

    /// The current sanitizer; `nil` in a run without one.
    public static let current = environment["SEARCHLIGHT_SANITIZER"].flatMap(Sanitizer.init)
    /// The folder for reports.
    public static let reports = environment["SEARCHLIGHT_SANITIZER_REPORTS"]

    private static var environment: [String: String] { ProcessInfo.processInfo.environment }
}
