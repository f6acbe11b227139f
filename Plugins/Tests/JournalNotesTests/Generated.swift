// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How many inputs property tests make: a few everywhere, as many as `SEARCHLIGHT_JOURNAL_SEEDS` says in a long run.
enum Generated {
    static let seeds: UInt64 =
        ProcessInfo.processInfo.environment["SEARCHLIGHT_JOURNAL_SEEDS"].flatMap(UInt64.init) ?? 200
}
