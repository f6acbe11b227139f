// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A countdown from a number, on any thread.
final class CountDown: Sendable {
    private let rest: Atomic<Int>

    init(_ start: Int) { rest = Atomic(start) }

    /// Subtracts 1 and returns the remaining count.
    func next() -> Int { rest.subtract(1, ordering: .acquiringAndReleasing).newValue }
}
