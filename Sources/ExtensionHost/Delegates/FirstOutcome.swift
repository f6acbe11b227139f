// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What comes first of several things that may happen, for one who waits for it.
final class FirstOutcome<Value: Sendable>: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Value, Never>)
        case decided(Value)
    }
    private let state = Mutex(State.open)

    /// Decides, unless that was done before.
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

    /// Waits for the decision; called once.
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
