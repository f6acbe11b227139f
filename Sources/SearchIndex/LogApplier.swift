// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Dispatch
import GRDB
import Glibc
import Synchronization

/// Applies the entries of the write-ahead log to the database, in order and in bulk transactions,
/// on its own serial queue.
///
/// Entries are collected because one transaction per entry would cost more than all other work. A
/// transaction starts when enough entries are pending, when a caller waits for an entry, or after
/// ``delay``.
///
/// An entry counts as applied once the transaction that writes its changes and its number is
/// durable. After a failure, the next entry or the next waiting caller triggers another attempt.
final class LogApplier: Sendable {
    let pool: any DatabaseWriter
    let log: WriteAheadLog
    let folder: StoreFolder
    var path: String { folder.path }
    let clock: StoreClock
    /// Throttles bulk transactions while no caller waits.
    let pace = CooperativeThrottle()
    let fullTextCache = FullTextCache()
    private let queue = DispatchQueue(label: "com.searchlight.applier", qos: .utility)

    /// The largest number of entries in one transaction. A larger bulk would not be searchable
    /// within a second; a smaller bulk would increase the cost per entry.
    static let maximumBulkEntries = 8192
    static let maximumBulkBytes = 4 << 20
    /// The largest number of bytes in one transaction while an app waits for its own donations.
    static let maximumSharedBytes = 1 << 20
    /// The largest total, in bytes, of small bundles whose awaited entries share one transaction.
    static let maximumTogetherBytes = 256 << 10
    /// The largest number of repair reports kept; older reports are dropped.
    static let maximumKept = 1000
    /// The delay before the first pending entry is applied, in seconds. An entry must be searchable
    /// within a second.
    private static let delay = 0.5

    struct State {
        var applied: UInt64
        /// The last logged entry.
        var target: UInt64
        var isRunning = false
        /// `true` while a delayed run is scheduled.
        var isScheduled = false
        /// The number of entries logged since the last run.
        var newEntries = 0
        var newBytes = 0
        /// `true` if the full-text tables may need maintenance.
        var needsTidying = true
        /// The bytes applied since the last merge step.
        var unmergedBytes = 0
        var isClosing = false
        /// The entries that are not applied yet, except entries found in the log when it was
        /// opened.
        var pending = PendingEntries()
        /// The entries after ``applied`` that are already applied; see ``LogApplier/applyOwn()``.
        var early = EarlyEntries()
        /// Decides which waiting bundle is served next: `true` for the bundle with the fewest
        /// bytes, `false` for the bundle served least recently.
        var servesSmallest = false
        /// The number of items deleted or replaced since the last ``TermDictionary/purge(_:)``.
        var deletedItems = 0
        /// The number of items deleted or replaced since the last purge of the spelling vocabulary
        /// (``SpellingWords``).
        var misspelledItems = 0
        /// `true` if the vocabulary is purged even after few deletions.
        var forgetsSpelling = false
        /// The last vocabulary block purged so far; `nil` if no purge is in progress
        /// (``SpellingWords``).
        var purgedSpelling: Int64?
        var waiters: [Waiter] = []
        /// The bundle whose low-priority entries are deferred; see ``LogApplier/hold(_:)``.
        var deferredBundle: String?
        /// The last entry that is not deferred.
        var flushThrough: UInt64 = 0
        var leftOut = LeftOutItems()
        /// Descriptions of the repairs.
        var repairs: [String] = []
        /// The error of a repair that was refused. The examination reads the whole database, so it
        /// is not repeated until the store is opened again.
        var refusedRepair: SearchIndexError?

        /// `true` if an entry should be applied now.
        var isDue: Bool { isDue(after: applied) }

        /// Returns `true` if more entries should be applied after the entry `applied`.
        func isDue(after applied: UInt64) -> Bool {
            guard applied < target else { return false }
            guard let deferredBundle else { return true }
            return applied < flushThrough
                || waiters.contains { $0.sequence > applied && $0.patience != .hold(deferredBundle) }
        }

        /// Returns the last entry of a bundle that is not applied; 0 if all of its entries are
        /// applied.
        ///
        /// - Parameter includingHeld: `true` to include deferred entries.
        func last(of bundle: String, includingHeld: Bool) -> UInt64 {
            pending.last(of: bundle, isHeld: deferredBundle == bundle && !includingHeld)
        }

        /// `true` if an app waits for its own donations.
        var hasOwnWaiters: Bool { waiters.contains { $0.bundle != nil && !isDone($0) } }

