// SPDX-License-Identifier: Apache-2.0
import ServiceMessages
import Synchronization

/// One thing a worker is asked, and how it is brought to an end before its answer: the worker is told that nobody waits any
/// more; if it has not answered after a grace time it is asked to end, and after another one the kernel ends it. A worker that
/// was frozen is ended at once: it can heed nothing, and going on is just what it must not.
final class CallUnderWay: Sendable {
    /// Why it is not waited for any longer.
    enum Stop: Sendable, Hashable {
        /// Whoever asked does not want to know any more.
        case cancelled
        /// It took longer than a limit.
        case expired(Duration)
    }
    private struct State {
        var serial: UInt64?
        var stop: Stop?
        var isOver = false
        var escalation: Task<Void, Never>?
    }
    private let state = Mutex(State())
    private let canBeCancelled: Bool
    private let limits: WorkerConfiguration.Limits
    private let clock: any Clock<Duration>
    private let end: WorkerEnd
    private let tell: @Sendable (WorkerRequest) -> Void

    /// - Parameter tell: Sends something that has no answer to the worker.
    init(
        _ request: WorkerRequest, _ configuration: WorkerConfiguration, _ end: WorkerEnd,
        tell: @escaping @Sendable (WorkerRequest) -> Void
    ) {
        canBeCancelled = request.canBeCancelled
        limits = configuration.limits
        clock = configuration.clock
        self.end = end
        self.tell = tell
    }

    /// Notes the serial number by which the worker knows the call.
    func wasSent(as serial: UInt64) {
        let isUnwanted = state.withLock { state in
            state.serial = serial
            return state.stop != nil
        }
        if isUnwanted, canBeCancelled { tell(.cancel(call: serial)) }
    }

    /// Brings the call to an end; the first reason counts. Returns at once.
    func stop(_ reason: Stop) {
        let (isFirst, serial) = state.withLock { state -> (Bool, UInt64?) in
            guard state.stop == nil, !state.isOver else { return (false, nil) }
            state.stop = reason
            // Made under the lock, so that the end of the call finds it.
            state.escalation = Task { [self] in await escalate() }
            return (true, state.serial)
        }
        if isFirst, canBeCancelled, let serial { tell(.cancel(call: serial)) }
    }

    private func escalate() async {
        if canBeCancelled, !end.isFrozen {
            guard (try? await clock.sleep(for: limits.cancelGrace)) != nil, unlessOver({ end.politely() }) else {
                return
            }
            guard (try? await clock.sleep(for: limits.endGrace)) != nil else { return }
        }
        _ = unlessOver { end.now() }
    }

    /// Does something to the worker, unless the call has ended: what comes next to the worker is another's.
    private func unlessOver(_ body: () -> Void) -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            body()
            return true
        }
    }

    /// Notes that the call has ended, by its answer or with its worker.
    ///
    /// - Returns: By which number the worker knew it, and why it was not waited for, if so.
    func finish() -> (serial: UInt64?, stop: Stop?) {
        state.withLock { state in
            state.isOver = true
            state.escalation?.cancel()
            state.escalation = nil
            return (state.serial, state.stop)
        }
    }
}

/// What one worker is being asked.
final class CallsUnderWay: Sendable {
    private let calls = Mutex<[ObjectIdentifier: CallUnderWay]>([:])

    func add(_ call: CallUnderWay) { calls.withLock { $0[ObjectIdentifier(call)] = call } }
    func remove(_ call: CallUnderWay) { calls.withLock { $0[ObjectIdentifier(call)] = nil } }

    /// Brings all of it to an end, as if nobody waited for it any more.
    func stopAll() { for call in calls.withLock({ Array($0.values) }) { call.stop(.cancelled) } }
}
