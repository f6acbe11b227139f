// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Dispatch
import GRDB
import Glibc
import Synchronization

/// Carries what was logged over into the database, in order and in bulk, on a queue of its own.
///
/// Entries wait for others, since a transaction for each would cost more than all the rest: until there are enough for a
/// transaction, somebody waits for them, or ``delay`` has passed.
///
/// An entry counts as applied once the transaction that holds it, and its number, is durable. After a failure the next
/// entry, or the next who waits, has it tried again.
final class LogApplier: Sendable {
    let pool: DatabasePool
    let log: WriteAheadLog
    let folder: StoreFolder
    var path: String { folder.path }
    let clock: StoreClock
    /// How it goes about it when nobody waits.
    let pace = GentlePace()
    let fullTextCache = FullTextCache()
    private let queue = DispatchQueue(label: "com.searchlight.applier", qos: .utility)

    /// How much is applied in one transaction: enough to make its cost small, little enough to be found within a second.
    static let maximumBulkEntries = 8192
    static let maximumBulkBytes = 4 << 20
    /// How many bytes are applied in one transaction while an app waits for its own donations.
    static let maximumSharedBytes = 1 << 20
    /// Bundles that wait for no more than this are applied together, in bytes.
    static let maximumTogetherBytes = 256 << 10
    /// So many of what was mended are kept, the latest.
    static let maximumKept = 1000
    /// How long the first entry waits for others, in seconds. It is to be found within a second.
    private static let delay = 0.5

    struct State {
        var applied: UInt64
        /// The last entry that was logged.
        var target: UInt64
        var isRunning = false
        /// Whether it will run when the delay is over.
        var isScheduled = false
        /// What came since it ran last.
        var newEntries = 0
        var newBytes = 0
        /// Whether there may be something to do in the full-text tables.
        var needsTidying = true
        /// What was applied since the last step of a merge.
        var unmergedBytes = 0
        var isClosing = false
        /// Entries that are not applied, but for those found at the opening.
        var pending = PendingEntries()
        /// Entries behind ``applied`` that are applied all the same; see ``LogApplier/applyOwn()``.
        var early = EarlyEntries()
        /// Whether the bundle with the fewest bytes is next among those that wait, or the one that was not served for longest.
        var servesSmallest = false
        /// Items deleted or replaced since words of theirs were last forgotten (``TermDictionary/purge(_:)``).
        var deletedItems = 0
        /// Items deleted or replaced since words of theirs were last forgotten in the vocabulary (``SpellingWords``).
        var misspelledItems = 0
        /// Whether their words are to be forgotten however few they are.
        var forgetsSpelling = false
        /// The block of words through which those of deleted items were forgotten, while that is done (``SpellingWords``).
        var purgedSpelling: Int64?
        var waiters: [Waiter] = []
        /// Whose patient entries wait; see ``LogApplier/hold(_:)``.
        var heldBundle: String?
        /// The last entry that does not.
        var impatientThrough: UInt64 = 0
        var leftOut = LeftOutItems()
        /// What was mended.
        var repairs: [String] = []

        /// Whether anything is to be applied now.
        var isDue: Bool { isDue(after: applied) }

        /// The same once everything through an entry is applied.
        func isDue(after applied: UInt64) -> Bool {
            guard applied < target else { return false }
            guard let heldBundle else { return true }
            return applied < impatientThrough
                || waiters.contains { $0.sequence > applied && $0.patience != .hold(heldBundle) }
        }

        /// The last entry of a bundle that is not applied; 0 if there is none.
        ///
        /// - Parameter includingHeld: Whether it may be one that is held.
        func last(of bundle: String, includingHeld: Bool) -> UInt64 {
            pending.last(of: bundle, isHeld: heldBundle == bundle && !includingHeld)
        }

        /// Whether an app waits for its own donations.
        var hasOwnWaiters: Bool { waiters.contains { $0.bundle != nil && !isDone($0) } }

        /// Whether a bulk goes on after some of its entries.
        func goesOn(after sequence: UInt64, applied bytes: Int) -> Bool {
            isDue(after: sequence) && !(bytes >= LogApplier.maximumSharedBytes && hasOwnWaiters)
        }

