// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import ItemRecord
import SearchIndex
import Synchronization

/// The encoded result of a call: its answer or its error.
enum CallOutcome<Answer: Codable & Sendable>: Codable, Sendable {
    case answer(Answer)
    case failure(EngineError)

    private enum CodingKeys: CodingKey { case answer, error }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self =
            values.contains(.error)
            ? .failure(try values.decode(EngineError.self, forKey: .error))
            : .answer(try values.decode(Answer.self, forKey: .answer))
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .answer(let answer): try values.encode(answer, forKey: .answer)
        case .failure(let error): try values.encode(error, forKey: .error)
        }
    }
}

/// Performs the calls that clients send with ``AdminRequest/performMember``, for all of a service's
/// connections.
package final class ClientCallHandler: Sendable {
    /// The maximum size of an answer in bytes, without files and streams.
    static let maximumAnswerBytes = 32 << 20

    private let engine: any EngineSource
    private let control: ServiceControl
    private let lossWasTold = Atomic(false)

    package init(control: ServiceControl, engine: any EngineSource) {
        self.engine = engine
        self.control = control
    }

    /// All calls.
    static let calls: [any ClientCall.Type] = [
        OpeningCall.self, ExtensionsCall.self, StatusCall.self, ItemCountsCall.self, StoredItemCountCall.self,
        AccountCall.self,
        DisplayNamesCall.self,
        PendingReindexesCall.self,
        SearchCall.self, SimilarCall.self, SuggestCall.self, DiagnoseCall.self, ExpiredItemCall.self, ItemsCall.self,
        CountCall.self,
        ExplainCall.self,
        LookUpCall.self, LaunchTargetCall.self,
        SearchTargetCall.self, OfferActivityCall.self, HoldActivityCall.self, AwaitActivityCall.self,
        DropActivityCall.self, PreviewCall.self, FulfilCall.self, PrewarmCall.self, ReindexCall.self,
        CompareCall.self,
        CommitCall.self,
        ClientStateCall.self, PendingCall.self,
        SettleCall.self, RejectionsCall.self, FactsCall.self, StopCall.self, ExtensionListingCall.self,
        ExtensionDetailsCall.self, ExtensionPlacesCall.self, SetEnabledCall.self, ReleaseCall.self, ForgetCall.self,
        RemoveCall.self, VerifyReceiptCall.self, UnfinishedRemovalsCall.self,
        ReindexItemsCall.self, UpdateCall.self, ScheduleCall.self, RunJobCall.self, CancelJobCall.self,
        ThrottleCall.self,
        InhibitCall.self, VerifyCall.self, RepairCall.self,
        EngageCall.self, HistoryCall.self, ClearHistoryCall.self, SetLearningCall.self,
        DesktopVisibilityCall.self, SetDesktopVisibilityCall.self,
        SemanticStatusCall.self, SemanticModelChangedCall.self, EmbedCall.self,
        UnlockCall.self, LockCall.self, ProtectionStatusCall.self, PrepareSecretsCall.self, ChangeKeysCall.self,
        RotateKeysCall.self,
    ]

    private static let byName = Dictionary(calls.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// Returns the type of a call by name.
    ///
    /// - Throws: ``BusErrorName/unknownMethod`` for an unknown name.
    static func kind(_ name: String) throws(BusError) -> any ClientCall.Type {
        guard let kind = byName[name] else {
            throw .remote(
                name: BusErrorName.unknownMethod,
                message: """
                    The service does not support \(name.prefix(80).debugDescription). Install the command and the service from the \
                    same release, and restart the service.
                    """)
        }
        return kind
    }

    /// Performs a call.
    ///
    /// - Returns: The encoded ``CallOutcome``.
    func perform<Call: ClientCall>(
        _ call: Call, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async -> BusValue {
        let outcome: CallOutcome<Call.Answer>
        do throws(EngineError) {
            let context = CallContext(
                engine: engine, service: control, toldOnce: { self.toldOnce($0) }, onEvent: onEvent)
            outcome = .answer(try await call.perform(context))
        } catch {
            outcome = .failure(error.withoutRecords)
        }
        return Self.encoded(outcome, call)
    }

    private func toldOnce(_ opening: StoreOpeningReport) -> StoreOpeningReport {
        guard opening.recovery.lostDonations || opening.recovery.hasRepaired,
            lossWasTold.exchange(true, ordering: .relaxed)
        else { return opening }
        var opening = opening
        opening.recovery = RecoveryReport()
        return opening
    }

    /// Encodes an outcome. An answer above the size limit is halved until it fits; if it cannot be
    /// split, the result is an error.
    private static func encoded<Call: ClientCall>(_ outcome: CallOutcome<Call.Answer>, _ call: Call) -> BusValue {
        var outcome = outcome
        while true {
            let problem: ServiceProblem
            do throws(BusCodingError) {
                let value = try BusEncoder.encode(outcome)
                if value.approximateBytes <= maximumAnswerBytes { return value }
                problem = .answerTooLarge(during: call.purpose, limit: maximumAnswerBytes)
            } catch {
                problem =
                    error.isSize
                    ? .answerTooLarge(during: call.purpose, limit: maximumAnswerBytes)
                    : .malformedAnswer(during: call.purpose, reason: error.description)
            }
            if case .answerTooLarge = problem, case .answer(let answer) = outcome, let half = Call.half(of: answer) {
                outcome = .answer(half)
                continue
            }
            return (try? BusEncoder.encode(CallOutcome<Call.Answer>.failure(.service(problem)))) ?? .dictionary([:])
        }
    }
}

extension EngineError {
    /// The error without the candidates' records, which may be large and are not part of the
    /// message.
    var withoutRecords: EngineError {
        guard case .ambiguousItem(let name, var candidates) = self else { return self }
        for index in candidates.indices {
            candidates[index].record = ItemRecord(uniqueIdentifier: candidates[index].record.uniqueIdentifier)
        }
        return .ambiguousItem(name, candidates: candidates)
    }
}
