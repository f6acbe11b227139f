// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A call to the service that can be awaited and cancelled. After a cancellation, a waiting caller
/// continues at once, even if the service does not reply.
final class QueryCall<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, CSSearchQueryError>

    private enum State {
        case underWay([CheckedContinuation<Outcome, Never>])
        case over(Outcome)
    }

    private let state = Mutex(State.underWay([]))
    private let number = ProcessTransports.nextNumber()
    private let transport: any QueryTransport

    /// Starts the call.
    init(
        _ transport: any QueryTransport,
        _ call: @escaping @Sendable (any QueryTransport, UInt64) async throws(CSSearchQueryError) -> Value
    ) {
        self.transport = transport
        // The task is detached, because cancelling the task that started a query does not cancel
        // the query.
        Task.detached { [number] in
            do throws(CSSearchQueryError) {
                self.end(.success(try await call(transport, number)))
            } catch {
                self.end(.failure(error))
            }
        }
    }

    /// The result of the call.
    var value: Value {
        get async throws(CSSearchQueryError) {
            let outcome = await withCheckedContinuation { continuation in
                let known: Outcome? = state.withLock { state in
                    switch state {
                    case .over(let outcome): return outcome
                    case .underWay(let waiting):
                        state = .underWay(waiting + [continuation])
                        return nil
                    }
                }
                if let known { continuation.resume(returning: known) }
            }
            return try outcome.get()
        }
    }

    /// Cancels the call, unless it has ended.
    func cancel() {
        if end(.failure(.cancelledQuery)) { transport.cancel(number: number) }
    }

    @discardableResult
    private func end(_ outcome: Outcome) -> Bool {
        let waiting: [CheckedContinuation<Outcome, Never>]? = state.withLock { state in
            guard case .underWay(let waiting) = state else { return nil }
            state = .over(outcome)
            return waiting
        }
        for continuation in waiting ?? [] { continuation.resume(returning: outcome) }
        return waiting != nil
    }
}

extension CSSearchQueryError {
    /// The error for a cancelled query.
    static let cancelledQuery = CSSearchQueryError(
        .cancelled, "The query was cancelled before it had all results. Create a new query to search again.")
}