        /// Whether what somebody waits for is applied.
        func isDone(_ waiter: Waiter) -> Bool {
            guard waiter.sequence > applied else { return true }
            guard let bundle = waiter.bundle else { return false }
            return pending.first(of: bundle).map { $0 > waiter.sequence } ?? true
        }

        /// Takes out those whose wait is over.
        mutating func takeDone() -> [Waiter] {
            let all = waiters
            waiters = all.filter { !isDone($0) }
            return all.filter { isDone($0) }
        }
    }
    struct Waiter {
        /// Everything through this entry is waited for,
        let sequence: UInt64
        /// or only what is of one bundle.
        var bundle: String?
        var patience = Patience.none
        let continuation: CheckedContinuation<Result<Bool, SearchIndexError>, Never>
    }
    /// What a waiter is ready to wait for, besides its turn.
    enum Patience: Equatable {
        case none
        /// A patient donation of a bundle that waits for room: it goes on as soon as this is held, for it was under way, and
        /// room would be made by applying all that is held.
        case donor(String)
        /// Whoever waits as long as this bundle is held.
        case hold(String)
        /// A read that waits for a moment, and its number.
        case moment(UInt64)
        /// A donor that waits for room before it logs anything, and its number.
        case room(UInt64)
    }
    let state: Mutex<State>
    /// The processor time that applying and tidying took, in nanoseconds.
    private let processorTime = Atomic<UInt64>(0)
    private let maximumPendingBytes: Int
    let maximumEarlyEntries: Int
    private let readLimits: StoreSeams.ReadLimits
    private let readNumber = Atomic<UInt64>(0)

    init(
        pool: DatabasePool, log: WriteAheadLog, applied: UInt64, early: EarlyEntries, folder: StoreFolder,
        clock: StoreClock, seams: StoreSeams
    ) {
        maximumEarlyEntries = seams.maximumEarlyEntries
        maximumPendingBytes = seams.maximumPendingBytes
        readLimits = seams.readLimits
        self.pool = pool
        self.log = log
        self.folder = folder
        self.clock = clock
        var state = State(applied: applied, target: log.lastSequence)
        state.early = early
        self.state = Mutex(state)
    }

    /// Applies what the log holds at the opening. Blocks.
    func applyBacklog() throws(SearchIndexError) {
        if let error = drain() { throw error }
    }

    /// Goes on with merges that an earlier process has left: each word is looked up in every segment. Not at once, since
    /// whoever opens a store for a moment has no time for it.
    func tidySoon() {
        queue.asyncAfter(deadline: .now() + Self.delay) { [weak self] in
            guard let self else { return }
            perform(state.withLock { $0.isRunning || $0.isClosing ? .rest : Self.next(&$0) })
        }
    }

    /// Has the patient entries of one bundle at most wait until this is called again: applying takes far more of a processor
    /// than logging, and nobody is to notice it. They are applied all the same where somebody waits for them, or for an
    /// entry after them.
    func hold(_ bundle: String?) {
        let (donors, step) = state.withLock { state -> ([Waiter], Next) in
            state.heldBundle = bundle
            // Those of others do not wait, nor does what is before them.
            state.impatientThrough = state.pending.lastImpatient(holding: bundle)
            let donors = bundle.map { Self.take(.donor($0), &state) } ?? []
            return (donors, state.isRunning ? .rest : Self.next(&state))
        }
        for donor in donors { donor.continuation.resume(returning: .success(false)) }
        perform(step)
    }

    /// Has the words of items forgotten soon that were deleted past the log: what expires, or is not donated again, seldom goes in
    /// large numbers.
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

