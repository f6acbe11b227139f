// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SearchlightEngine

/// The engine of the service as clients ask it: each request waits during a repair of the store, and a repair waits for each.
struct SharedEngine: EngineSource {
    let holder: EngineHolder
    let activity: ServiceActivity
    let persons: InteractiveRequestCounter
    let flow: FlowControl

    /// Performs a request.
    ///
    /// - Parameters:
    ///   - patience: How its reads wait for what was donated a moment ago.
    ///   - isInteractive: Whether a user waits for it, so that background work gives way.
    ///   - refusal: What to throw when the engine cannot be used.
    func use<Value: Sendable, Failure: Error>(
        _ patience: ReadPatience, isInteractive: Bool = false, _ refusal: (EngineUnavailable) -> Failure,
        _ body: (SearchlightEngine) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let token = activity.beginRequest()
        defer { token.end() }
        func read() async throws(Failure) -> Value {
            try await holder.use(refusal) { (engine) throws(Failure) in
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
                    reason: "more than \(flow.limit) bytes of donations wait to be kept. Try again in a moment"))
        }
        return try await use(need.patience, isInteractive: need == .userReading, EngineError.init, body)
    }
}

extension EngineNeed {
    /// A call that reads waits for what apps have just donated, a moment only.
    fileprivate var patience: ReadPatience { [.reading, .userReading].contains(self) ? .moment : .everything }
}

extension EngineError {
    /// What a command is told of an engine that it cannot use.
    init(_ absence: EngineUnavailable) {
        switch absence {
        case .failed(let error): self = error
        case .cancelled: self = .query(.cancelled)
        default: self = .service(.refused(during: "use the store", reason: absence.description))
        }
    }
}
