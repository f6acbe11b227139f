// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SearchlightEngine

/// Clients' access to the service's engine. Each request waits for a repair of the store, and a
/// repair waits for all requests.
struct SharedEngine: EngineSource {
    let holder: EngineHolder
    let activity: ServiceActivity
    let persons: InteractiveRequestCounter
    let flow: FlowControl

    /// Performs a request that only reads.
    ///
    /// - Parameters:
    ///   - patience: The maximum time that the request's reads wait for pending donations.
    ///   - isInteractive: `true` if a user waits for the result, so that background work yields.
    ///   - isReading: `false` if the request may change the store.
    ///   - refusal: Returns the error to throw if the engine is unavailable.
    func use<Value: Sendable, Failure: Error>(
        _ patience: ReadPatience, isInteractive: Bool = false, isReading: Bool = true,
        _ refusal: (EngineUnavailable) -> Failure, _ body: (SearchlightEngine) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let token = activity.beginRequest()
        defer { token.end() }
        func read() async throws(Failure) -> Value {
            try await holder.use(refusal, as: EngineHolder.Visitor(isReading: isReading)) { (engine) throws(Failure) in
                try await patience.during { () throws(Failure) in try await body(engine) }
            }
        }
        return isInteractive ? try await persons.during(read) : try await read()
    }

    func use<Value: Sendable>(
        _ need: EngineNeed, _ body: (SearchlightEngine) async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value {
        let share = FlowControl.Share(of: flow)
        defer { share.giveAll() }
        if case .donating(let bytes) = need, !share.take(bytes) {
            throw .service(
                .refused(
                    during: "store items",
                    reason: "more than \(flow.limit) bytes of donations are pending. Try again in a moment"))
        }
        return try await use(
            need.patience, isInteractive: need == .userReading, isReading: need.isReading, EngineError.init, body)
    }
}

extension EngineNeed {
    /// A reading call only waits briefly for recent donations from apps.
    fileprivate var patience: ReadPatience { [.reading, .userReading].contains(self) ? .moment : .everything }
}

extension EngineError {
    /// Creates the error that a command receives if the engine is unavailable.
    init(_ absence: EngineUnavailable) {
        switch absence {
        case .failed(let error): self = error
        case .cancelled: self = .query(.cancelled)
        default: self = .service(.refused(during: "use the store", reason: absence.description))
        }
    }
}