    /// Logs an entry, and has it applied soon. Returns once it is durable.
    ///
    /// - Parameters:
    ///   - isPatient: Whether it may wait; see ``hold(_:)``.
    ///   - waitsForRoom: Whether to wait for room; `false` after ``waitForRoom(for:)``.
    func append(
        _ entry: LogEntry, isPatient: Bool = false, waitsForRoom: Bool = true,
        if precondition: @escaping WriteAheadLog.Precondition
    ) async throws(SearchIndexError) {
        let bundle = entry.scope.bundle
        let bytes = entry.batch.approximateBytes
        // Donors that are faster than this wait, or the log would grow without end; not those who have donated little,
        // since others may donate much. Of one that is held only what was under way still comes.
        _ = try await waiting(isPatient ? .donor(bundle) : .none) { state in
            let isHeld = isPatient && state.heldBundle == bundle
            return waitsForRoom && isFull(state, for: bundle, bytes) && !isHeld ? state.target : 0
        }.get()
        var entry = entry
        entry.moment = clock.moment()
        let items = entry.batch.itemCount
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<UInt64, LogError>, Never>) in
            // On the log's queue, so that entries become pending in the order of their numbers.
            log.submit(entry, if: precondition) { [self, bundle] result in
                if case .success(let sequence) = result {
                    note(.init(sequence: sequence, items: items, bytes: bytes, isPatient: isPatient), of: bundle)
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

    /// Notes that an entry is durable, and has it applied soon. Entries come in the order of their numbers.
    private func note(_ entry: PendingEntries.Entry, of bundle: String) {
        let step = state.withLock { state -> Next in
            state.target = max(state.target, entry.sequence)
            if entry.sequence > state.applied { state.pending.append(entry, of: bundle) }
            if !entry.isPatient || bundle != state.heldBundle {
                state.impatientThrough = max(state.impatientThrough, entry.sequence)
            }
            state.newEntries += 1
            state.newBytes += entry.bytes
            return state.isRunning ? .rest : Self.next(&state)
        }
        perform(step)
    }

    /// Whether a bundle may donate some bytes now without waiting for room.
    func hasRoom(for bundle: String, bytes: Int) -> Bool { state.withLock { !isFull($0, for: bundle, bytes) } }

    /// Returns when what is pending is applied, if a bundle has to wait for room, or when the task is cancelled.
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

    /// Whether a donor has to wait for room. While much is pending, each bundle has a share, and small donations have one of
    /// their own. Larger donations leave the rest to small ones, so that these never wait for what larger ones left.
    private func isFull(_ state: State, for bundle: String, _ bytes: Int) -> Bool {
        let (tally, share) = (state.pending.tally, maximumPendingBytes / 64)
        guard tally.total.bytes > maximumPendingBytes else { return false }
        let (isSmall, hasShare) = (bytes <= PendingTally.smallBytes, tally.amount(of: bundle).bytes <= share)
        // Between the two bounds fits what a donation has, 32 MiB; one of a million names counts three times as much.
        guard tally.total.bytes <= maximumPendingBytes / 4 * (isSmall ? 9 : 7) else { return true }
        return !hasShare && !(isSmall && tally.smallBytes(of: bundle) <= share)
    }

    /// What is durable and cannot be found yet.
    var pending: PendingDonations { state.withLock { $0.pending.tally.summary } }

    /// Returns when everything is applied of a bundle that was durable before.
    ///
    /// - Parameter includingHeld: Whether what is held is waited for too; see ``hold(_:)``.
    func settle(own bundle: String, includingHeld: Bool = false) async throws(SearchIndexError) {
        _ = try await waiting(for: bundle) { $0.last(of: bundle, includingHeld: includingHeld) }.get()
    }

    /// Returns when everything is applied that was durable before and is not held, or a moment has passed.
    func settleForAMoment() async throws(SearchIndexError) {
        let little = state.withLock { $0.pending.tally.total.bytes <= readLimits.littleBytes }
        try await settle(within: little ? readLimits.timeForLittle : readLimits.time) {
            $0.heldBundle != nil ? $0.impatientThrough : $0.target
        }
    }

    /// Returns when everything is applied of a bundle that was durable before, or a moment has passed.
    func settleForAMoment(own bundle: String) async throws(SearchIndexError) {
        try await settle(within: readLimits.timeForNamed, for: bundle) { $0.last(of: bundle, includingHeld: false) }
    }

    /// Returns when everything through an entry is applied, of all or of one bundle, or a time has passed.
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
        // What is due is applied soon all the same.
        guard limit > .zero else { return }
        let pause = DispatchTimeInterval.microseconds(Int(limit / .microseconds(1)))
        let result = await waiting(patience, for: bundle, through: last) {
            DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + pause, execute: timer)
        }
        timer.cancel()
        _ = try result.get()
    }

