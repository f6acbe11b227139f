// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import GRDB

extension LogApplier {
    /// Applies all entries logged so far, except deferred entries.
    ///
    /// Alternates between two kinds of transactions: entries that apps wait for, and the next
    /// entries in order. Neither kind waits until all of the other kind are done.
    ///
    /// - Returns: The error that stopped it; `nil` on success.
    func drain() -> SearchIndexError? {
        let target = state.withLock { state in
            (state.newEntries, state.newBytes) = (0, 0)
            return state.target
        }
        var isOwnTurn = true
        while true {
            let (applied, isDue) = state.withLock { ($0.applied, $0.isDue) }
            guard applied < target, isDue else { return nil }
            guard !isClosing else { return .closed }
            do {
                if isOwnTurn, try applyOwn() {
                    isOwnTurn = false
                    continue
                }
                isOwnTurn = true
                try repairing { try applyBulk(after: applied) }
            } catch let error as LogError {
                return SearchIndexError(error, path: path, operation: "Reading the write-ahead log")
            } catch {
                return SearchIndexError(error, path: path, operation: "Applying the write-ahead log")
            }
        }
    }

    /// Runs a closure that changes the database. If it encounters damage, examines the database,
    /// repairs what can be repaired in place, and runs the closure again, once. Other damage is
    /// left until the store is opened again. Blocks.
    func repairing<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch  where UnwritableStore.isDoubtful(error, at: path) {
            // A full examination takes longer than a donor can wait for room, so it is left until
            // the store is opened again.
            folder.suspect()
            throw error
        } catch  where SearchIndexError(error, path: path, operation: "").isDamage {
            folder.suspect()
            let (last, refused) = state.withLock { ($0.target, $0.refusedRepair) }
            if let refused { throw refused }
            let repairs: [String]
            do {
                repairs = try pool.write { db in
                    try DatabaseExamination(db).repair(db, through: last, lossRule: lossRule, path: path)
                }
            } catch let error as SearchIndexError {
                if case .losingRepair = error { state.withLock { $0.refusedRepair = error } }
                throw error
            }
            // The repair may have rebuilt the tables, which drops the words of deleted items.
            fullTextCache.forgetTerms()
            guard !repairs.isEmpty else { throw error }
            state.withLock { $0.repairs = Array(($0.repairs + repairs).suffix(Self.maximumKept)) }
            let value = try body()
            folder.trust()
            return value
        }
    }

    /// Consecutive log entries, together with the gaps between them.
    private struct Bulk {
        var records: [NumberedLogEntry] = []
        var bytes = 0
        /// The last entry that was read, was missing or had already been applied.
        var last: UInt64
        /// `true` if entries are missing, and if this loss was not reported before.
        var hasLoss = false
        var hasNewLoss = false
    }

    /// Reads the next entries in order, and skips entries that are already applied.
    private func readBulk(after applied: UInt64) throws -> Bulk {
        var bulk = Bulk(last: applied)
        let (early, maximumBytes) = state.withLock {
            ($0.early, $0.hasOwnWaiters ? Self.maximumSharedBytes : Self.maximumBulkBytes)
        }
        var replay = log.replay(after: applied)
        while bulk.records.count < Self.maximumBulkEntries, bulk.bytes < maximumBytes {
            bulk.last = early.end(after: bulk.last)
            replay.skip(to: bulk.last + 1)
            guard let result = replay.next() else { break }
            switch result {
            case .success(let record):
                bulk.records.append(record)
                bulk.last = record.sequence
                bulk.bytes += record.entry.batch.approximateBytes
            case .failure(.damaged(let finding)):
                // The entries after the damage are intact. Damage inside an entry is only detected
                // here.
                guard let lost = finding.lostEntries(after: bulk.last) else { continue }
                bulk.last = lost.upperBound
                bulk.hasLoss = true
                let isKnown = log.findings.contains {
                    guard let known = $0.lostEntries(after: applied) else { return false }
                    return known.lowerBound <= lost.lowerBound && known.upperBound >= lost.upperBound
                }
                if !isKnown, !early.covers(lost) { bulk.hasNewLoss = true }
            case .failure(let error): throw error
            }
        }
        bulk.last = early.end(after: bulk.last)
        return bulk
    }

    private func applyBulk(after applied: UInt64) throws {
        let bulk = try readBulk(after: applied)
        guard bulk.last > applied else {
            throw SearchIndexError.damaged(path: path, detail: "the write-ahead log ends at entry \(applied)")
        }
        let target = state.withLock { $0.target }
        let (reached, leftOut, deleted) = try pool.write { db in
            let now = try clock.adjust(db)
            var reached = bulk.last
            var leftOut: [LeftOutItem] = []
            var bytes = 0
            if bulk.hasNewLoss { try StoreRow.noteLoss(db, through: target) }
            let stateless = try StoreRow(db).statelessThrough
            let derived = DerivedWriter(
                db, pace: pace, cache: fullTextCache, relatesWithinIndexes: relatesWithinIndexes)
            for (index, record) in bulk.records.enumerated() {
                // Stops before entries that were deferred after the transaction began, because the
                // rest of a bulk takes half a second of processor time. Also stops when an app
                // begins to wait. A new loss is reported once, together with everything read with
                // it.
                if index > 0, !bulk.hasNewLoss {
                    let before = bulk.records[index - 1].sequence
                    guard state.withLock({ $0.goesOn(after: before, applied: bytes) }) else {
                        reached = before
                        break
                    }
                }
                leftOut += try apply(record, db, now: now, stateless: stateless, derived)
                bytes += record.entry.batch.approximateBytes
            }
            try derived.finish()
            try StoreRow.update(db) { $0.applied = max($0.applied, reached) }
            try EarlyEntries.forget(through: reached, db)
            return (reached, leftOut, derived.deletedItems)
        }
        let bundles = Set(bulk.records.map(\.entry.scope.bundle))
        let waiters = state.withLock { state in
            for item in leftOut { state.leftOut.add(item) }
            if bulk.hasNewLoss {
                state.repairs.append("Acknowledged entries of the write-ahead log could not be read.")
            }
            state.deletedItems += deleted
            state.misspelledItems += deleted
            if bulk.hasLoss {
                // The bundles of the lost entries are unknown.
                state.pending.remove(through: reached)
            } else {
                for bundle in bundles { state.pending.remove(through: reached, of: bundle) }
            }
            return state.reach(reached)
        }
        for waiter in waiters { waiter.continuation.resume(returning: .success(true)) }
        Task { [log] in try? await log.discard(through: reached) }
        mergeInProportion(to: bulk.bytes)
    }

    /// Applies some of the entries that apps wait for, ahead of earlier donations from other
    /// bundles.
    ///
    /// Entries of different bundles change different rows, and entries of one bundle stay in order.
    /// The database keeps storing the number of the last entry through which all entries are
    /// applied. Later entries are recorded in the transaction that applies them (``EarlyEntries``),
    /// so that none is applied twice.
    ///
    /// - Returns: `true` if an entry was applied.
    private func applyOwn() throws -> Bool {
        let wanted = state.withLock { $0.nextOwn(maximumEarlyEntries: maximumEarlyEntries) }
        let records = readOwn(wanted)
        guard !records.isEmpty else { return false }
        let numbers = Set(records.map(\.sequence))
        let (applied, reached) = state.withLock { ($0.applied, $0.early.end(after: $0.applied, with: numbers)) }
        let (leftOut, deleted) = try repairing {
            try pool.write { db in
                let now = try clock.adjust(db)
                var leftOut: [LeftOutItem] = []
                let stateless = try StoreRow(db).statelessThrough
                let derived = DerivedWriter(
                    db, cache: fullTextCache, relatesWithinIndexes: relatesWithinIndexes)
                if records.contains(where: { $0.sequence > reached }) { try EarlyEntries.prepare(db) }
                for record in records {
                    leftOut += try apply(record, db, now: now, stateless: stateless, derived)
                    if record.sequence > reached { try EarlyEntries.write(record.sequence, db) }
                }
                try derived.finish()
                if reached > applied {
                    try StoreRow.update(db) { $0.applied = max($0.applied, reached) }
                    try EarlyEntries.forget(through: reached, db)
                }
                return (leftOut, derived.deletedItems)
            }
        }
        let waiters = state.withLock { state in
            for record in records {
                state.early.insert(record.sequence)
                state.pending.remove(through: record.sequence, of: record.entry.scope.bundle)
            }
            for item in leftOut { state.leftOut.add(item) }
            state.deletedItems += deleted
            state.misspelledItems += deleted
            return state.reach(reached)
        }
        for waiter in waiters { waiter.continuation.resume(returning: .success(true)) }
        if reached > applied { Task { [log] in try? await log.discard(through: reached) } }
        mergeInProportion(to: records.reduce(0) { $0 + $1.entry.batch.approximateBytes })
        return true
    }

    /// Reads entries. For each bundle, stops before the first entry that cannot be read:
    /// ``applyBulk(after:)`` finds and reports that entry.
    private func readOwn(_ wanted: [(sequence: UInt64, bundle: String)]) -> [NumberedLogEntry] {
        guard let first = wanted.first else { return [] }
        var replay = log.replay(after: first.sequence - 1)
        var records: [NumberedLogEntry] = []
        var unreadable: Set<String> = []
        for (sequence, bundle) in wanted where !unreadable.contains(bundle) {
            replay.skip(to: sequence)
            if case .success(let record)? = replay.next(), record.sequence == sequence {
                records.append(record)
            } else {
                unreadable.insert(bundle)
            }
        }
        return records
    }

    /// Applies an entry.
    ///
    /// - Returns: The items that were left out.
    private func apply(
        _ record: NumberedLogEntry, _ db: Database, now: Double, stateless: UInt64, _ derived: DerivedWriter
    ) throws -> [LeftOutItem] {
        let moment = clock.donation(at: record.entry.moment, now: now)
        let writer = try ItemWriter(db, record.entry.scope, now: moment.donated, shift: moment.shift, derived)
        return try writer.apply(record.entry.batch, keepsState: record.sequence > stateless)
    }

    private func mergeInProportion(to bytes: Int) {
        // Merges in proportion to the applied bytes, so that the number of segments stays small
        // under a continuous load.
        let pages = state.withLock { state -> Int in
            state.needsTidying = true
            state.unmergedBytes += bytes
            let pages = state.unmergedBytes / Self.bytesPerMergedPage
            guard pages >= FullTextMerging.minimumStep else { return 0 }
            return min(pages, FullTextMerging.maximumStep)
        }
        if pages > 0 { merge(pages: pages) }
    }

    /// The applied record bytes per page to merge. A text takes half of its record's bytes, and is
    /// merged about three times on its way into the largest segment.
    private static let bytesPerMergedPage = 2048

    /// Merges some pages. Ignores errors: nothing is lost, and the next write encounters the same
    /// error.
    ///
    /// - Returns: `true` if there was anything to merge.
    @discardableResult
    func merge(pages: Int) -> Bool {
        state.withLock { $0.unmergedBytes = 0 }
        let hasWorked = try? pool.write { db in try FullTextMerging.step(db, pages: pages) }
        return hasWorked ?? false
    }

    /// Returns some free pages to the file system if many are free, as after merges.
    ///
    /// - Returns: `true` if pages were returned.
    func giveBackUnused() -> Bool { (try? pool.write(SearchIndex.giveBackUnused)) ?? false }

    /// Runs one maintenance step. Called while no entry is due.
    func tidy() {
        if (try? repairing { try pool.write { try IndexMigration.step($0) } }) == true { return }
        if merge(pages: FullTextMerging.maximumStep) { return }
        if (try? pool.write(FullTextMerging.beginJoining)) == true { return }
        if giveBackUnused() { return }
        if let place = state.withLock({ $0.purgedSpelling }) {
            let end = try? pool.write { db in
                // An existing writer does not know which words the purge removes.
                fullTextCache.forgetTerms()
                return try SpellingWords.purgeStep(db, after: place)
            }
            return state.withLock { $0.purgedSpelling = end ?? nil }
        }
        let (deleted, misspelled, forgets) = state.withLock { state in
            state.needsTidying = false
            return (state.deletedItems, state.misspelledItems, state.forgetsSpelling)
        }
        guard deleted > 0 || misspelled > 0 else { return }
        // The purge reads all words, so it is worthwhile only after one deletion per 50 texts.
        let hasPurged = try? pool.write { db in
            guard deleted > 0, try Int.fetchOne(db, sql: "SELECT count(*) FROM text_row") ?? 0 <= deleted * 50 else {
                return false
            }
            try TermDictionary.purge(db)
            fullTextCache.forgetTerms()
            return true
        }
        // This purge looks up every word, so it is worthwhile only after one deletion per step.
        let isDue = try? pool.read { db in
            let words = try Int.fetchOne(db, sql: "SELECT words FROM \(SpellingWords.totalTable)") ?? 0
            return forgets || (misspelled > 0 && words <= misspelled * SpellingWords.wordsOfStep)
        }
        state.withLock { state in
            if hasPurged == true { state.deletedItems -= deleted }
            guard isDue == true else { return }
            state.misspelledItems -= misspelled
            (state.forgetsSpelling, state.purgedSpelling, state.needsTidying) = (false, 0, true)
        }
    }
}

