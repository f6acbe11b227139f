// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A run where no other test runs beside the one that does: what tests of times and of the whole machine's room need.
/// `Scripts/test` runs these after all others.
public enum Alone {
    /// Whether this is such a run; who runs it says so.
    public static let isSo = ProcessInfo.processInfo.environment["SEARCHLIGHT_TESTS"] == "alone"
    /// Why a test is left out of another.
    public static let hint = "run alone: SEARCHLIGHT_TESTS=alone swift test --no-parallel --filter NAME"
}
