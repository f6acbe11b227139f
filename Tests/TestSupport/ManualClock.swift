// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A clock that a test moves.
package final class ManualClock: Clock {
    package typealias Instant = ContinuousClock.Instant

    private struct State {
        var now = ContinuousClock.now
        var number = 0
        var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Bool, Never>)] = [:]
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }
    private let state = Mutex(State())

    package init() {}

    package var now: Instant { state.withLock { $0.now } }
    package var minimumResolution: Duration { .zero }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let (isNow, waiters) = state.withLock { state -> (Bool?, [CheckedContinuation<Void, Never>]) in
                    if Task.isCancelled { return (false, []) }
                    if deadline <= state.now { return (true, []) }
                    state.sleepers[number] = (deadline, continuation)
                    let awake = state.waiters.filter { $0.count <= state.sleepers.count }.map(\.continuation)
                    state.waiters.removeAll { $0.count <= state.sleepers.count }
                    return (nil, awake)
                }
                if let isNow { continuation.resume(returning: isNow) }
                for waiter in waiters { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }

    /// How many sleep now.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Moves the present; wakes whoever slept until then.
    package func advance(by duration: Duration) {
        let awake = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in awake { continuation.resume(returning: true) }
    }

    /// Returns when so many sleep.
    package func waitForSleepers(_ count: Int = 1) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isThere = state.withLock { state in
                guard state.sleepers.count < count else { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
