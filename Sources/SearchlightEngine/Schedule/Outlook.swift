// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import Synchronization
import SystemSupport

/// The upcoming work that is not recorded in a file. It is determined again when a store is opened.
struct Outlook: Sendable {
    /// The time of the next look-ahead, in seconds since 2001-01-01 UTC; `nil` if none is needed.
    var next: Double?
    /// The due maintenance tasks, with the times from which they are due.
    var due: [MaintenanceTask: Double] = [:]
    /// The bundles from which further items are requested once their pending work shrinks.
    var waiting: Set<String> = []
    /// The bundles with encrypted items that expire soon.
    var expiringEncrypted: [String: (since: Double, deadline: Double?)] = [:]
    /// The bundles of which all known items are encrypted and locked.
    var whollyLocked: Set<String> = []
    /// The bundles that ``SearchlightEngine/run(_:origin:checkpoint:isPaused:)`` is reindexing.
    var running: Set<String> = []
    /// The tasks of the reindexes in ``running`` that run in the background.
    var inBackground: [String: Task<Result<Int?, EngineError>, Never>] = [:]
    /// The number of current runs, and the number of background runs among them.
    var runs = (all: 0, inBackground: 0)
    /// The fingerprints of extensions without an interface for file changes
    /// (``ExtensionBundle/fingerprint(workerPath:)``).
    var withoutFileChanges: [String: String] = [:]
    /// The times of the last reindexes of everything, in seconds since 2001-01-01 UTC.
    var reindexedForFiles: [String: Double] = [:]
    /// The back-offs of jobs whose failures are recorded nowhere else, for example because no file
    /// can be written.
    private var postponed: [ScheduledJob.Key: (failures: Int, until: Double)] = [:]

    init(next: Double?) { self.next = next }

    /// Moves the next look-ahead forward to a moment, if that moment is earlier.
    ///
    /// - Returns: `true` if the moment is earlier.
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

    /// `true` if all current runs are in the background, so that indexing yields to other work.
    var isGentle: Bool { runs.all > 0 && runs.all == runs.inBackground }

    mutating func noteSuccess(of key: ScheduledJob.Key) { postponed[key] = nil }
}

/// A lock around an outlook. May be used from any thread.
final class OutlookBox: Sendable {
    private let outlook: Mutex<Outlook>

    init(_ outlook: Outlook) { self.outlook = Mutex(outlook) }

    func withLock<Value: Sendable>(_ body: (inout Outlook) -> Value) -> Value { outlook.withLock { body(&$0) } }
}
