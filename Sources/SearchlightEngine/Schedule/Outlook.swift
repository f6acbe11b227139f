// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import Synchronization
import SystemSupport

/// What is known of the work to come, as far as it is in no file: it is found anew when a store is opened.
struct Outlook: Sendable {
    /// When to look ahead again, in seconds since 2001-01-01 UTC; `nil` if there is nothing to look for.
    var next: Double?
    /// The maintenance that is due, with since when.
    var due: [MaintenanceTask: Double] = [:]
    /// The bundles of which more is to be asked for once they owe less.
    var waiting: Set<String> = []
    /// The bundles that are reindexed by ``SearchlightEngine/run(_:origin:checkpoint:)``.
    var running: Set<String> = []
    /// What is done for those of them that nobody waits for.
    var inBackground: [String: Task<Result<Int?, EngineError>, Never>] = [:]
    /// How many runs are under way, and how many of them nobody waits for.
    var runs = (all: 0, inBackground: 0)
    /// The extensions that have no interface for changes of files, as they were found (``ExtensionBundle/fingerprint(workerPath:)``).
    var withoutFileChanges: [String: String] = [:]
    /// When extensions were last asked for everything, in seconds since 2001-01-01 UTC.
    var reindexedForFiles: [String: Double] = [:]
    /// What was run and failed without leaving a trace elsewhere, as when nothing can be written.
    private var postponed: [ScheduledJob.Key: (failures: Int, until: Double)] = [:]

    init(next: Double?) { self.next = next }

    /// Looks ahead at a moment at the latest.
    ///
    /// - Returns: Whether that is sooner than before.
    mutating func look(at moment: Double) -> Bool {
        guard moment < next ?? .infinity else { return false }
        next = moment
        return true
    }

    func postponement(of key: ScheduledJob.Key) -> Double? { postponed[key]?.until }

    mutating func postpone(_ key: ScheduledJob.Key, now: Double) {
        let failures = min((postponed[key]?.failures ?? 0) + 1, 1000)
        postponed[key] = (failures, now + Backoff.delay(afterFailures: failures))
    }

    /// Whether what is done now gives way: nobody waits for any of it.
    var isGentle: Bool { runs.all > 0 && runs.all == runs.inBackground }

    mutating func noteSuccess(of key: ScheduledJob.Key) { postponed[key] = nil }
}

/// An outlook that is used by many. May be used from any thread.
final class OutlookBox: Sendable {
    private let outlook: Mutex<Outlook>

    init(_ outlook: Outlook) { self.outlook = Mutex(outlook) }

    func withLock<Value: Sendable>(_ body: (inout Outlook) -> Value) -> Value { outlook.withLock { body(&$0) } }
}
