// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The first of several possible outcomes, for one waiting task.
final class FirstOutcome<Value: Sendable>: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Value, Never>)
        case decided(Value)
    }
    private let state = Mutex(State.open)

    /// Sets the outcome, unless it is already set.
    func decide(_ value: Value) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .open:
                state = .decided(value)
                return nil
            case .waiting(let continuation):
                state = .decided(value)
                return continuation
            case .decided: return nil
            }
        }
        waiting?.resume(returning: value)
    }

    /// Waits for the outcome. May be called once.
    func value() async -> Value {
        await withCheckedContinuation { (continuation: CheckedContinuation<Value, Never>) in
            let known = state.withLock { state -> Value? in
                if case .decided(let value) = state { return value }
                state = .waiting(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
