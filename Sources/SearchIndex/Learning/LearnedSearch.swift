// SPDX-License-Identifier: Apache-2.0
import GRDB
import UserSearch

/// The engagement that is relevant to one search, for one state of the store.
struct LearnedSearch {
    private let reporter: Int64
    private let now: Double
    private let folder: StoreFolder?
    private var ranking = LearnedRanking()
    /// The texts of chosen items, which are candidates even if the index lists omit them. Items
    /// chosen for the typed text come first.
    private var texts: [Int64] = []
    /// `true` if apps have reported engagement, which affects the order of their own hits.
    private var hasReportsOfApps = false

    /// The largest number of counts read for the typed text, in alphabetical order of their texts.
    private static let maximumRead = 20_000
    /// The largest numbers of extra candidates: items with the largest counts for the typed text,
    /// and items with the largest counts over all texts.
    private static let (candidates, favourites) = (64, 32)
    /// The largest factor by which an app's reports change the order of its own hits
    /// (``BundleOrder``).
    private static let maximumImportance = 1.3

    /// Creates an empty history.
    init() { (reporter, now, folder) = (-1, 0, nil) }

    /// Reads the engagement that is relevant to a search.
    ///
    /// - Parameters:
    ///   - text: The typed text.
    ///   - source: The source of the reports.
    ///   - bundle: The app's bundle, if `source` is an app.
    ///   - folder: The store folder, in which damage is recorded.
    init(
        _ text: String, from source: EngagementReporter, bundle: String?, now: Double, folder: StoreFolder,
        _ db: Database
    ) throws {
        (self.now, self.folder) = (now, folder)
        switch source {
        case .user: reporter = 0
        case .app: reporter = try bundle.flatMap { try EngagementTable.reporter(of: $0, db) } ?? -1
        }
        guard try EngagementTable.exists(db) else { return }
        hasReportsOfApps =
            try source == .user
            && Bool.fetchOne(
                db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM engagement WHERE reporter > 0 AND text = '')"))
                ?? false
        let favourites = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT item FROM engagement WHERE reporter = ? AND text = '' ORDER BY unity DESC
                    LIMIT \(Self.favourites)
                    """), arguments: [reporter])
        // An event for a text is also counted for its item, so if there are no favourites, there
        // are no counts.
        guard !favourites.isEmpty else { return }
        if let typed = EngagementText.folded(text) { try read(typed, db) }
        let chosen = ranking.counts.sorted { ($1.value, $1.key) < ($0.value, $0.key) }
            .prefix(Self.candidates).map(\.key)
        let statement = try db.cachedStatement(sql: "SELECT text_row FROM item WHERE id = ?")
        var known: Set<Int64> = []
        for item in chosen + favourites where known.insert(item).inserted {
            if let text = try Int64.fetchOne(statement, arguments: [item]) { texts.append(text) }
        }
    }

    /// Reads the counts of texts that extend the typed text, and of texts that it extends.
    private mutating func read(_ typed: String, _ db: Database) throws {
        // The upper bound is the last Unicode scalar.
        let following = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT text, item, unity FROM engagement
                    WHERE reporter = ? AND text <> '' AND text >= ? AND text < ? LIMIT \(Self.maximumRead)
                    """), arguments: [reporter, typed, typed + "\u{10FFFF}"])
        while let row = try following.next() { try add(row, typed) }
        let scalars = typed.unicodeScalars
        for end in scalars.indices.dropFirst() where scalars[scalars.index(before: end)] != " " {
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: "SELECT text, item, unity FROM engagement WHERE reporter = ? AND text <> '' AND text = ?"),
                arguments: [reporter, String(scalars[..<end])])
            while let row = try rows.next() { try add(row, typed) }
        }
    }

    private mutating func add(_ row: Row, _ typed: String) throws {
        let count = DecayedCount(unity: try row.decode(forColumn: "unity")).value(at: now)
        ranking.add(
            count, item: try row.decode(forColumn: "item"), stored: try row.decode(forColumn: "text"), typed: typed)
    }

    // MARK: Candidates

    /// Returns the texts to read even if the index lists omit them: texts that were chosen and
    /// contain one of the words.
    func texts(having words: [QueryWord], _ db: Database) throws -> [Int64] {
        guard !texts.isEmpty, !words.isEmpty else { return [] }
        var terms = words.map { RankedStems.expression($0.stems) }
        var beginnings: [String] = []
        for word in words where word.isOpen {
            let expression = TitleWords.expression(word.text, isPrefix: true)
            if word.text.unicodeScalars.count <= RankedWords.longestBeginning {
                terms.append(expression)
            } else {
                beginnings.append(expression)
            }
        }
        let table = FullTextIndex.rankedTable
        let has = try db.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(table) MATCH ? AND rowid = ?)")
        let expression = terms.joined(separator: " OR ")
        var found = Set(try texts.filter { try Bool.fetchOne(has, arguments: [expression, $0]) == true })
        // FTS5 merges the lists of a long prefix for each query, so these are queried only once.
        for expression in beginnings {
            let wanted = texts.filter { !found.contains($0) }
            guard let oldest = wanted.min(), let newest = wanted.max() else { break }
            let rows = try Int64.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT rowid FROM \(table) WHERE \(table) MATCH ? AND rowid >= ? AND rowid <= ?
                        ORDER BY rowid DESC LIMIT \(Self.maximumRead)
                        """), arguments: [expression, oldest, newest])
            let sought = Set(wanted)
            while let text = try rows.next() { if sought.contains(text) { found.insert(text) } }
        }
        return texts.filter(found.contains)
    }

    // MARK: Effect on ranking

    /// Returns the amount that earlier engagement adds to the score of an item.
    ///
    /// - Parameter score: The text score of the item.
    func gain(of item: Int64, over score: Double, _ db: Database) throws -> Double {
        guard !texts.isEmpty else { return 0 }
        return ranking.gain(of: item, anyText: try count(of: item, reporter, db), over: score)
    }

    /// Returns the weight of the app's engagement reports for an item, applied to the item's rank
    /// among the app's own hits: 1 to ``maximumImportance``.
    func importance(of item: Int64, bundle: Int64, _ db: Database) throws -> Double {
        guard hasReportsOfApps else { return 1 }
        let count = try count(of: item, bundle, db)
        return 1 + (Self.maximumImportance - 1) * count / (count + 2)
    }

    private func count(of item: Int64, _ reporter: Int64, _ db: Database) throws -> Double {
        do {
            return try EngagementTable.count(of: item, reporter: reporter, at: now, db)
        } catch  where EngagementTable.isDamage(error) {
            folder?.suspect()
            return 0
        }
    }
}

extension EngagementTable {
    /// Returns `true` if an error means that the table is damaged. Damage is recorded so that it is
    /// repaired the next time the store is opened; until then, searches ignore engagement.
    static func isDamage(_ error: any Error) -> Bool {
        error is RowDecodingError || (error as? DatabaseError)?.isOfDamagedTable == true
    }

    /// Returns the reporter number of an app; `nil` if it never donated.
    static func reporter(of bundle: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM bundle WHERE identifier = ?"), arguments: [bundle])
    }

    /// Returns the count of an item over all texts.
    static func count(of item: Int64, reporter: Int64, at moment: Double, _ db: Database) throws -> Double {
        let unity = try Double.fetchOne(
            db.cachedStatement(
                sql: "SELECT unity FROM engagement WHERE item = ? AND reporter = ? AND text = ''"),
            arguments: [item, reporter])
        return unity.map { DecayedCount(unity: $0).value(at: moment) } ?? 0
    }
}
