// SPDX-License-Identifier: Apache-2.0
import Synchronization

@testable import CoreSpotlight

/// A clock that advances only when the test advances it.
final class ManualTiming: Sendable {
    private struct State {
        var now = Duration.zero
        var timers: [Int: (at: Duration, body: @Sendable () -> Void)] = [:]
        var lastTimer = 0
    }
    private let state = Mutex(State())

    var timing: ServiceTiming {
        ServiceTiming(
            now: { self.now },
            after: { delay, body in
                let number = self.state.withLock { state in
                    state.lastTimer += 1
                    state.timers[state.lastTimer] = (state.now + delay, body)
                    return state.lastTimer
                }
                return { self.state.withLock { $0.timers[number] = nil } }
            },
            chance: { 0.5 })
    }

    var now: Duration { state.withLock { $0.now } }
    var timerCount: Int { state.withLock { $0.timers.count } }

    /// Advances to the next timer, if there is one, and fires it.
    @discardableResult
    func runNext() -> Bool {
        let next: (@Sendable () -> Void)? = state.withLock { state in
            guard let first = state.timers.min(by: { $0.value.at < $1.value.at }) else { return nil }
            state.timers[first.key] = nil
            state.now = max(state.now, first.value.at)
            return first.value.body
        }
        next?()
        return next != nil
    }

    func advance(by duration: Duration) {
        let end = now + duration
        while let first = state.withLock({ $0.timers.values.map(\.at).min() }), first <= end { runNext() }
        state.withLock { $0.now = end }
    }
}
