// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A value that one task awaits for a bounded time, and that any thread delivers.
///
/// ```swift
/// let answer = AwaitedValue<Int>()
/// DispatchQueue.global().async { answer.deliver(7) }
/// let number = await answer.value(within: .seconds(5), on: ContinuousClock())  // 7, or nil
/// ```
///
/// Only the first delivery counts, and only one task may wait.
package final class AwaitedValue<Value: Sendable>: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Value?, Never>)
        case done(Value?)
    }
    private let state = Mutex(State.idle)

    package init() {}

    /// Delivers the value, unless one was delivered or the wait has ended.
    package func deliver(_ value: Value) { end(value) }

    private func end(_ value: Value?) {
        let waiting: CheckedContinuation<Value?, Never>? = state.withLock { state in
            switch state {
            case .done: return nil
            case .idle:
                state = .done(value)
                return nil
            case .waiting(let continuation):
                state = .done(value)
                return continuation
            }
        }
        waiting?.resume(returning: value)
    }

    /// Waits for the value.
    ///
    /// - Returns: `nil` after the time, or when the task is cancelled.
    package func value(within time: Duration, on clock: any Clock<Duration>) async -> Value? {
        let timer = Task {
            try? await clock.sleep(for: time)
            if !Task.isCancelled { end(nil) }
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state -> Value?? in
                    guard case .done(let value) = state else {
                        state = .waiting(continuation)
                        return nil
                    }
                    return .some(value)
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            end(nil)
        }
    }
}

extension BusService {
    /// Calls the program and waits for its answer.
    ///
    /// - Returns: `nil` after the time, or when the task is cancelled.
    package func answer(
        _ path: String, _ member: BusMember, _ arguments: [BusValue] = [], within time: Duration,
        on clock: any Clock<Duration>
    ) async -> Result<[ForeignValue], BusError>? {
        let answer = AwaitedValue<Result<[ForeignValue], BusError>>()
        call(path, member, arguments) { answer.deliver($0) }
        return await answer.value(within: time, on: clock)
    }
}
