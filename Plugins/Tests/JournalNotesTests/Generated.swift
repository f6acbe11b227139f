// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The number of inputs for a property test: 200, or the value of `SEARCHLIGHT_JOURNAL_SEEDS` in a
/// long run.
enum Generated {
    static let seeds: UInt64 =
        ProcessInfo.processInfo.environment["SEARCHLIGHT_JOURNAL_SEEDS"].flatMap(UInt64.init) ?? 200
}
