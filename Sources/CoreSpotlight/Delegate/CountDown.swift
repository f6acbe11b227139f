// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts down from a number, on any thread.
final class CountDown: Sendable {
    private let rest: Atomic<Int>

    init(_ start: Int) { rest = Atomic(start) }

    /// Takes one away; what is left.
    func next() -> Int { rest.subtract(1, ordering: .acquiringAndReleasing).newValue }
}
