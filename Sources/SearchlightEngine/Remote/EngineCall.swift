// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import ServiceMessages
import Synchronization

/// Something that is asked of a store, as a value that can cross to another process.
protocol EngineCall: Codable, Sendable {
    /// What is answered.
    associatedtype Answer: Codable & Sendable
    /// What it is called on the connection. Never changes its meaning.
    static var name: String { get }
    /// What it is for, as “the request to …” reads.
    var purpose: String { get }
    /// Asks the store.
    func perform(_ desk: CallDesk) async throws(EngineError) -> Answer
    /// An answer that is too large, cut so that the rest can be asked for; `nil` where that cannot be.
    static func half(of answer: Answer) -> Answer?
}

extension EngineCall {
    static func half(of answer: Answer) -> Answer? { nil }
}

/// A call on its way, with the number its sender gave it.
struct NumberedCall<Call: EngineCall>: Codable, Sendable {
    var number: UInt64
    var call: Call
}

/// How a call ended.
enum CallOutcome<Answer: Codable & Sendable>: Codable, Sendable {
    case answer(Answer)
    case failure(EngineError)
}

/// What a running call was handed besides itself, and what it answers besides its answer.
final class CallDesk: Sendable {
    /// Gives the store; waits during a repair.
    let store: EngineCalls.StoreSource
    let control: ServiceControl
    /// What followed the request.
    let payload: Payload?
    /// Told of progress.
    let onEvent: @Sendable (ExtensionEvent) -> Void
    /// What was lost is reported to one command, as an engine of its own would report it only when it met the loss.
    let toldOnce: @Sendable (StoreOpening) -> StoreOpening
    private let attachment = Mutex<[BusValue]>([])

    init(
        store: @escaping EngineCalls.StoreSource, control: ServiceControl, payload: Payload?,
        toldOnce: @escaping @Sendable (StoreOpening) -> StoreOpening = { $0 },
        onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) {
        (self.store, self.control, self.payload, self.onEvent) = (store, control, payload, onEvent)
        self.toldOnce = toldOnce
    }

    /// Has a payload or a file follow the answer.
    func attach(_ arguments: [BusValue]) { attachment.withLock { $0 = arguments } }

    var attached: [BusValue] { attachment.withLock { $0 } }
}

/// What calls ask of the service itself rather than of its store.
public struct ServiceControl: Sendable {
    /// What the service says of itself.
    public var facts: @Sendable () -> ServiceFacts
    /// Has the service end, once this has been answered and what is under way is done.
    public var stop: @Sendable () -> Void
    /// Who does work in the background; `nil` before the service has begun with that.
    public var schedule: @Sendable () -> (any ScheduleService)?
    /// Checks and repairs the store; `nil` before the service has begun.
    public var maintenance: @Sendable () -> (any StoreMaintenance)?

    /// Creates one.
    public init(
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
