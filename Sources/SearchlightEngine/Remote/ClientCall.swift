// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ServiceMessages

/// One thing that a client asks of the engine. A call is declared once: its fields are what is sent, its answer is what comes
/// back, and ``perform(_:)`` is what an engine does, whether in this process or in the service.
///
/// ```swift
/// let counts = try await store.perform(ItemCountsCall())
/// ```
///
/// To add one: declare it, and name it in ``ClientCallHandler/calls``.
package protocol ClientCall: Codable, Sendable {
    /// What is answered.
    associatedtype Answer: Codable & Sendable
    /// What the call is for, as “the request to …” reads.
    var purpose: String { get }
    func perform(_ context: CallContext) async throws(EngineError) -> Answer
    /// An answer that is too large, cut so that the rest can be asked for; `nil` where that cannot be.
    static func half(of answer: Answer) -> Answer?
}

extension ClientCall {
    /// What the call is named on the connection: as its type is.
    static var name: String { "\(Self.self)" }

    /// No part of an answer.
    package static func half(of answer: Answer) -> Answer? { nil }
}

/// A call that an engine performs.
package protocol EngineCall: ClientCall {
    /// What is answered; named again for it to be inferred.
    associatedtype Answer
    /// What the call needs of the engine.
    var need: EngineNeed { get }
    /// Performs the call on an engine.
    func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Answer
}

extension EngineCall {
    /// Most calls only need the engine.
    package var need: EngineNeed { .engine }

    /// Waits for the engine and performs the call on it.
    package func perform(_ context: CallContext) async throws(EngineError) -> Answer {
        try await context.engine.use(need) { (engine) throws(EngineError) in
            try await perform(on: engine, context)
        }
    }
}

/// What a call needs of an engine that many clients share.
package enum EngineNeed: Hashable, Sendable {
    /// The engine as it is.
    case engine
    /// To read, and so to wait a moment for what was donated a moment ago.
    case reading
    /// The same for a user who waits, so that background work gives way.
    case userReading
    /// To make donations of so many bytes durable, which count as in flight meanwhile.
    case donating(bytes: Int)
}

/// Gives an engine to calls.
package protocol EngineSource: Sendable {
    /// Performs a body on the engine.
    func use<Value: Sendable>(
        _ need: EngineNeed, _ body: (SearchlightEngine) async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value
}

/// What a running call is given besides itself.
package struct CallContext: Sendable {
    /// The engine.
    package let engine: any EngineSource
    /// The service; `nil` in a process that holds an engine of its own.
    package let service: ServiceControl?
    /// Takes the progress of the call.
    package let onEvent: @Sendable (ExtensionEvent) -> Void
    /// Leaves out what another client has been told.
    let toldOnce: @Sendable (StoreOpeningReport) -> StoreOpeningReport

    init(
        engine: any EngineSource, service: ServiceControl? = nil,
        toldOnce: @escaping @Sendable (StoreOpeningReport) -> StoreOpeningReport = { $0 },
        onEvent: @escaping @Sendable (ExtensionEvent) -> Void = { _ in }
    ) {
        (self.engine, self.service, self.toldOnce, self.onEvent) = (engine, service, toldOnce, onEvent)
    }

    /// The service, for calls that only a service performs.
    func service(for purpose: String) throws(EngineError) -> ServiceControl {
        guard let service else {
            throw .service(.refused(during: purpose, reason: "no service runs"))
        }
        return service
    }
}

/// What calls ask of the service itself rather than of its store.
package struct ServiceControl: Sendable {
    /// What the service says of itself.
    package var facts: @Sendable () -> ServiceFacts
    /// Has the service end, once this has been answered and what is in progress is done.
    package var stop: @Sendable () -> Void
    /// The scheduler of background work; `nil` before the service has begun with that.
    package var schedule: @Sendable () -> (any ScheduleService)?
    /// Checks and repairs the store; `nil` before the service has begun.
    package var maintenance: @Sendable () -> (any StoreMaintenance)?

    package init(
        facts: @escaping @Sendable () -> ServiceFacts, stop: @escaping @Sendable () -> Void,
        schedule: @escaping @Sendable () -> (any ScheduleService)? = { nil },
        maintenance: @escaping @Sendable () -> (any StoreMaintenance)? = { nil }
    ) {
        self.facts = facts
        self.stop = stop
        self.schedule = schedule
        self.maintenance = maintenance
    }
}
