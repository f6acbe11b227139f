// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The handle for one item in a drag, which cancels whatever the item is waiting for.
final class DragItemControl: Sendable {
    enum Answer: Sendable {
        case provided(ProvidedContent)
        case failed(ProviderFailure)
        case expired(Duration)
        case cancelled

        var event: DragState.Event {
            switch self {
            case .provided(let content): .provided(wasRetried: content.wasRetried)
            case .failed(let failure): .providerFailed(DragFailure(failure))
            case .expired(let limit): .expired(limit)
            case .cancelled: .cancelled
            }
        }
    }
    private struct State {
        var asking: Task<Void, Never>?
        var waiter: CheckedContinuation<Answer, Never>?
    }

    let delivery: DeliveryControl
    private let state = Mutex(State())

    init(onBytes: @escaping @Sendable (UInt64) -> Void) { delivery = DeliveryControl(onBytes: onBytes) }

    var isCancelled: Bool { delivery.isCancelled }

    func cancel() {
        delivery.cancel()
        decide(.cancelled)
    }

    /// Sends a request and waits for its answer, the time limit, or a cancellation, whichever comes
    /// first. When the wait ends, the request's task is cancelled, and a later answer is dropped.
    func ask(
        within limit: Duration, clock: any Clock<Duration>,
        _ body: @escaping @Sendable () async -> Result<ProvidedContent, ProviderFailure>
    ) async -> Answer {
        let timer = Task { [self] in
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            decide(.expired(limit))
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            state.withLock { $0.waiter = continuation }
            let asking = Task { [self] in
                switch await body() {
                case .success(let content): decide(.provided(content))
                case .failure(let failure): decide(.failed(failure))
                }
            }
            let isWaiting = state.withLock { state in
                guard state.waiter != nil else { return false }
                state.asking = asking
                return true
            }
            if !isWaiting { asking.cancel() }
            // A cancellation may have occurred before the continuation was stored.
            if isCancelled { decide(.cancelled) }
        }
    }

    /// Sets the answer. Later answers are ignored.
    private func decide(_ answer: Answer) {
        let (waiter, asking) = state.withLock { state in
            defer { (state.waiter, state.asking) = (nil, nil) }
            return (state.waiter, state.asking)
        }
        guard let waiter else { return }
        // Cancelling a task that has ended has no effect.
        asking?.cancel()
        waiter.resume(returning: answer)
    }
}
