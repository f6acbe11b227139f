// SPDX-License-Identifier: Apache-2.0
import Dispatch
import GRDB
import Synchronization

/// Carries what was journaled over into the database, in order and in bulk, on a queue of its own.
///
/// Entries wait for others, since a transaction for each would cost more than all the rest: until there are enough for a
/// transaction, somebody waits for them, or ``delay`` has passed.
///
/// An entry counts as applied once the transaction that holds it, and its number, is durable. After a failure the next
/// entry, or the next who waits, has it tried again.
final class JournalApplier: Sendable {
    private let pool: DatabasePool
    private let journal: Journal
    private let folder: StoreFolder
    private var path: String { folder.path }
    private let now: @Sendable () -> Double
    private let queue = DispatchQueue(label: "com.searchlight.applier", qos: .utility)

    /// How much is applied in one transaction: enough to make its cost small, little enough to be found within a second.
    private static let maximumBulkEntries = 512
    private static let maximumBulkBytes = 4 << 20
    /// How long the first entry waits for others, in seconds. It is to be found within a second.
    private static let delay = 0.25
    /// Each text is merged about three times on its way into the largest segment, and takes half of a record's bytes.
    private static let bytesPerMergedPage = 2048

    private struct State {
        var applied: UInt64
        /// The last entry that was journaled.
        var target: UInt64
        var isRunning = false
        /// Whether it will run when the delay is over.
        var isScheduled = false
        /// What came since it ran last.
        var newEntries = 0
        var newBytes = 0
        /// Whether there may be segments of the full-text tables to merge.
        var needsMerging = true
        /// What was applied since the last step of a merge.
        var unmergedBytes = 0
        var isClosing = false
        /// When entries were donated; of those found at the opening it is not known.
        var donated: [UInt64: Double] = [:]
        var waiters: [Waiter] = []
        var rejected: [SearchIndexError] = []
        /// What was mended.
        var repairs: [String] = []
    }
    private struct Waiter {
        let sequence: UInt64
        let continuation: CheckedContinuation<SearchIndexError?, Never>
    }
    private let state: Mutex<State>

    init(
        pool: DatabasePool, journal: Journal, applied: UInt64, folder: StoreFolder,
        now: @escaping @Sendable () -> Double
    ) {
        self.pool = pool
        self.journal = journal
        self.folder = folder
        self.now = now
        state = Mutex(State(applied: applied, target: journal.lastSequence))
    }

    /// Applies what the journal holds at the opening. Blocks.
    func applyBacklog() throws(SearchIndexError) {
        if let error = drain() { throw error }
    }

    /// Journals an entry, and has it applied soon. Returns once it is durable.
    func append(
        _ entry: JournalEntry, donated: Double, if precondition: @escaping Journal.Precondition
    ) async throws(SearchIndexError) {
        let sequence: UInt64
        do throws(JournalError) {
            sequence = try await journal.append(entry, if: precondition)
        } catch {
            throw SearchIndexError(error, path: path, operation: "Storing items")
        }
        let bytes = entry.approximateBytes
        let step = state.withLock { state -> Next in
            state.target = max(state.target, sequence)
            if sequence > state.applied { state.donated[sequence] = donated }
            state.newEntries += 1
            state.newBytes += bytes
            return state.isRunning ? .rest : Self.next(&state)
        }
        perform(step)
    }

    /// Returns when everything is applied that was durable before.
    func settle() async throws(SearchIndexError) {
        let problem = await withCheckedContinuation {
            (continuation: CheckedContinuation<SearchIndexError?, Never>) in
            let (isDone, step) = state.withLock { state -> (Bool, Next) in
                guard state.applied < state.target else { return (true, .rest) }
                state.waiters.append(Waiter(sequence: state.target, continuation: continuation))
                return (false, state.isRunning ? .rest : Self.next(&state))
            }
            if isDone { continuation.resume(returning: nil) }
            perform(step)
        }
        if let problem { throw problem }
    }

    /// Applies the rest and closes the journal.
    func close() async throws(SearchIndexError) {
        try await settle()
        state.withLock { $0.isClosing = true }
        // A step of a merge may be under way; nothing may be written once the store is given back.
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        do throws(JournalError) {
            try await journal.close()
        } catch {
            throw SearchIndexError(error, path: path, operation: "Closing the journal")
        }
    }

    /// Accepts nothing more, at once; what is left is applied when the store is opened the next time. Blocks.
    func abandon() {
        state.withLock { $0.isClosing = true }
        queue.sync {}
        journal.abandon()
    }

    /// What was found damaged and mended, since the opening.
    var repairs: [String] { state.withLock { $0.repairs } }

    /// Removes the files of the journal that hold nothing more to be applied, damaged ones too. Blocks.
    func forgetApplied() throws(JournalError) { try journal.discardNow(through: state.withLock { $0.applied }) }

    /// Items that were durable and could not be indexed, since the opening.
    var rejected: [SearchIndexError] { state.withLock { $0.rejected } }

    private enum Next { case drain, merge, later, rest }

    /// What to do now, when nothing is being done. `isRunning` says afterwards whether something is.
    private static func next(_ state: inout State) -> Next {
        let isPending = state.applied < state.target
        let isFull = state.newEntries >= maximumBulkEntries || state.newBytes >= maximumBulkBytes
        if isPending, isFull || !state.waiters.isEmpty {
            state.isRunning = true
            return .drain
        }
        if isPending {
            state.isRunning = false
            defer { state.isScheduled = true }
            return state.isScheduled ? .rest : .later
        }
        state.isRunning = state.needsMerging && !state.isClosing
        return state.isRunning ? .merge : .rest
    }

