// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SearchlightEngine

/// The engine of the service as commands ask it: each call waits during a repair of the store, and a repair waits for each.
/// A call that reads waits for what apps have just donated, a moment only.
struct LeasedEngine: EngineSource {
    let holder: EngineHolder
    let activity: ServiceActivity
    let persons: InteractiveRequestCounter

    func use<Value: Sendable>(
        _ need: EngineNeed, _ body: (SearchlightEngine) async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value {
        let token = activity.beginRequest()
        defer { token.end() }
        switch need {
        case .engine: return try await holder.use(EngineError.init, body)
        case .reading: return try await read(body)
        case .userReading: return try await persons.during { () throws(EngineError) in try await read(body) }
        }
    }

    private func read<Value: Sendable>(
        _ body: (SearchlightEngine) async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value {
        try await holder.use(EngineError.init) { (engine) throws(EngineError) in
            try await ReadPatience.moment.during { () throws(EngineError) in try await body(engine) }
        }
    }
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
