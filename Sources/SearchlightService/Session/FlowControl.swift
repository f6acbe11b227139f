// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchlightEngine
import Synchronization

/// The flow control for all donations. It counts the donations in flight and the donations that
/// wait at each limit.
///
/// A donation from an app passes the limits in this order. A donation from a command only passes
/// `service` and, within the index, `store`.
///
/// | Bound | Limit | Beyond the limit a donation |
/// |---|---|---|
/// | `message` | ``ReceiveBudget``: 34 MiB over 2 MiB each, 8 MiB over 64 KiB | is not read |
/// | `service` | ``ServiceLimits/heldBytes`` of all connections | is rejected |
/// | `connection` | ``DonationIntake``: 64 donations and 64 MiB of one connection | is rejected |
/// | `store` | ``SearchIndex/hasRoom(for:bytes:)``: 64 MiB durable and not applied | waits |
/// | `large` | one donation over ``smallBytes`` is checked and logged at a time | waits |
final class FlowControl: Sendable {
    /// The maximum size of a small donation in bytes. Small donations do not wait for large ones.
    static let smallBytes = 1 << 20

    private struct State {
        var bytes = 0
        var peak = 0
        var donations = 0
        var waiting: [DonationFlow.Bound: Int] = [:]
        var rejected = 0
        /// `true` while a large donation is being committed; `line` holds the waiting ones in
        /// order.
        var isTaken = false
        var line: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())
    /// The maximum number of bytes in flight.
    let limit: Int

    init(limit: Int) { self.limit = limit }

    /// The highest value of ``held`` so far.
    var peak: Int { state.withLock { $0.peak } }
    /// The number of bytes in flight.
    var held: Int { state.withLock { $0.bytes } }

    /// The donations in flight, and the number of donations that wait at each limit.
    var flow: DonationFlow {
        var flow = state.withLock { state in
            var flow = DonationFlow(bytes: state.bytes, donations: state.donations, rejected: state.rejected)
            for (bound, count) in state.waiting where count > 0 { flow.waiting[bound.rawValue] = count }
            return flow
        }
        let unread = ReceiveBudget.shared.waiting
        if unread > 0 { flow.waiting[DonationFlow.Bound.message.rawValue] = unread }
        return flow
    }

    /// Counts a rejected donation.
    func noteRejection() { state.withLock { $0.rejected += 1 } }

    /// Runs a closure that waits at a limit, and counts it as waiting.
    ///
    /// - Throws: The closure's error.
    func waiting<Value, Failure: Error>(
        at bound: DonationFlow.Bound, _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        state.withLock { $0.waiting[bound, default: 0] += 1 }
        defer { state.withLock { $0.waiting[bound, default: 0] -= 1 } }
        return try await body()
    }

    private func take(_ bytes: Int) -> Bool {
        state.withLock { state in
            guard state.bytes + bytes <= limit else {
                state.rejected += 1
                return false
            }
            state.bytes += bytes
            state.donations += 1
            state.peak = max(state.peak, state.bytes)
            return true
        }
    }

    private func give(_ bytes: Int, donations: Int) {
        state.withLock { state in
            state.bytes -= bytes
            state.donations -= donations
        }
    }

    // MARK: Large donations

    /// Commits a donation. Large donations from all clients are committed one at a time, in order
    /// of arrival, because the commit of a large donation takes several times its size in memory.
    ///
    /// - Throws: The closure's error.
    func keeping<Value, Failure: Error>(
        _ bytes: Int, _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard bytes > Self.smallBytes else { return try await body() }
        await resume(bytes)
        defer { pause(bytes) }
        return try await body()
    }

    /// Lets other large donations pass during a long wait in ``keeping(_:_:)``, until
    /// ``resume(_:)`` is called.
    func pause(_ bytes: Int) {
        guard bytes > Self.smallBytes else { return }
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.line.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.line.removeFirst()
        }
        next?.resume()
    }

    /// Waits for the slot for large donations and takes it.
    func resume(_ bytes: Int) async {
        guard bytes > Self.smallBytes else { return }
        let isFree = state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
        if isFree { return }
        await waiting(at: .large) {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isFree = state.withLock { state in
                    guard state.isTaken else {
                        state.isTaken = true
                        return true
                    }
                    state.line.append(continuation)
                    return false
                }
                if isFree { continuation.resume() }
            }
        }
    }

    /// One connection's donations in flight.
    final class Share: Sendable {
        private let held = Mutex((bytes: 0, donations: 0))
        private let over = Atomic(false)
        private let control: FlowControl

        init(of control: FlowControl) { self.control = control }

        /// `true` if the connection has ended.
        var isOver: Bool { over.load(ordering: .acquiring) }

        func end() { over.store(true, ordering: .releasing) }

        /// Adds a donation; `false` if the limit is reached.
        func take(_ bytes: Int) -> Bool {
            guard control.take(bytes) else { return false }
            held.withLock { $0 = ($0.bytes + bytes, $0.donations + 1) }
            return true
        }

        /// Removes a donation.
        func give(_ bytes: Int) {
            held.withLock { $0 = ($0.bytes - bytes, $0.donations - 1) }
            control.give(bytes, donations: 1)
        }

        /// Removes all donations.
        func giveAll() {
            let rest = held.withLock { held in
                defer { held = (0, 0) }
                return held
            }
            control.give(rest.bytes, donations: rest.donations)
        }
    }
}
