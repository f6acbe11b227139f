// SPDX-License-Identifier: Apache-2.0
import ServiceMessages
import Synchronization

/// A worker's request in progress, and its escalating cancellation.
///
/// A cancelled worker is first notified. If it has not replied after a grace period, it receives
/// SIGTERM, and after another grace period SIGKILL. A frozen worker receives SIGKILL at once: it
/// cannot react, and it must not resume.
final class CallUnderWay: Sendable {
    /// The reason for a cancellation.
    enum Stop: Sendable, Hashable {
        /// The caller no longer waits for the reply.
        case cancelled
        /// The request exceeded a limit.
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
    private let purpose: String
    private let limits: WorkerConfiguration.Limits
    private let clock: any Clock<Duration>
    private let end: WorkerEnd
    private let tell: @Sendable (WorkerRequest) -> Void

    /// Creates a request that has not been sent yet.
    ///
    /// - Parameter tell: Sends a notification to the worker.
    init(
        _ request: WorkerRequest, _ configuration: WorkerConfiguration, _ end: WorkerEnd,
        tell: @escaping @Sendable (WorkerRequest) -> Void
    ) {
        canBeCancelled = request.canBeCancelled
        purpose = request.purpose
        limits = configuration.limits
        clock = configuration.clock
        self.end = end
        self.tell = tell
    }

    /// Records the serial number of the sent message.
    func wasSent(as serial: UInt64) {
        let isUnwanted = state.withLock { state in
            state.serial = serial
            return state.stop != nil
        }
        if isUnwanted, canBeCancelled { tell(.cancel(call: serial)) }
    }

    /// Cancels the request. Only the first reason is recorded. Returns at once.
    func stop(_ reason: Stop) {
        let (isFirst, serial) = state.withLock { state -> (Bool, UInt64?) in
            guard state.stop == nil, !state.isOver else { return (false, nil) }
            state.stop = reason
            // The task is created under the lock, so that ``finish()`` finds it.
            state.escalation = Task { [self] in await escalate() }
            return (true, state.serial)
        }
        if isFirst, canBeCancelled, let serial { tell(.cancel(call: serial)) }
    }

    private func escalate() async {
        if canBeCancelled, !end.isFrozen {
            guard (try? await clock.sleep(for: limits.cancelGrace)) != nil, unlessOver({ end.politely(after: purpose) })
            else {
                return
            }
            guard (try? await clock.sleep(for: limits.endGrace)) != nil else { return }
        }
        _ = unlessOver { end.now(after: purpose) }
    }

    /// Signals the worker, unless the request has ended: a later signal would affect another
    /// request.
    private func unlessOver(_ body: () -> Void) -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            body()
            return true
        }
    }

    /// Records the end of the request, by a reply or by the worker's exit.
    ///
    /// - Returns: The serial number of the message, and the reason if the request was cancelled.
    func finish() -> (serial: UInt64?, stop: Stop?) {
        state.withLock { state in
            state.isOver = true
            state.escalation?.cancel()
            state.escalation = nil
            return (state.serial, state.stop)
        }
    }
}

/// A worker's requests in progress.
final class CallsUnderWay: Sendable {
    private let calls = Mutex<[ObjectIdentifier: CallUnderWay]>([:])

    func add(_ call: CallUnderWay) { calls.withLock { $0[ObjectIdentifier(call)] = call } }
    func remove(_ call: CallUnderWay) { calls.withLock { $0[ObjectIdentifier(call)] = nil } }

    /// Cancels all requests.
    func stopAll() { for call in calls.withLock({ Array($0.values) }) { call.stop(.cancelled) } }
}
