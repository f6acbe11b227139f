// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery

/// The results of one search, a block after the other.
///
/// Three stages follow each other: words of titles and keywords, words of everything, parts of words of titles. Within a
/// stage the newest matches come first, a **window** of so many candidates at a time; they are ranked against each other,
/// first by what FTS5 knows (``FullTextScore``), then, best first, a **block** at a time with a look at the items
/// (``Ranking``). So the time to the first block does not depend on how many matches there are, and who goes on reading
/// gets all of them, each once. The price: among more matches than a window holds, newer ones come first. Titles that
/// are or begin with what was typed are looked for beside the first window (``TitleLookup``), whatever their age.
///
/// What comes depends on the store and the request alone, never on how long something took.
struct SearchWalk: Sendable {
    /// How many items are read at a time.
    static let blockSize = 64
    /// A block ends after so many bytes of records: there are items of 16 MiB.
    private static let maximumBlockBytes = 8 << 20
    /// The most candidates that are counted at a time.
    private static let maximumCounted = 20_000
    /// More expired items than that are looked up one by one.
    private static let maximumExpired = 1000
    /// And how many where most candidates may not be what is looked for.
    static let uncheckedBlockSize = 32

    let plan: SearchPlan
    let bound: Int64
    /// The present by which items are ranked: that of the first page.
    private(set) var now: Double
    /// The present by which items have expired.
    private var present: Double
    private let bundle: String?
    private let filter: QueryEvaluator?
    private let limits: SearchLimits
    private let findsInsideWords: Bool

    private enum Stage: Int { case title, text, insideWords, end }
    private var stage = Stage.title
    /// What the stage asks; `nil` before its first window.
    private var scan: CandidateScan?
    /// Where in the dictionary the words end that the letters were looked for in.
    private var wordsEnd: Int64 = 0
    /// How often words were looked up in it.
    private var wordLookups = 0
    /// Where in the stage the next window begins.
    private var position: Int64
    /// The candidates of the window that are left, the best at the end.
    private var pending: [CandidateScan.Match] = []
    /// The texts that are in the results of this or an earlier stage, are still to be read, or belong into none.
    private var seen: Set<Int64> = []

    init(
        _ plan: SearchPlan, _ request: SearchRequest, filter: QueryEvaluator?, bound: Int64, now: Double
    ) {
        self.plan = plan
        self.bound = bound
        self.now = now
        present = now
        self.filter = filter
        bundle = request.bundle
        limits = request.limits
        findsInsideWords = request.findsInsideWords
        position = bound
    }

    /// Sets the present of the transaction that follows. If the clock was set, items are ranked by it too, since their dates
    /// have moved along.
    mutating func setPresent(_ present: Double) {
        self.present = present
        if abs(present - now) > StoreClock.correction { now = present }
    }

    /// The next hits, ranked; `nil` after the last.
    mutating func next(_ db: Database) throws -> [SearchHit]? {
        while stage != .end {
            if pending.isEmpty, try !fillWindow(db) { continue }
            let block = try readBlock(db)
            guard !block.isEmpty else { continue }
            return Ranking(plan, now: now).ranked(block, kind: kind)
        }
        return nil
    }

    private var kind: SearchHit.Kind {
        switch stage {
        case .title: .title
        case .text: .text
        case .insideWords, .end: .insideWords
        }
    }

    /// Counts to the end what the walk has not returned yet. FTS5's matches are counted as they come; an item is read only
    /// where it has to be compared (``SearchLimits/countedReads``).
    ///
    /// - Parameters:
    ///   - returned: How many hits the walk has returned.
    ///   - maximum: Enough, if so many are counted with these.
    mutating func total(after returned: Int, upTo maximum: Int, _ db: Database) throws -> SearchTotal {
        let expired = try expiredTexts(db)
        var reads = limits.countedReads
        var count = returned
        while count < maximum, stage != .end {
            if pending.isEmpty, try !fillWindow(db, counting: maximum - count) { continue }
            if let expired, filter == nil, scan?.unchecked == nil {
                // Titles that the attribute index found are compared, below.
                count += pending.count { !$0.isUncertain && !expired.contains($0.row) }
                pending.removeAll { !$0.isUncertain }
            }
            while !pending.isEmpty, count < maximum {
                guard reads > 0 else { return SearchTotal(count: count, isExact: false) }
                let before = pending.count
                count += try readBlock(db).count
                reads -= before - pending.count
            }
        }
        return SearchTotal(count: min(count, maximum), isExact: count < maximum)
    }

    /// The texts of items that have expired and are not deleted yet; `nil` if there are many.
    private func expiredTexts(_ db: Database) throws -> Set<Int64>? {
        let rows = try Int64?.fetchAll(
            db.cachedStatement(sql: "SELECT text_row FROM item WHERE expires <= ? LIMIT ?"),
            arguments: [present, Self.maximumExpired])
        return rows.count < Self.maximumExpired ? Set(rows.compactMap { $0 }) : nil
    }

    /// Fills `pending`; `false` if the stage is over, then the next one has begun.
    ///
    /// - Parameter counting: How many more are counted. They need no order, and FTS5 puts the lists of the beginning of a
    ///   word together anew for each window.
    private mutating func fillWindow(_ db: Database, counting: Int? = nil) throws -> Bool {
        let isFirst = scan == nil
        if isFirst {
            position = bound
            scan = try makeScan(db)
        }
        guard let scan, position > 0 else {
            advanceStage()
            return false
        }
        var (matches, end) = try scan.window(
            from: position, count: max(limits.candidates, min(counting ?? 0, Self.maximumCounted)),
            isScored: counting == nil, db)
        position = end
        if stage == .title, isFirst, position > 0 || matches.count > blockSize {
            try putTitlesFirst(&matches, scan, db)
        }
        pending = matches.filter { seen.insert($0.row).inserted }
        if counting == nil { pending.sort { ($0.title, $0.score, $0.row) < ($1.title, $1.score, $1.row) } }
        return !pending.isEmpty
    }

