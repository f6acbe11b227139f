// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import ServiceMessages
import Synchronization

/// A bounded queue of donations from one worker or app. They are stored one after another, in
/// order.
///
/// When the donor disconnects, waiting donations are dropped: they were never acknowledged, and the
/// next worker may already have started.
public final class DonationIntake: Sendable {
    /// The maximum number of waiting donations. The runtime in a worker has fewer of them in
    /// progress.
    static let maximumWaiting = 64
    /// The maximum total size of waiting donations, in bytes: two batches of maximum size.
    static let maximumWaitingBytes = 2 * ChangeList.maximumBytes

    /// The counters of the queue, shared with the consumer.
    private final class Gate: Sendable {
        struct State {
            var waiting = 0
            var waitingBytes = 0
            /// `true` while a donation is being stored.
            var isKeeping = false
            var isClosed = false
            /// The error of the first donation that could not be stored for a reason unrelated to
            /// the donation.
            var loss: BusError?
        }
        let state = Mutex(State())

        /// Records that a valid donation could not be stored.
        func lose(_ refusal: BusError) {
            state.withLock { state in
                if state.loss == nil { state.loss = refusal }
            }
        }

        /// Starts storing a donation; returns `false` if the queue is closed.
        func pass(_ element: Element) -> Bool {
            state.withLock { state in
                state.waiting -= 1
                state.waitingBytes -= element.bytes
                state.isKeeping = true
                if state.isClosed, state.loss == nil {
                    state.loss = BusError.refused(
                        .unavailable, "its connection ended before they were stored")
                }
                return !state.isClosed
            }
        }

        /// Records that the donation was stored, rejected or dropped.
        func passed() { state.withLock { $0.isKeeping = false } }

        /// `true` if no donation is waiting or being stored.
        var isEmpty: Bool { state.withLock { $0.waiting == 0 && !$0.isKeeping } }
    }
    private struct Element: Sendable {
        let request: IndexRequest
        let call: IncomingCall
        let bytes: Int
    }
    private let gate = Gate()
    private enum Step: Sendable {
        case donation(Element)
        case barrier(CheckedContinuation<Bool, Never>)
    }
    private let continuation: AsyncStream<Step>.Continuation
    private let consumer: Task<Void, Never>

    /// Creates a queue and starts its consumer.
    ///
    /// - Parameter keep: Stores one donation or answers one query, and returns the arguments of the
    ///   reply. Calls are serialised.
    public init(keep: @escaping @Sendable (IndexRequest) async throws(BusError) -> [BusValue]) {
        let (steps, continuation) = AsyncStream.makeStream(of: Step.self)
        self.continuation = continuation
        consumer = Task { [gate] in
            for await step in steps {
                guard case .donation(let element) = step else {
                    if case .barrier(let waiting) = step { waiting.resume(returning: false) }
                    continue
                }
                defer { gate.passed() }
                guard gate.pass(element) else { continue }
                do throws(BusError) {
                    element.call.reply(try await keep(element.request))
                } catch {
                    if !Self.isTheDonorsOwn(error) { gate.lose(error) }
                    element.call.refuse(error)
                }
            }
        }
    }

    /// Returns `true` if the donation itself caused the error. The donor receives the error, so
    /// nothing is lost.
    private static func isTheDonorsOwn(_ error: BusError) -> Bool {
        if case .remote(name: ServiceErrorName.mismatchedClientState, _) = error { return true }
        return error.status == .invalidArgument
    }

    /// Returns the error of the first donation since the last call that could not be stored for a
    /// reason unrelated to the donation.
    public func takeLoss() -> BusError? {
        gate.state.withLock { state in
            defer { state.loss = nil }
            return state.loss
        }
    }

    /// Enqueues a donation, or rejects it if too many or too large donations are waiting. Never
    /// blocks.
    ///
    /// - Returns: `true` if it was enqueued. It is then stored, rejected, or dropped when the queue
    ///   is closed.
    @discardableResult
    public func take(_ request: IndexRequest, _ call: IncomingCall) -> Bool {
        let bytes = request.byteCount
        let refusal: String? = gate.state.withLock { state in
            if state.isClosed { return "The connection is ending." }
            if bytes > ChangeList.maximumBytes {
                return "A donation has \(bytes) bytes; the limit is \(ChangeList.maximumBytes). Send smaller donations."
            }
            guard state.waiting < Self.maximumWaiting, state.waitingBytes + bytes <= Self.maximumWaitingBytes else {
                return
                    "\(state.waiting) donations of \(state.waitingBytes) bytes are pending. Wait for completions."
            }
            state.waiting += 1
            state.waitingBytes += bytes
            return nil
        }
        if let refusal {
            call.refuse(name: BusErrorName.limitsExceeded, message: refusal)
            return false
        }
        continuation.yield(.donation(Element(request: request, call: call, bytes: bytes)))
        return true
    }

    /// Returns when all previously enqueued donations are stored, rejected or dropped.
    public func settle() async {
        // Most requests do not lead to donations.
        guard !gate.isEmpty else { return }
        let hasEnded = await withCheckedContinuation { (waiting: CheckedContinuation<Bool, Never>) in
            if case .terminated = continuation.yield(.barrier(waiting)) { waiting.resume(returning: true) }
        }
        if hasEnded { await consumer.value }
    }

    /// Rejects further donations and drops waiting ones. Does not wait for a donation that is being
    /// stored.
    public func close() {
        gate.state.withLock { $0.isClosed = true }
        continuation.finish()
    }

    /// Closes the queue, and returns when nothing more will be stored.
    public func drain() async {
        close()
        await consumer.value
    }
}
