// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchlightEngine
import Synchronization

/// Flow control of the donations of all clients: counts what is in flight, and knows which bound holds a donation up.
///
/// A donation of an app meets the bounds in this order, one of a command only `service` and, within the index, `store`:
///
/// | Bound | Limit | A donation beyond it |
/// |---|---|---|
/// | `message` | ``ReceiveBudget``: 34 MiB of messages over 2 MiB, 8 MiB of those over 64 KiB | is not read |
/// | `service` | ``ServiceLimits/heldBytes`` of all connections | is rejected |
/// | `connection` | ``DonationIntake``: 64 donations and 64 MiB of one connection | is rejected |
/// | `store` | ``SearchIndex/hasRoom(for:bytes:)``: 64 MiB durable and not applied | waits |
/// | `large` | one donation over ``smallBytes`` is checked and logged at a time | waits |
final class FlowControl: Sendable {
    /// Donations of up to so many bytes are small: they do not wait for a large one.
    static let smallBytes = 1 << 20

    private struct State {
        var bytes = 0
        var peak = 0
        var donations = 0
        var waiting: [DonationFlow.Bound: Int] = [:]
        var rejected = 0
        /// Whether a large donation is being kept, and which wait for that, in order.
        var isTaken = false
        var line: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())
    /// The most bytes in flight.
    let limit: Int

    init(limit: Int) { self.limit = limit }

    /// The most bytes that were in flight at once.
    var peak: Int { state.withLock { $0.peak } }
    /// The bytes in flight.
    var held: Int { state.withLock { $0.bytes } }

    /// What is in flight, and at which bounds donations wait.
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

    /// Counts a donation that was rejected at a bound.
    func noteRejection() { state.withLock { $0.rejected += 1 } }

    /// Waits at a bound.
    ///
    /// - Throws: What `body` throws.
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

    /// Keeps a donation of a size: one large one at a time, of all clients, in the order in which they come. While a large
    /// donation is checked and logged it takes several times its size.
    ///
    /// - Throws: What `body` throws.
    func keeping<Value, Failure: Error>(
        _ bytes: Int, _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard bytes > Self.smallBytes else { return try await body() }
        await resume(bytes)
        defer { pause(bytes) }
        return try await body()
    }

    /// Lets others through during a long wait in ``keeping(_:_:)``, until ``resume(_:)`` is called.
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

    /// Ends that.
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

    /// What one connection has in flight.
    final class Share: Sendable {
        private let held = Mutex((bytes: 0, donations: 0))
        private let over = Atomic(false)
        private let control: FlowControl

        init(of control: FlowControl) { self.control = control }

        /// Whether the connection is over.
        var isOver: Bool { over.load(ordering: .acquiring) }

        func end() { over.store(true, ordering: .releasing) }

        /// Takes a donation in; `false` if too much is in flight.
        func take(_ bytes: Int) -> Bool {
            guard control.take(bytes) else { return false }
            held.withLock { $0 = ($0.bytes + bytes, $0.donations + 1) }
            return true
        }

        /// Forgets a donation.
        func give(_ bytes: Int) {
            held.withLock { $0 = ($0.bytes - bytes, $0.donations - 1) }
            control.give(bytes, donations: 1)
        }

        /// Forgets all.
        func giveAll() {
            let rest = held.withLock { held in
                defer { held = (0, 0) }
                return held
            }
            control.give(rest.bytes, donations: rest.donations)
        }
    }
}
