// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import ItemRecord
import SearchIndex
import ServiceMessages
import Synchronization

/// Answers what commands ask of the engine over `com.searchlight.Engine1`, for all connections of a service.
public final class EngineCalls: Sendable {
    /// Gives the store; waits during a repair.
    public typealias StoreSource = @Sendable () async throws(EngineError) -> any StoreService

    /// How a call ended, and what follows the answer.
    struct Result: Sendable {
        var json: [UInt8]
        var attached: [BusValue] = []
    }

    private let store: StoreSource
    private let control: ServiceControl
    private let lossWasTold = Atomic(false)

    /// Creates the service's side.
    public init(control: ServiceControl, store: @escaping StoreSource) {
        self.control = control
        self.store = store
    }

    /// All that can be asked.
    static let calls: [any EngineCall.Type] = [
        OpeningCall.self, ExtensionsCall.self, StatusCall.self, ItemCountsCall.self, OwedReindexesCall.self,
        SearchCall.self, ItemsCall.self, CountCall.self, ExplainCall.self, ItemCall.self,
        PreviewCall.self, FulfilCall.self, PrewarmCall.self, ReindexCall.self, CompareCall.self, CommitCall.self,
        ClientStateCall.self, PendingCall.self,
        SettleCall.self, RejectionsCall.self, FactsCall.self, StopCall.self, ExtensionListingCall.self,
        ExtensionDetailsCall.self, ExtensionPlacesCall.self, SetEnabledCall.self, ReleaseCall.self, ForgetCall.self,
        ReindexItemsCall.self, ScheduleCall.self, RunJobCall.self, CancelJobCall.self, ThrottleCall.self,
        InhibitCall.self, VerifyCall.self, RepairCall.self,
    ]

    private static let byName = Dictionary(calls.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// The kind of a call.
    ///
    /// - Throws: ``BusErrorName/unknownMethod`` for a name that is none.
    static func kind(_ name: String) throws(BusError) -> any EngineCall.Type {
        guard let kind = byName[name] else {
            throw .remote(
                name: BusErrorName.unknownMethod,
                message: """
                    The service knows no \(name.prefix(80).debugDescription). Install the command and the service from the \
                    same release, and restart the service.
                    """)
        }
        return kind
    }

    /// Carries out a call.
    func perform<Call: EngineCall>(
        _ numbered: NumberedCall<Call>, payload: Payload?, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async -> Result {
        let outcome: CallOutcome<Call.Answer>
        var attached: [BusValue] = []
        do throws(EngineError) {
            let desk = CallDesk(
                store: store, control: control, payload: payload, toldOnce: { self.toldOnce($0) }, onEvent: onEvent)
            outcome = .answer(try await numbered.call.perform(desk))
            attached = desk.attached
        } catch {
            outcome = .failure(error.withoutRecords)
        }
        let json = Self.encoded(outcome, numbered.call)
        return Result(json: json.bytes, attached: json.isAnswer ? attached : [])
    }

    private func toldOnce(_ opening: StoreOpening) -> StoreOpening {
        guard opening.recovery.lostDonations, lossWasTold.exchange(true, ordering: .relaxed) else { return opening }
        var opening = opening
        opening.recovery = RecoveryReport()
        return opening
    }

    /// The bytes of an outcome, of a half of it as long as it is too large, or of an error.
    private static func encoded<Call: EngineCall>(
        _ outcome: CallOutcome<Call.Answer>, _ call: Call
    ) -> (bytes: [UInt8], isAnswer: Bool) {
        var outcome = outcome
        while true {
            let problem: ServiceProblem
            do throws(CallCodingError) {
                let bytes = try CallCoding.encode(outcome)
                if bytes.count <= CallCoding.maximumAnswerBytes { return (bytes, outcome.isAnswer) }
                if case .answer(let answer) = outcome, let half = Call.half(of: answer) {
                    outcome = .answer(half)
                    continue
                }
                problem = .answerTooLarge(during: call.purpose, limit: CallCoding.maximumAnswerBytes)
            } catch {
                problem = .malformedAnswer(during: call.purpose, reason: error.reason)
            }
            let bytes = (try? CallCoding.encode(CallOutcome<Call.Answer>.failure(.service(problem)))) ?? []
            return (bytes, false)
        }
    }
}

extension CallOutcome {
    fileprivate var isAnswer: Bool { if case .answer = self { true } else { false } }
}

extension EngineError {
    /// The error without what its message does not say: the records of items may be large.
    fileprivate var withoutRecords: EngineError {
        guard case .ambiguousItem(let name, var candidates) = self else { return self }
        for index in candidates.indices {
            candidates[index].record = ItemRecord(uniqueIdentifier: candidates[index].record.uniqueIdentifier)
        }
        return .ambiguousItem(name, candidates: candidates)
    }
}
