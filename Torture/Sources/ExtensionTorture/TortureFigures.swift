// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Promises
import SearchlightEngine
import Synchronization
import TortureSupport

/// The outcomes of all requests.
final class TortureFigures: Sendable {
    private let outcomes = Mutex<[String: Int]>([:])
    private let complaints = Mutex<[String]>([])
    let killed = Counter()
    let checked = Counter()
    private let started = Counter()

    var hasFailed: Bool { complaints.withLock { !$0.isEmpty } }

    /// Records a violation.
    func complain(_ text: String) {
        print("FAILED: \(text)")
        complaints.withLock { $0.append(text) }
    }

    func note(_ event: ExtensionEvent) { if case .started = event { started.add() } }

    /// Records the result of a request. A good extension may fail only if it was killed or the
    /// request was cancelled. The extension's ledger detects all other faults.
    func note(_ result: Result<Void, any Error>, isGood: Bool, _ wasCancelled: Bool) {
        switch result {
        case .success: count(isGood ? "good answers" : "answers")
        case .failure where wasCancelled: count("cancelled")
        case .failure(let error as EngineError):
            let name = Self.name(of: error)
            count(name)
            if isGood, !Self.namesOfKills.contains(name) { complain("a good extension: \(error)") }
        case .failure(let error as PromiseError):
            count("undelivered")
            if isGood, killed.value == 0 { complain("a good extension: \(error)") }
        case .failure(let error): complain("\(error)")
        }
    }

    private func count(_ name: String) { outcomes.withLock { $0[name, default: 0] += 1 } }

    private static let namesOfKills: Set = ["crashed", "cancelled", "in use", "undelivered"]

    private static func name(of error: EngineError) -> String {
        switch error {
        case .extension(.crashed): "crashed"
        case .extension(.timedOut): "timed out"
        case .extension(.cannotLoad): "not loaded"
        case .extension(.memoryExceeded): "took too much memory"
        case .extension(.quarantined), .extension(.backingOff): "left alone"
        case .extension(.failed): "failed"
        case .extension(.malformedAnswer): "made no sense"
        case .extension(.cancelled), .query, .service: "cancelled"
        case .extension: "refused"
        case .promise: "undelivered"
        case .alreadyReindexing: "in use"
        default: "other errors"
        }
    }

    func summary(rounds: Int, facts: ProcessFacts) -> String {
        let counts = outcomes.withLock { $0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        let failures = complaints.withLock { $0.count }
        return """
            Extensions: \(rounds) rounds; \(counts.joined(separator: ", ")); \(killed.value) workers killed; \
            \(checked.value) items checked; left at the end: \(facts); \
            \(failures == 0 ? "all held" : "\(failures) FAILURES")
            """
    }
}
