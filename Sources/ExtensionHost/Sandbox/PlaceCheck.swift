// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// Looks whether places are as they were, for many who ask.
///
/// What is on file systems of this machine is looked at on the spot, in microseconds. Another one may take its time, or for
/// ever where a server is gone: no more than one thread waits for it, none of those that everything else runs on, and
/// nobody who asks for long. So it is with all places once anything was mounted, since that may have been put over them.
final class PlaceCheck: Sendable {
    private struct State {
        var isLooking = false
        /// Grows with each look.
        var looks: UInt64 = 0
        /// Whether the look under way has taken too long for those who came first.
        var isStuck = false
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var last: UInt64 = 0
        var timer: Task<Void, Never>?
    }
    /// Looks at what is in this machine, while the mounts are as they were; says whether that is so, and is unchanged.
    private let lookNear: (@Sendable () -> (isKnown: Bool, isUnchanged: Bool))?
    /// Looks at the rest; `nil` if there is nothing more.
    private let lookFar: (@Sendable () -> Bool)?
    private let look: (@Sendable () -> Bool)?
    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    /// The longest that a request waits: what a disk may need that rests.
    static let patience = Duration.seconds(3)

    /// - Parameter mounts: Changes whenever something is mounted or unmounted; `nil` if that is not known.
    init(
        _ places: GrantedPlaces, clock: any Clock<Duration>,
        mounts: @escaping @Sendable () -> Int? = { MountTable.own.version }
    ) {
        func look(_ places: GrantedPlaces) -> (@Sendable () -> Bool)? {
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

    /// - Parameter look: Whether all is as it was; may block.
    init(clock: any Clock<Duration>, look: @escaping @Sendable () -> Bool) {
        (lookNear, lookFar) = (nil, nil)
        self.look = look
        self.clock = clock
    }

    /// Whether everything is as it was. What cannot be found out in ``patience``, or before the task is cancelled, counts as
    /// unchanged: a worker that was started now would wait for the same file system.
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
            // It may have come to an end, and another may have begun.
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