        /// Returns `true` if the current bulk continues after an entry.
        func goesOn(after sequence: UInt64, applied bytes: Int) -> Bool {
            // An abandoned index applies nothing more.
            !isClosing && isDue(after: sequence) && !(bytes >= LogApplier.maximumSharedBytes && hasOwnWaiters)
        }

        /// Returns `true` if all entries that a waiter waits for are applied.
        func isDone(_ waiter: Waiter) -> Bool {
            guard waiter.sequence > applied else { return true }
            guard let bundle = waiter.bundle else { return false }
            return pending.first(of: bundle).map { $0 > waiter.sequence } ?? true
        }

        /// Removes and returns the waiters that are done.
        mutating func takeDone() -> [Waiter] {
            let all = waiters
            waiters = all.filter { !isDone($0) }
            return all.filter { isDone($0) }
        }
    }
    struct Waiter {
        /// The last entry to wait for.
        let sequence: UInt64
        /// The bundle whose entries the waiter waits for; `nil` for all bundles.
        var bundle: String?
        var patience = Patience.none
        let continuation: CheckedContinuation<Result<Bool, SearchIndexError>, Never>
    }
    /// The conditions under which a wait ends early.
    enum Patience: Equatable {
        case none
        /// A low-priority donation of a bundle that waits for room. The wait ends when the bundle
        /// is deferred: the donation was already in progress, and room could only be made by
        /// applying the deferred entries.
        case donor(String)
        /// A wait that does not force deferred entries of the bundle to be applied; it lasts while
        /// the bundle is deferred.
        case hold(String)
        /// A read with a time limit, identified by a number.
        case moment(UInt64)
        /// A donor that waits for room before it logs anything, identified by a number.
        case room(UInt64)
    }
    let state: Mutex<State>
    /// The processor time spent on applying and maintenance, in nanoseconds.
    private let processorTime = Atomic<UInt64>(0)
    private let maximumPendingBytes: Int
    let maximumEarlyEntries: Int
    private let readLimits: StoreHooks.ReadLimits
    /// See ``StoreHooks/relatesWithinIndexes``.
    let relatesWithinIndexes: Bool
    private let readNumber = Atomic<UInt64>(0)

    /// Decides whether damage is repaired at the cost of items.
    let lossRule: LossRule

    init(
        pool: any DatabaseWriter, log: WriteAheadLog, applied: UInt64, early: EarlyEntries, folder: StoreFolder,
        clock: StoreClock, lossRule: LossRule, seams: StoreHooks
    ) {
        self.lossRule = lossRule
        maximumEarlyEntries = seams.maximumEarlyEntries
        maximumPendingBytes = seams.maximumPendingBytes
        readLimits = seams.readLimits
        relatesWithinIndexes = seams.relatesWithinIndexes
        self.pool = pool
        self.log = log
        self.folder = folder
        self.clock = clock
        var state = State(applied: applied, target: log.lastSequence)
        state.early = early
        self.state = Mutex(state)
    }

    /// Applies the entries that are in the log when it is opened. Blocks.
    func applyBacklog() throws(SearchIndexError) {
        if let error = drain() { throw error }
    }

    /// Resumes merges that an earlier process left unfinished, since each word lookup reads every
    /// segment. Starts after ``delay``, so that a process that opens the store briefly is not
    /// slowed down.
    func tidySoon() {
        queue.asyncAfter(deadline: .now() + Self.delay) { [weak self] in
            guard let self else { return }
            perform(state.withLock { $0.isRunning || $0.isClosing ? .rest : Self.next(&$0) })
        }
    }

    /// Defers the low-priority entries of one bundle until the next call; `nil` defers nothing.
    /// Applying entries takes far more processor time than logging them, and must not disturb the
    /// user.
    ///
    /// Deferred entries are applied nevertheless if a caller waits for them or for a later entry.
    func hold(_ bundle: String?) {
        let (donors, step) = state.withLock { state -> ([Waiter], Next) in
            state.deferredBundle = bundle
            // Entries of other bundles are not deferred, nor are any entries before them.
            state.flushThrough = state.pending.lastHighPriority(holding: bundle)
            let donors = bundle.map { Self.take(.donor($0), &state) } ?? []
            return (donors, state.isRunning ? .rest : Self.next(&state))
        }
        for donor in donors { donor.continuation.resume(returning: .success(false)) }
        perform(step)
    }

    /// Schedules a purge of the words of items that were deleted directly in the database. The
    /// usual threshold does not apply, because expiry and reindexes rarely delete many items.
    func noteDeleted(_ count: Int) {
        guard count > 0 else { return }
        perform(
            state.withLock { state in
                state.deletedItems += count
                state.misspelledItems += count
                (state.forgetsSpelling, state.needsTidying) = (true, true)
                return state.isRunning ? .rest : Self.next(&state)
            })
    }