    /// Returns when everything is applied that was durable before.
    ///
    /// - Parameter isReading: Whether it is only to be read, for which nothing is waited for that waits itself; see
    ///   ``hold(_:)``.
    func settle(isReading: Bool = false) async throws(SearchIndexError) {
        _ = try await waiting { $0.heldBundle != nil && isReading ? $0.impatientThrough : $0.target }.get()
    }

    /// As ``settle(isReading:)``, but waits as long as a bundle is held, or until the task is cancelled.
    ///
    /// - Returns: Whether everything is applied.
    func settle(patientlyFor bundle: String) async throws(SearchIndexError) -> Bool {
        let isApplied = await withTaskCancellationHandler {
            await waiting(.hold(bundle)) { $0.target }
        } onCancel: {
            let waiters = state.withLock { Self.take(.hold(bundle), &$0) }
            for waiter in waiters { waiter.continuation.resume(returning: .success(false)) }
        }
        return try isApplied.get()
    }

    /// Returns when everything through an entry is applied, which is `true`, or nothing is waited for any more.
    private func waiting(
        _ patience: Patience = .none, for bundle: String? = nil, through last: (State) -> UInt64,
        onWaiting: () -> Void = {}
    ) async -> Result<Bool, SearchIndexError> {
        await withCheckedContinuation { (continuation: CheckedContinuation<Result<Bool, SearchIndexError>, Never>) in
            let (end, step) = state.withLock { state -> (Result<Bool, SearchIndexError>?, Next) in
                let last = last(state)
                guard state.applied < last else { return (.success(true), .rest) }
                guard !state.isClosing else { return (.failure(.closed), .rest) }
                // Under the lock, as what cancelling does, so that neither misses the other.
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

    /// Applies the rest and closes the log; what cannot be applied is left for the next opening.
    func close() async throws(SearchIndexError) {
        var problem: SearchIndexError?
        do throws(SearchIndexError) { try await settle() } catch { problem = error }
        // Whether it could be applied or not: once the store is given back, another may own it.
        stopAccepting()
        // A step of a merge may be under way; nothing may be written once the store is given back. And who opens a store
        // for a moment again and again would leave ever more small segments.
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                if state.withLock({ $0.unmergedBytes > 0 }) { merge(pages: FullTextMerging.minimumStep) }
                for _ in 0..<Self.closingSteps { guard giveBackUnused() else { break } }
                try? forgetApplied()
                // So that what passes until the next opening is all that its clock has to explain.
                _ = try? pool.write { try clock.adjust($0) }
                continuation.resume()
            }
        }
        do throws(LogError) {
            try await log.close()
        } catch {
            throw problem ?? SearchIndexError(error, path: path, operation: "Closing the write-ahead log")
        }
        if let problem { throw problem }
    }

    /// Accepts nothing more, at once; what is left is applied when the store is opened the next time. Blocks.
    func abandon() {
        stopAccepting()
        queue.sync {}
        log.abandon()
    }

    /// The most steps that give back free pages at the end: some 0.1 s.
    private static let closingSteps = 16

    /// Whoever waits on has waited for nothing.
    private func stopAccepting() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            state.isClosing = true
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: .failure(.closed)) }
    }

    /// Does something once what was begun has ended; for tests.
    func onQueue(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// Whether something is being applied, merged or tidied up.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// What was found damaged and mended, since the opening.
    var repairs: [String] { state.withLock { $0.repairs } }

    /// Removes the files of the log that hold nothing more to be applied, damaged ones too. Blocks.
    func forgetApplied() throws(LogError) { try log.discardNow(through: state.withLock { $0.applied }) }

    /// Items that were durable and were not indexed, since the opening.
    var leftOut: LeftOutItems { state.withLock { $0.leftOut } }

    private enum Next { case drain, tidy, later, rest }

    /// What to do now, when nothing is being done. `isRunning` says afterwards whether something is.
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
        state.isRunning = state.needsTidying && !state.isClosing && state.heldBundle == nil
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
            // The next entry, or the next who waits, has it tried again.
            state.isRunning = false
            defer { state.waiters = [] }
            return (state.waiters, .rest)
        }
        if let problem { for waiter in waiters { waiter.continuation.resume(returning: .failure(problem)) } }
        perform(step)
    }

    /// The processor time that applying and tidying took since the opening, in seconds.
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