extension LogApplier.State {
    /// Returns the entries of the next transaction for apps that wait for their own donations, in
    /// order.
    ///
    /// Alternates between two choices. The first takes the bundles with the fewest bytes, so that a
    /// small donation does not wait for a large one. Several small bundles share a transaction. The
    /// second takes the bundle served least recently, so that no bundle starves.
    mutating func nextOwn(maximumEarlyEntries: Int) -> [(sequence: UInt64, bundle: String)] {
        guard early.count < maximumEarlyEntries else { return [] }
        /// The last awaited entry of each bundle.
        var ends: [String: UInt64] = [:]
        var bundles: [String] = []
        for waiter in waiters where !isDone(waiter) {
            guard let bundle = waiter.bundle else { continue }
            if ends[bundle] == nil { bundles.append(bundle) }
            ends[bundle] = max(ends[bundle] ?? 0, waiter.sequence)
        }
        servesSmallest.toggle()
        if servesSmallest {
            let sizes = bundles.map { (bundle: $0, bytes: pending.tally.amount(of: $0).bytes) }.sorted {
                $0.bytes < $1.bytes
            }
            var bytes = 0
            bundles = sizes.prefix { size in
                bytes += size.bytes
                return bytes <= LogApplier.maximumTogetherBytes
            }.map(\.bundle)
            if bundles.isEmpty, let smallest = sizes.first { bundles = [smallest.bundle] }
        } else {
            bundles = Array(bundles.prefix(1))
        }
        var chosen: [(sequence: UInt64, bundle: String)] = []
        for bundle in bundles {
            let entries = pending.first(
                of: bundle, through: ends[bundle] ?? 0, count: LogApplier.maximumBulkEntries - chosen.count,
                bytes: LogApplier.maximumSharedBytes)
            chosen += entries.map { ($0.sequence, bundle) }
        }
        // Moves waiters of the bundles just served behind the others.
        let served = Set(bundles)
        let isServed = { (waiter: LogApplier.Waiter) in waiter.bundle.map(served.contains) ?? false }
        waiters = waiters.filter { !isServed($0) } + waiters.filter(isServed)
        return chosen.sorted { $0.sequence < $1.sequence }
    }

    /// Records that all entries through `sequence` are applied, then removes and returns the
    /// waiters that are done.
    mutating func reach(_ sequence: UInt64) -> [LogApplier.Waiter] {
        early.remove(after: applied, through: sequence)
        applied = sequence
        return takeDone()
    }
}
