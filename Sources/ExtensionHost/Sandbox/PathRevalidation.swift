// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// Checks that a policy's paths are unchanged. Concurrent requests share one check.
///
/// Paths on local file systems are checked synchronously, within microseconds. Other file systems
/// may block, even indefinitely if their server is unreachable. At most one thread waits for them,
/// outside Swift's cooperative pool, and requests only wait for a bounded time. After any mount or
/// unmount, all paths are checked on that thread, because another file system may cover them.
final class PathRevalidation: Sendable {
    private struct State {
        var isLooking = false
        /// The number of the current check.
        var looks: UInt64 = 0
        /// `true` if the check in progress has exceeded the limit.
        var isStuck = false
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var last: UInt64 = 0
        var timer: Task<Void, Never>?
    }
    /// Checks the local paths. `isKnown` is `false` after a mount or unmount.
    private let lookNear: (@Sendable () -> (isKnown: Bool, isUnchanged: Bool))?
    /// Checks the other paths; `nil` if there are none.
    private let lookFar: (@Sendable () -> Bool)?
    private let look: (@Sendable () -> Bool)?
    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    /// The longest time that a request waits: long enough for a disk to spin up.
    static let patience = Duration.seconds(3)

    /// - Parameter mounts: Returns a number that changes with each mount or unmount; `nil` if it is
    ///   unknown.
    init(
        _ places: GrantedPathIdentities, clock: any Clock<Duration>,
        mounts: @escaping @Sendable () -> Int? = { MountTable.own.version }
    ) {
        func look(_ places: GrantedPathIdentities) -> (@Sendable () -> Bool)? {
            places.paths.isEmpty ? nil : { @Sendable in places.areUnchanged() }
        }
        let (near, known) = (places.only(local: true), mounts())
        lookNear = {
            guard let known, mounts() == known else { return (false, true) }
            return (true, near.areUnchanged())
        }
        lookFar = look(places.only(local: false))
        self.look = look(places)
        self.clock = clock
    }

    /// Creates a check for tests.
    ///
    /// - Parameter look: Returns `true` if nothing has changed; may block.
    init(clock: any Clock<Duration>, look: @escaping @Sendable () -> Bool) {
        (lookNear, lookFar) = (nil, nil)
        self.look = look
        self.clock = clock
    }

    /// Returns `true` if nothing has changed, or if the check does not finish within ``patience``
    /// or before the task is cancelled. In these cases a new worker would wait for the same file
    /// system.
    func areUnchanged() async -> Bool {
        guard let look else { return true }
        guard let lookNear, case let near = lookNear(), near.isKnown else { return await areUnchanged(by: look) }
        guard near.isUnchanged, let lookFar else { return near.isUnchanged }
        return await areUnchanged(by: lookFar)
    }

    private func areUnchanged(by look: @escaping @Sendable () -> Bool) async -> Bool {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFirst = state.withLock { state -> Bool? in
                    guard !state.isStuck, !Task.isCancelled else { return nil }
                    state.waiting[number] = continuation
                    defer { state.isLooking = true }
                    return !state.isLooking
                }
                guard let isFirst else { return continuation.resume(returning: true) }
                if isFirst { begin(look) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: true)
        }
    }

    private func begin(_ look: @escaping @Sendable () -> Bool) {
        state.withLock { state in
            state.looks += 1
            state.timer = Task { [self, clock, number = state.looks] in
                guard (try? await clock.sleep(for: Self.patience)) != nil else { return }
                giveUp(number)
            }
        }
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            let isUnchanged = look()
            let waiting = state.withLock { state in
                state.timer?.cancel()
                (state.isLooking, state.isStuck, state.timer) = (false, false, nil)
                return Self.takeWaiting(&state)
            }
            for one in waiting { one.resume(returning: isUnchanged) }
        }
    }

    private func giveUp(_ number: UInt64) {
        let waiting = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            // The check may have ended, and another may have started.
            guard state.isLooking, state.looks == number else { return [] }
            state.isStuck = true
            return Self.takeWaiting(&state)
        }
        for one in waiting { one.resume(returning: true) }
    }

    private static func takeWaiting(_ state: inout State) -> [CheckedContinuation<Bool, Never>] {
        defer { state.waiting = [:] }
        return Array(state.waiting.values)
    }
}