    /// Marks the candidates whose title is or begins with what was typed, so that they are in the first blocks whatever
    /// their scores are, and adds those that are older than the window.
    private func putTitlesFirst(_ matches: inout [CandidateScan.Match], _ scan: CandidateScan, _ db: Database) throws {
        var titles = try TitleLookup(plan, bound: bound, now: present, limits).rows(scan.tags, db)
        for index in matches.indices {
            if let title = titles.removeValue(forKey: matches[index].row) { matches[index].title = title }
        }
        guard position > 0 else { return }
        matches += titles.map { row, title in
            CandidateScan.Match(row: row, score: FullTextScore.best, isUncertain: true, title: title)
        }
    }

    private var blockSize: Int { scan?.unchecked == nil ? Self.blockSize : Self.uncheckedBlockSize }

    private mutating func advanceStage() {
        let end = scan?.wordsEnd
        scan = nil
        wordLookups += 1
        // The next words that the letters are inside of.
        if stage == .insideWords, let end, wordLookups < limits.wordLookups {
            wordsEnd = end
            return
        }
        wordLookups = 0
        stage = Stage(rawValue: stage.rawValue + 1) ?? .end
        if stage == .insideWords, !findsInsideWords { stage = .end }
    }

    private func makeScan(_ db: Database) throws -> CandidateScan? {
        let tags = try SearchTags(bundle: bundle, db)
        switch stage {
        case .title: return try CandidateScan.titleWords(plan, tags: tags, bound: bound, limits, db)
        case .text: return try CandidateScan.allWords(plan, tags: tags, bound: bound, limits, db)
        case .insideWords:
            return try CandidateScan.insideWords(plan, tags: tags, after: wordsEnd, bound: bound, limits, db)
        case .end: return nil
        }
    }

    /// Reads the best candidates that are left, and leaves out what does not belong into the results.
    private mutating func readBlock(_ db: Database) throws -> [Ranking.Candidate] {
        var block: [Ranking.Candidate] = []
        var bytes = 0
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(StoredItem.columns), item.bundle AS bundle_number
                FROM text_row CROSS JOIN item ON item.id = text_row.item CROSS JOIN bundle ON bundle.id = item.bundle
                WHERE text_row.id = ?
                """)
        let size = blockSize
        while block.count < size, bytes < Self.maximumBlockBytes, let match = pending.popLast() {
            guard try mayBelong(match, db) else {
                leaveToLaterStages(match)
                continue
            }
            // Not fetchOne, which copies the record. The row is valid as long as the cursor lives.
            let rows = try Row.fetchCursor(statement, arguments: [match.row])
            defer { withExtendedLifetime(rows) {} }
            guard let row = try rows.next() else { continue }
            let expires = try row.decode(Double?.self, forColumn: "expires")
            guard expires ?? .infinity > present else { continue }
            if let bundle, try row.decode(String.self, forColumn: "bundle_name") != bundle { continue }
            if let filter, try !filter.matches(row.decode(DatabaseValue.self, forColumn: "record")) { continue }
            let number = try row.decode(Int64.self, forColumn: "bundle_number")
            let item = try StoredItem(row)
            if match.isUncertain, !isTitleMatch(item.record, bundle: number) {
                leaveToLaterStages(match)
                continue
            }
            if let scan, let open = scan.unchecked {
                let text = SearchableText(item.record, bundle: number)
                guard scan.checksTitle ? open.occursInTitle(of: text) : open.occurs(in: text) else {
                    leaveToLaterStages(match)
                    continue
                }
            }
            bytes += try row.withUnsafeData(named: "record") { $0?.count ?? 0 }
            block.append(Ranking.Candidate(row: match.row, score: match.score, bundle: number, item: item))
        }
        return block
    }

    /// A candidate that was looked at for nothing may still belong to a later stage.
    private mutating func leaveToLaterStages(_ match: CandidateScan.Match) { seen.remove(match.row) }

    /// A quick look at what was not asked of FTS5, before the item is read: most candidates are turned down by it.
    private func mayBelong(_ match: CandidateScan.Match, _ db: Database) throws -> Bool {
        guard let unchecked = scan?.unchecked else { return true }
        return try match.withRecord(db) { $0.map(unchecked.mayOccur(inRecord:)) ?? false }
    }

    /// Whether an item is what the title stage looks for, and its title is or begins with the text.
    private func isTitleMatch(_ record: ItemRecord, bundle: Int64) -> Bool {
        guard TitleFit(plan.text).kind(of: record) != nil else { return false }
        let text = SearchableText(record, bundle: bundle)
        return plan.sequences.allSatisfy { $0.occurs(in: text.title) || $0.occurs(in: text.keywords) }
    }
}

/// The restrictions that FTS5 takes care of.
struct SearchTags: Sendable {
    /// One for each restriction, to be joined with `AND`.
    var expressions: [String] = []
    /// The number of the only bundle that is meant; `nil` means all. Unknown bundles have a number that no item has.
    let bundle: Int64?

    /// - Throws: `DatabaseError`.
    init(bundle: String?, _ db: Database) throws {
        guard let bundle else {
            self.bundle = nil
            return
        }
        let number =
            try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT id FROM bundle WHERE identifier = ?"), arguments: [bundle]) ?? 0
        self.bundle = number
        expressions.append(FullTextTag(bundle: number).expression)
    }
}
