// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import ExtensionHost
import ServiceMessages

/// A client's request to the engine. The fields are the arguments, ``Answer`` is the result, and
/// ``perform(_:)`` is the implementation, which runs in this process or in the service.
///
/// ```swift
/// let counts = try await store.perform(ItemCountsCall())
/// ```
///
/// To add a call, declare its type and list it in ``ClientCallHandler/calls``.
package protocol ClientCall: Codable, Sendable {
    /// The result of the call.
    associatedtype Answer: Codable & Sendable
    /// The purpose of the call, to complete “the request to …”.
    var purpose: String { get }
    func perform(_ context: CallContext) async throws(EngineError) -> Answer
    /// Returns a shorter answer if the answer exceeds the size limit. The client requests the rest
    /// with further calls. `nil` if the answer cannot be split.
    static func half(of answer: Answer) -> Answer?
}

extension ClientCall {
    /// The name of the call on the connection: the name of its type.
    static var name: String { "\(Self.self)" }

    /// By default, an answer cannot be split.
    package static func half(of answer: Answer) -> Answer? { nil }
}

/// A call that an engine performs.
package protocol EngineCall: ClientCall {
    /// The result of the call; declared again for type inference.
    associatedtype Answer
    /// The access to the engine that the call needs.
    var need: EngineNeed { get }
    /// Performs the call on an engine.
    func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Answer
}

extension EngineCall {
    /// By default, a call needs only the engine.
    package var need: EngineNeed { .engine }

    /// Waits for the engine and performs the call on it.
    package func perform(_ context: CallContext) async throws(EngineError) -> Answer {
        try await context.engine.use(need) { (engine) throws(EngineError) in
            try await perform(on: engine, context)
        }
    }
}

/// The access that a call needs to an engine that many clients share.
package enum EngineNeed: Hashable, Sendable {
    /// The engine in its current state. The call does not change the index or the pending jobs.
    case engine
    /// Access for changes to the index or the pending jobs.
    case changing
    /// Access for reads that include recent donations. The call waits briefly for pending ones.
    case reading
    /// Access for reads while a user waits: background work yields.
    case userReading
    /// Access for a donation of `bytes`, which count as in flight during the call.
    case donating(bytes: Int)

    /// `true` if the call changes neither the index nor the pending jobs.
    package var isReading: Bool {
        switch self {
        case .engine, .reading, .userReading: true
        case .changing, .donating: false
        }
    }
}

/// Gives calls access to an engine.
package protocol EngineSource: Sendable {
    /// Runs a closure with the engine.
    func use<Value: Sendable>(
        _ need: EngineNeed, _ body: (SearchlightEngine) async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value
}

/// The environment of a running call.
package struct CallContext: Sendable {
    /// The engine.
    package let engine: any EngineSource
    /// The service; `nil` in a process that has its own engine.
    package let service: ServiceControl?
    /// Called with the call's progress.
    package let onEvent: @Sendable (ExtensionEvent) -> Void
    /// Removes the losses that another client has already been notified about.
    let toldOnce: @Sendable (StoreOpeningReport) -> StoreOpeningReport

    init(
        engine: any EngineSource, service: ServiceControl? = nil,
        toldOnce: @escaping @Sendable (StoreOpeningReport) -> StoreOpeningReport = { $0 },
        onEvent: @escaping @Sendable (ExtensionEvent) -> Void = { _ in }
    ) {
        (self.engine, self.service, self.toldOnce, self.onEvent) = (engine, service, toldOnce, onEvent)
    }

    /// Returns the service, for calls that only a service can perform.
    func service(for purpose: String) throws(EngineError) -> ServiceControl {
        guard let service else {
            throw .service(.refused(during: purpose, reason: "no service runs"))
        }
        return service
    }
}

/// The operations of the service itself, as opposed to its store.
package struct ServiceControl: Sendable {
    /// Returns facts about the service.
    package var facts: @Sendable () -> ServiceFacts
    /// Stops the service after the reply to this call and the work in progress.
    package var stop: @Sendable () -> Void
    /// Returns the scheduler of background work; `nil` before it starts.
    package var schedule: @Sendable () -> (any ScheduleService)?
    /// Returns the channel to running apps.
    package var activities: @Sendable () -> (any ActivityCarrier)?
    /// Returns the object that checks and repairs the store; `nil` before the service starts.
    package var maintenance: @Sendable () -> (any StoreMaintenance)?

    package init(
        facts: @escaping @Sendable () -> ServiceFacts, stop: @escaping @Sendable () -> Void,
        schedule: @escaping @Sendable () -> (any ScheduleService)? = { nil },
        maintenance: @escaping @Sendable () -> (any StoreMaintenance)? = { nil },
        activities: @escaping @Sendable () -> (any ActivityCarrier)? = { nil }
    ) {
        self.activities = activities
        self.facts = facts
        self.stop = stop
        self.schedule = schedule
        self.maintenance = maintenance
    }
}
