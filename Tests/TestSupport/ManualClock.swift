// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization

/// A clock that a test advances.
public final class ManualClock: Clock {
    public typealias Instant = ContinuousClock.Instant

    private struct State {
        var now = ContinuousClock.now
        var number = 0
        var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Bool, Never>)] = [:]
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }
    private let state = Mutex(State())

    public init() {}

    public var now: Instant { state.withLock { $0.now } }
    public var minimumResolution: Duration { .zero }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
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

    /// The number of current sleepers.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Advances the clock, and wakes the sleepers whose deadline has passed.
    public func advance(by duration: Duration) {
        let awake = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in awake { continuation.resume(returning: true) }
    }

    /// Returns when at least `count` tasks are sleeping.
    public func waitForSleepers(_ count: Int = 1) async {
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

/// A clock for time limits that must not expire only because the machine is busy or was suspended.
public enum SteadyClock {
    /// The clock. A thread in this process advances it by 5 ms whenever the thread gets to run. On
    /// an idle machine the clock runs at normal speed. On a busy machine it slows down with the
    /// code under test.
    public static let shared: ManualClock = {
        let clock = ManualClock()
        Thread.detachNewThread {
            while true {
                usleep(5000)
                clock.advance(by: .milliseconds(5))
            }
        }
        return clock
    }()
}
