// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import ServiceMessages
import Synchronization

/// What one worker or app donates over its connection, on its way to whoever keeps it: in order, one after the other, and
/// bounded.
///
/// When the donor has gone, what waits is dropped: it was never acknowledged, and its successor may have begun.
public final class DonationIntake: Sendable {
    /// The most donations that may wait; the runtime in a worker keeps fewer under way.
    static let maximumWaiting = 64
    /// The most bytes that may wait: two of the largest batches.
    static let maximumWaitingBytes = 2 * ChangeList.maximumBytes

    /// What waits; shared with the consumer.
    private final class Gate: Sendable {
        struct State {
            var waiting = 0
            var waitingBytes = 0
            /// Whether one is being kept.
            var isKeeping = false
            var isClosed = false
            /// The first donation that could not be kept for a reason that is not its own.
            var loss: BusError?
        }
        let state = Mutex(State())

        /// Notes that a donation was not kept although nothing was wrong with it.
        func lose(_ refusal: BusError) {
            state.withLock { state in
                if state.loss == nil { state.loss = refusal }
            }
        }

        /// Lets one through; `false` once the gate is closed.
        func pass(_ element: Element) -> Bool {
            state.withLock { state in
                state.waiting -= 1
                state.waitingBytes -= element.bytes
                state.isKeeping = true
                if state.isClosed, state.loss == nil {
                    state.loss = BusError.refused(
                        .unavailable, "its connection ended before they were kept")
                }
                return !state.isClosed
            }
        }

        /// Notes that what was let through has been kept, refused or dropped.
        func passed() { state.withLock { $0.isKeeping = false } }

        /// Whether there is nothing on its way.
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

    /// Begins to take donations.
    ///
    /// - Parameter keep: Keeps one donation, or answers one question; called for one after the other. Gives back the
    ///   arguments of the answer.
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

    /// Whether the donor asked for something that could not be, as it was told: nothing it gave was lost.
    private static func isTheDonorsOwn(_ error: BusError) -> Bool {
        if case .remote(name: ServiceErrorName.mismatchedClientState, _) = error { return true }
        return error.status == .invalidArgument
    }

    /// The first donation since the last call that could not be kept for a reason that is not its own.
    public func takeLoss() -> BusError? {
        gate.state.withLock { state in
            defer { state.loss = nil }
            return state.loss
        }
    }

    /// Takes a donation, or refuses it when too much waits. Never blocks.
    ///
    /// - Returns: Whether it was taken. Then it is kept, refused, or dropped when the intake is closed.
    @discardableResult
    public func take(_ request: IndexRequest, _ call: IncomingCall) -> Bool {
        let bytes = request.byteCount
        let refusal: String? = gate.state.withLock { state in
            if state.isClosed { return "The connection is being ended." }
            if bytes > ChangeList.maximumBytes {
                return "A donation has \(bytes) bytes; the limit is \(ChangeList.maximumBytes). Send smaller ones."
            }
            guard state.waiting < Self.maximumWaiting, state.waitingBytes + bytes <= Self.maximumWaitingBytes else {
                return
                    "\(state.waiting) donations of \(state.waitingBytes) bytes wait to be kept. Wait for completions."
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

    /// Returns when everything has been kept, refused or dropped that was taken before.
    public func settle() async {
        // Most requests donate nothing.
        guard !gate.isEmpty else { return }
        let hasEnded = await withCheckedContinuation { (waiting: CheckedContinuation<Bool, Never>) in
            if case .terminated = continuation.yield(.barrier(waiting)) { waiting.resume(returning: true) }
        }
        if hasEnded { await consumer.value }
    }

    /// Takes no more, and drops what waits. Does not wait for the donation that is being kept.
    public func close() {
        gate.state.withLock { $0.isClosed = true }
        continuation.finish()
    }

    /// Closes, and returns when nothing of this worker's will be kept any more.
    public func drain() async {
        close()
        await consumer.value
    }
}