    private static func take(_ patience: Patience, _ state: inout State) -> [Waiter] {
        let taken = state.waiters.filter { $0.patience == patience }
        state.waiters.removeAll { $0.patience == patience }
        return taken
    }

    /// Logs an entry and schedules its application. Returns once the entry is durable.
    ///
    /// - Parameters:
    ///   - isLowPriority: `true` if the entry may be deferred; see ``hold(_:)``.
    ///   - waitsForRoom: `true` to wait for room; `false` after ``waitForRoom(for:)``.
    func append(
        _ entry: LogEntry, isLowPriority: Bool = false, waitsForRoom: Bool = true,
        if precondition: @escaping WriteAheadLog.Precondition
    ) async throws(SearchIndexError) {
        let bundle = entry.scope.bundle
        let bytes = entry.batch.approximateBytes
        // A donor that is faster than this applier waits; otherwise the log would grow without
        // bound. A donor with few pending bytes does not wait, since the backlog may come from
        // others. A deferred bundle does not wait: only donations already in progress still arrive.
        _ = try await waiting(isLowPriority ? .donor(bundle) : .none) { state in
            let isHeld = isLowPriority && state.deferredBundle == bundle
            return waitsForRoom && isFull(state, for: bundle, bytes) && !isHeld ? state.target : 0
        }.get()
        var entry = entry
        entry.moment = entry.moment ?? clock.moment()
        let items = entry.batch.itemCount
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<UInt64, LogError>, Never>) in
            // Runs on the log's queue, so that entries become pending in number order.
            log.submit(entry, if: precondition) { [self, bundle] result in
                if case .success(let sequence) = result {
                    note(
                        .init(sequence: sequence, items: items, bytes: bytes, isLowPriority: isLowPriority), of: bundle)
                }
                continuation.resume(returning: result)
            }
        }
        do throws(LogError) {
            _ = try result.get()
        } catch {
            throw SearchIndexError(error, path: path, operation: "Storing items")
        }
    }

    /// Notes that an entry is durable and schedules its application. Entries arrive in number
    /// order.
    private func note(_ entry: PendingEntries.Entry, of bundle: String) {
        let step = state.withLock { state -> Next in
            state.target = max(state.target, entry.sequence)
            if entry.sequence > state.applied { state.pending.append(entry, of: bundle) }
            if !entry.isLowPriority || bundle != state.deferredBundle {
                state.flushThrough = max(state.flushThrough, entry.sequence)
            }
            state.newEntries += 1
            state.newBytes += entry.bytes
            return state.isRunning ? .rest : Self.next(&state)
        }
        perform(step)
    }

    /// Returns `true` if a bundle may donate `bytes` bytes now without waiting for room.
    func hasRoom(for bundle: String, bytes: Int) -> Bool { state.withLock { !isFull($0, for: bundle, bytes) } }

    /// Waits, if a bundle lacks room, until all currently pending entries are applied or the task
    /// is cancelled.
    func waitForRoom(for bundle: String, bytes: Int) async throws(SearchIndexError) {
        let patience = Patience.room(readNumber.add(1, ordering: .relaxed).newValue)
        let result = await withTaskCancellationHandler {
            await waiting(patience) { isFull($0, for: bundle, bytes) ? $0.target : 0 }
        } onCancel: {
            for waiter in state.withLock({ Self.take(patience, &$0) }) {
                waiter.continuation.resume(returning: .success(false))
            }
        }
        _ = try result.get()
    }

    /// Returns `true` if a donor has to wait for room. Above the limit, each bundle has a share of
    /// the pending bytes, and a separate share for small donations. Large donations stop at a lower
    /// bound than small donations, so small donations never wait for a backlog of large ones.
    private func isFull(_ state: State, for bundle: String, _ bytes: Int) -> Bool {
        let (tally, share) = (state.pending.tally, maximumPendingBytes / 64)
        guard tally.total.bytes > maximumPendingBytes else { return false }
        let (isSmall, hasShare) = (bytes <= PendingTally.smallBytes, tally.amount(of: bundle).bytes <= share)
        // The gap between the two bounds is large enough for one donation of 32 MiB. A donation of
        // a million names is counted as three times its size.
        guard tally.total.bytes <= maximumPendingBytes / 4 * (isSmall ? 9 : 7) else { return true }
        return !hasShare && !(isSmall && tally.smallBytes(of: bundle) <= share)
    }

    /// The donations that are durable but not searchable yet.
    var pending: PendingDonations { state.withLock { $0.pending.tally.summary } }

    func pending(of bundle: String) -> PendingDonations { state.withLock { $0.pending.tally.summary(of: bundle) } }

    /// Returns when all previously durable entries of a bundle are applied.
    ///
    /// - Parameter includingHeld: `true` to wait for deferred entries too; see ``hold(_:)``.
    func settle(own bundle: String, includingHeld: Bool = false) async throws(SearchIndexError) {
        _ = try await waiting(for: bundle) { $0.last(of: bundle, includingHeld: includingHeld) }.get()
    }

    /// Returns when all previously durable entries that are not deferred are applied, or after a
    /// short time limit.
    func settleForAMoment() async throws(SearchIndexError) {
        let little = state.withLock { $0.pending.tally.total.bytes <= readLimits.littleBytes }
        try await settle(within: little ? readLimits.timeForLittle : readLimits.time) {
            $0.deferredBundle != nil ? $0.flushThrough : $0.target
        }
    }

    /// Returns when all previously durable entries of a bundle are applied, or after a short time
    /// limit.
    func settleForAMoment(own bundle: String) async throws(SearchIndexError) {
        try await settle(within: readLimits.timeForNamed, for: bundle) { $0.last(of: bundle, includingHeld: false) }
    }

    /// Returns when all entries through a number are applied, for all bundles or for one, or when
    /// the time limit expires.
    private func settle(
        within limit: Duration, for bundle: String? = nil, through last: (State) -> UInt64
    ) async throws(SearchIndexError) {
        let patience = Patience.moment(readNumber.add(1, ordering: .relaxed).newValue)
        let timer = DispatchWorkItem { [weak self] in
            guard let self else { return }
            for waiter in state.withLock({ Self.take(patience, &$0) }) {
                waiter.continuation.resume(returning: .success(false))
            }
        }
        let isWaiting = state.withLock { $0.applied < last($0) }
        guard isWaiting else { return }
        // With a time limit of zero, the entries are still applied soon.
        guard limit > .zero else { return }
        let pause = DispatchTimeInterval.microseconds(Int(limit / .microseconds(1)))
        let result = await waiting(patience, for: bundle, through: last) {
            DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + pause, execute: timer)
        }
        timer.cancel()
        _ = try result.get()
    }

    /// Returns when all previously durable entries are applied.
    ///
    /// - Parameter isReading: `true` if the caller only reads the index. The call then does not
    ///   wait for deferred entries; see ``hold(_:)``.
    func settle(isReading: Bool = false) async throws(SearchIndexError) {
        _ = try await waiting { $0.deferredBundle != nil && isReading ? $0.flushThrough : $0.target }.get()
    }

    /// Returns when all previously durable entries are applied. Does not apply deferred entries
    /// early: waits while the bundle is deferred, or until the task is cancelled.
    ///
    /// - Returns: `true` if all these entries are applied.
    func settle(patientlyFor bundle: String) async throws(SearchIndexError) -> Bool {
        let isApplied = await withTaskCancellationHandler {
            await waiting(.hold(bundle)) { $0.target }
        } onCancel: {
            let waiters = state.withLock { Self.take(.hold(bundle), &$0) }
            for waiter in waiters { waiter.continuation.resume(returning: .success(false)) }
        }
        return try isApplied.get()
    }

    /// Returns `true` when all entries through a number are applied, or `false` when the wait ends
    /// early.
    private func waiting(
        _ patience: Patience = .none, for bundle: String? = nil, through last: (State) -> UInt64,
        onWaiting: () -> Void = {}
    ) async -> Result<Bool, SearchIndexError> {
        await withCheckedContinuation { (continuation: CheckedContinuation<Result<Bool, SearchIndexError>, Never>) in
            let (end, step) = state.withLock { state -> (Result<Bool, SearchIndexError>?, Next) in
                let last = last(state)
                guard state.applied < last else { return (.success(true), .rest) }
                guard !state.isClosing else { return (.failure(.closed), .rest) }
                // Checked under the lock that the cancellation handlers take, so that no
                // cancellation is missed.
                switch patience {
                case .hold, .room: if Task.isCancelled { return (.success(false), .rest) }
                case .none, .donor, .moment: break
                }
                state.waiters.append(
                    Waiter(sequence: last, bundle: bundle, patience: patience, continuation: continuation))
                return (nil, state.isRunning ? .rest : Self.next(&state))
            }
            if let end { continuation.resume(returning: end) } else { onWaiting() }
            perform(step)
        }
    }

    /// Applies the remaining entries and closes the log. Entries that cannot be applied remain in
    /// the log.
    func close() async throws(SearchIndexError) {
        let wasAbandoned = isClosing
        var problem: SearchIndexError?
        do throws(SearchIndexError) { try await settle() } catch { problem = error }
        // Stops even after a failure: once the store is released, another process may own it.
        stopAccepting()
        // A merge step may be in progress, and nothing may be written once the store is released.
        // Merging here also prevents small segments from accumulating when processes open the store
        // briefly.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            queue.async { [self] in
                defer { continuation.resume() }
                guard !wasAbandoned else { return }
                if state.withLock({ $0.unmergedBytes > 0 }) { merge(pages: FullTextMerging.minimumStep) }
                for _ in 0..<Self.closingSteps { guard giveBackUnused() else { break } }
                try? forgetApplied()
                // Records the clocks, so that the next opening only has to account for the time
                // from now on.
                _ = try? pool.write { try clock.adjust($0) }
            }
        }
        do throws(LogError) {
            try await log.close()
        } catch {
            throw problem ?? SearchIndexError(error, path: path, operation: "Closing the write-ahead log")
        }
        if let problem { throw problem }
    }

    /// Rejects new entries immediately; the remaining entries are applied when the store is opened
    /// again. Blocks.
    ///
    /// - Parameter interrupts: `true` to interrupt the entries that are being applied; `false` to
    ///   wait for them.
    func abandon(interrupts: Bool = false) {
        stopAccepting()
        if interrupts { pool.interrupting { queue.sync {} } } else { queue.sync {} }
        log.abandon()
    }

    /// The largest number of steps that return free pages on closing, about 0.1 s.
    private static let closingSteps = 16

    /// Fails all remaining waits with ``SearchIndexError/closed``.
    private func stopAccepting() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            state.isClosing = true
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: .failure(.closed)) }
    }

    /// Runs a closure after the current work; for tests.
    func onQueue(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// `true` while entries are applied, segments are merged or maintenance runs.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Descriptions of the damage repaired since the store was opened.
    var repairs: [String] { state.withLock { $0.repairs } }

    /// Removes the log files whose entries are all applied, including damaged files. Blocks.
    func forgetApplied() throws(LogError) { try log.discardNow(through: state.withLock { $0.applied }) }

    /// The items that were durable but could not be indexed, since the store was opened.
    var leftOut: LeftOutItems { state.withLock { $0.leftOut } }

    private enum Next { case drain, tidy, later, rest }

    /// Selects the next step while none is running, and sets `isRunning` if the step starts work.
    private static func next(_ state: inout State) -> Next {
        let isPending = state.isDue
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
        state.isRunning = state.needsTidying && !state.isClosing && state.deferredBundle == nil
        return state.isRunning ? .tidy : .rest
    }

    private func perform(_ step: Next) {
        switch step {
        case .drain: queue.async { [self] in run() }
        case .tidy:
            queue.async { [self] in
                measured { if !isClosing { tidy() } }
                perform(state.withLock { Self.next(&$0) })
            }
        case .later:
            queue.asyncAfter(deadline: .now() + Self.delay) { [self] in
                let mustRun = state.withLock { state in
                    state.isScheduled = false
                    guard !state.isRunning, !state.isClosing, state.isDue else { return false }
                    state.isRunning = true
                    return true
                }
                if mustRun { run() }
            }
        case .rest: break
        }
    }

    private func run() {
        let problem = measured { isClosing ? .closed : drain() }
        let (waiters, step) = state.withLock { state -> ([Waiter], Next) in
            guard problem != nil else { return ([], Self.next(&state)) }
            // The next entry or the next waiter triggers another attempt.
            state.isRunning = false
            defer { state.waiters = [] }
            return (state.waiters, .rest)
        }
        if let problem { for waiter in waiters { waiter.continuation.resume(returning: .failure(problem)) } }
        perform(step)
    }

    /// The processor time spent on applying and maintenance since the store was opened, in seconds.
    var writingTime: Double { Double(processorTime.load(ordering: .relaxed)) / 1e9 }

    /// Adds the processor time of a step on the queue to ``writingTime``.
    private func measured<Result>(_ step: () -> Result) -> Result {
        let start = Self.threadTime
        defer { processorTime.add(Self.threadTime - start, ordering: .relaxed) }
        return step()
    }

    /// The processor time of this thread, in nanoseconds.
    private static var threadTime: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
