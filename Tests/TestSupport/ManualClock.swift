// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization

/// A clock that a test moves.
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

    /// How many sleep now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Moves the present; wakes whoever slept until then.
    public func advance(by duration: Duration) {
        let awake = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in awake { continuation.resume(returning: true) }
    }

    /// Returns when so many sleep.
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

/// A clock for limits that a test does not want to be reached because the machine is busy or stood still.
public enum SteadyClock {
    /// It goes on with a thread of this process, by a step each time that gets to run: as fast as others on a quiet machine,
    /// and slower on one where all that the test waits for is slower too.
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