    private func perform(_ step: Next) {
        switch step {
        case .drain: queue.async { [self] in run() }
        case .merge:
            queue.async { [self] in
                merge(pages: FullTextMerging.maximumStep)
                perform(state.withLock { Self.next(&$0) })
            }
        case .later:
            queue.asyncAfter(deadline: .now() + Self.delay) { [self] in
                let mustRun = state.withLock { state in
                    state.isScheduled = false
                    guard !state.isRunning, !state.isClosing, state.applied < state.target else { return false }
                    state.isRunning = true
                    return true
                }
                if mustRun { run() }
            }
        case .rest: break
        }
    }

    private func run() {
        let problem = drain()
        let (waiters, step) = state.withLock { state -> ([Waiter], Next) in
            guard problem != nil else { return ([], Self.next(&state)) }
            // The next entry, or the next who waits, has it tried again.
            state.isRunning = false
            defer { state.waiters = [] }
            return (state.waiters, .rest)
        }
        for waiter in waiters { waiter.continuation.resume(returning: problem) }
        perform(step)
    }

    /// Merges a little. What goes wrong is no reason to stop: nothing is lost by it, and the next write meets it again.
    private func merge(pages: Int) {
        let hasWorked = try? pool.write { db in try FullTextMerging.step(db, pages: pages) }
        state.withLock { $0.needsMerging = hasWorked ?? false }
    }

    /// Applies everything that has been journaled until now; gives back why it could not.
    private func drain() -> SearchIndexError? {
        let target = state.withLock { state in
            (state.newEntries, state.newBytes) = (0, 0)
            return state.target
        }
        while true {
            let applied = state.withLock { $0.applied }
            guard applied < target else { return nil }
            do {
                try mending { try applyBulk(after: applied) }
            } catch let error as JournalError {
                return SearchIndexError(error, path: path, operation: "Reading the journal")
            } catch {
                return SearchIndexError(error, path: path, operation: "Applying the journal")
            }
        }
    }

    /// Does something that changes the database; if that meets damage, checks all, mends what can be mended in place, and
    /// does it once more. What cannot is left for the next opening. Blocks.
    func mending<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch  where SearchIndexError(error, path: path, operation: "").isDamage {
            folder.suspect()
            let last = state.withLock { $0.target }
            let repairs = try pool.write { try DatabaseExamination($0).mend($0, through: last) }
            guard !repairs.isEmpty else { throw error }
            state.withLock { $0.repairs += repairs }
            let value = try body()
            folder.trust()
            return value
        }
    }

    private func applyBulk(after applied: UInt64) throws {
        var records: [JournalRecord] = []
        var bytes = 0
        var last = applied
        var isNewLoss = false
        for result in journal.replay(after: applied) {
            switch result {
            case .success(let record):
                records.append(record)
                last = record.sequence
                bytes += record.entry.approximateBytes
            case .failure(.damaged(let finding)):
                // What follows is still good. Damage inside of an entry is only seen here.
                guard let lost = finding.lostEntries(after: applied) else { break }
                last = max(last, lost.upperBound)
                if !journal.findings.contains(finding) { isNewLoss = true }
            case .failure(let error): throw error
            }
            if records.count >= Self.maximumBulkEntries || bytes >= Self.maximumBulkBytes { break }
        }
        guard last > applied else {
            throw SearchIndexError.damaged(path: path, detail: "the journal ends at entry \(applied)")
        }
        let (times, target) = state.withLock { ($0.donated, $0.target) }
        let now = now()
        let reached = last
        let hasNewLoss = isNewLoss
        let rejected = try pool.write { db in
            var rejected: [SearchIndexError] = []
            if hasNewLoss { try StoreRow.noteLoss(db, through: target) }
            let stateless = try StoreRow(db).statelessThrough
            let derived = DerivedWriter(db)
            for record in records {
                let writer = try ItemWriter(db, record.entry.scope, now: times[record.sequence] ?? now, derived)
                rejected += try writer.apply(record.entry, keepsState: record.sequence > stateless)
            }
            try derived.flush()
            try StoreRow.update(db) { $0.applied = max($0.applied, reached) }
            return rejected
        }
        let waiters = state.withLock { state in
            state.applied = reached
            state.rejected += rejected
            if hasNewLoss { state.repairs.append("Acknowledged entries of the journal could not be read.") }
            if !state.donated.isEmpty { state.donated = state.donated.filter { $0.key > reached } }
            let done = state.waiters.filter { $0.sequence <= reached }
            state.waiters.removeAll { $0.sequence <= reached }
            return done
        }
        for waiter in waiters { waiter.continuation.resume(returning: nil) }
        Task { [journal] in try? await journal.discard(through: reached) }
        // In proportion, so that the segments stay few while there is no end of entries.
        let pages = state.withLock { state -> Int in
            state.unmergedBytes += bytes
            let pages = state.unmergedBytes / Self.bytesPerMergedPage
            guard pages >= FullTextMerging.minimumStep else { return 0 }
            state.unmergedBytes = 0
            return min(pages, FullTextMerging.maximumStep)
        }
        if pages > 0 { merge(pages: pages) }
        state.withLock { $0.needsMerging = true }
    }
}

extension JournalEntry {
    /// About how much the entry holds.
    fileprivate var approximateBytes: Int {
        operations.reduce(0) { total, operation in
            if case .put(let bytes) = operation { total + bytes.count } else { total + 64 }
        }
    }
}
