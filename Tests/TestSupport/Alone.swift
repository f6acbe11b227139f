// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A run without concurrent tests, which tests of durations and of machine-wide resources need.
/// `Scripts/test` runs these tests after all others.
public enum Alone {
    /// `true` in such a run. The environment variable `SEARCHLIGHT_TESTS` selects it.
    public static let isSo = ProcessInfo.processInfo.environment["SEARCHLIGHT_TESTS"] == "alone"
    /// The message for a test that is skipped in other runs.
    public static let hint = "run alone: SEARCHLIGHT_TESTS=alone swift test --no-parallel --filter NAME"
}
