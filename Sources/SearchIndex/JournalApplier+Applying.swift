// SPDX-License-Identifier: Apache-2.0
import GRDB

extension JournalApplier {
    /// Applies everything that has been journaled until now and is not held; gives back why it could not.
    func drain() -> SearchIndexError? {
        let target = state.withLock { state in
            (state.newEntries, state.newBytes) = (0, 0)
            return state.target
        }
        while true {
            let (applied, isDue) = state.withLock { ($0.applied, $0.isDue) }
            guard applied < target, isDue else { return nil }
            do {
                if try applyOwn() { continue }
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
        } catch  where UnwritableStore.isDoubtful(error, at: path) {
            // To examine everything takes longer than whoever waits for room has; the next opening does.
            folder.suspect()
            throw error
        } catch  where SearchIndexError(error, path: path, operation: "").isDamage {
            folder.suspect()
            let last = state.withLock { $0.target }
            let repairs = try pool.write { try DatabaseExamination($0).mend($0, through: last) }
            guard !repairs.isEmpty else { throw error }
            state.withLock { $0.repairs = Array(($0.repairs + repairs).suffix(Self.maximumKept)) }
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
        let ahead = state.withLock { $0.ahead }
        for result in journal.replay(after: applied) {
            switch result {
            case .success(let record) where ahead.contains(record.sequence): last = record.sequence
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
        while ahead.contains(last + 1) { last += 1 }
        let (pending, target) = state.withLock { ($0.pending, $0.target) }
        let read = last
        let hasNewLoss = isNewLoss
        let (reached, leftOut, deleted) = try pool.write { [records] db in
            let now = try clock.adjust(db)
            var reached = read
            var leftOut: [LeftOutItem] = []
            if hasNewLoss { try StoreRow.noteLoss(db, through: target) }
            let stateless = try StoreRow(db).statelessThrough
            let derived = DerivedWriter(db, pace: pace)
            for (index, record) in records.enumerated() {
                // What was held meanwhile waits; the rest of a bulk would take half a second of a processor. A loss is told
                // once, with all that was read when it was found.
                if index > 0, !hasNewLoss {
                    let before = records[index - 1].sequence
                    guard state.withLock({ $0.isDue(after: before) }) else {
                        reached = before
                        break
                    }
                }
                let moment = clock.moment(ofDonation: pending[record.sequence]?.donated, now: now)
                let writer = try ItemWriter(
                    db, record.entry.scope, now: moment.donated, shift: moment.shift, derived)
                leftOut += try writer.apply(record.entry, keepsState: record.sequence > stateless)
            }
            try derived.flush()
            try StoreRow.update(db) { $0.applied = max($0.applied, reached) }
            return (reached, leftOut, derived.deletedItems)
        }
        let waiters = state.withLock { state in
            state.applied = reached
            for item in leftOut { state.leftOut.add(item) }
            if hasNewLoss { state.repairs.append("Acknowledged entries of the journal could not be read.") }
            state.deletedItems += deleted
            // Also those that could not be read, whose numbers may be far apart.
            for sequence in state.pending.keys where sequence <= reached { state.remove(sequence) }
            state.ahead = state.ahead.filter { $0 > reached }
            return state.takeDone()
        }
        for waiter in waiters { waiter.continuation.resume(returning: .success(true)) }
        Task { [journal] in try? await journal.discard(through: reached) }
        mergeInProportion(to: bytes)
    }

    /// Applies what is waited for of one bundle, before what others have donated earlier.
    ///
    /// Entries of different bundles change different rows, and those of one bundle stay in order. The number that the
    /// database keeps stays that of the last entry before which nothing is missing. So after a crash what was applied early
    /// is applied once more, after what the same bundle donated before it, with the same result.
    ///
    /// - Returns: Whether anything was applied.
    private func applyOwn() throws -> Bool {
        let sequences = state.withLock { state -> [UInt64] in
            guard let waiter = state.waiters.first(where: { $0.bundle != nil }), let bundle = waiter.bundle,
                // Nobody else's comes before it.
                state.pending.contains(where: { $0.key <= waiter.sequence && $0.value.bundle != bundle })
            else { return [] }
            return state.pending.filter { $0.key <= waiter.sequence && $0.value.bundle == bundle }.keys.sorted()
        }
        var records: [JournalRecord] = []
        var bytes = 0
        for sequence in sequences {
            var replay = journal.replay(after: sequence - 1)
            // What cannot be read is found, and reported, when its turn comes.
            guard case .success(let record)? = replay.next(), record.sequence == sequence else { break }
            records.append(record)
            bytes += record.entry.approximateBytes
            if records.count >= Self.maximumBulkEntries || bytes >= Self.maximumBulkBytes { break }
        }
        guard !records.isEmpty else { return false }
        let pending = state.withLock { $0.pending }
        let (leftOut, deleted) = try mending {
            try pool.write { [records] db in
                let now = try clock.adjust(db)
                var leftOut: [LeftOutItem] = []
                let stateless = try StoreRow(db).statelessThrough
                let derived = DerivedWriter(db)
                for record in records {
                    let moment = clock.moment(ofDonation: pending[record.sequence]?.donated, now: now)
                    let writer = try ItemWriter(
                        db, record.entry.scope, now: moment.donated, shift: moment.shift, derived)
                    leftOut += try writer.apply(record.entry, keepsState: record.sequence > stateless)
                }
                try derived.flush()
                return (leftOut, derived.deletedItems)
            }
        }
        let waiters = state.withLock { state in
            for record in records {
                state.ahead.insert(record.sequence)
                state.remove(record.sequence)
            }
            for item in leftOut { state.leftOut.add(item) }
            state.deletedItems += deleted
            return state.takeDone()
        }
        for waiter in waiters { waiter.continuation.resume(returning: .success(true)) }
        mergeInProportion(to: bytes)
        return true
    }

    private func mergeInProportion(to bytes: Int) {
        // In proportion, so that the segments stay few while there is no end of entries.
        let pages = state.withLock { state -> Int in
            state.needsTidying = true
            state.unmergedBytes += bytes
            let pages = state.unmergedBytes / Self.bytesPerMergedPage
            guard pages >= FullTextMerging.minimumStep else { return 0 }
            return min(pages, FullTextMerging.maximumStep)
        }
        if pages > 0 { merge(pages: pages) }
    }

    /// Each text is merged about three times on its way into the largest segment, and takes half of a record's bytes.
    private static let bytesPerMergedPage = 2048

    /// Merges a little. What goes wrong is no reason to stop: nothing is lost by it, and the next write meets it again.
    ///
    /// - Returns: Whether there was anything to merge.
    @discardableResult
    func merge(pages: Int) -> Bool {
        state.withLock { $0.unmergedBytes = 0 }
        let hasWorked = try? pool.write { db in try FullTextMerging.step(db, pages: pages) }
        return hasWorked ?? false
    }

    /// Does a little of what is better done while nothing is to be applied.
    func tidy() {
        if merge(pages: FullTextMerging.maximumStep) { return }
        let deleted = state.withLock { state in
            state.needsTidying = false
            return state.deletedItems
        }
        // It reads all words, so it waits until about as many may be gone.
        let hasPurged = try? pool.write { db in
            guard deleted > 0, try Int.fetchOne(db, sql: "SELECT count(*) FROM text_row") ?? 0 <= deleted * 50 else {
                return false
            }
            try TermDictionary.purge(db)
            return true
        }
        if hasPurged == true { state.withLock { $0.deletedItems -= deleted } }
    }
}

extension JournalEntry {
    /// About how much the entry holds.
    var approximateBytes: Int {
        operations.reduce(0) { total, operation in
            if case .put(let bytes) = operation { total + bytes.count } else { total + 64 }
        }
    }
}
