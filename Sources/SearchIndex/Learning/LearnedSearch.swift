// SPDX-License-Identifier: Apache-2.0
import GRDB
import UserSearch

/// What was learned about one search, in one state of the store.
struct LearnedSearch {
    private let reporter: Int64
    private let now: Double
    private let folder: StoreFolder?
    private var ranking = LearnedRanking()
    /// The texts of items that may be found for the search, whatever the lists of the index bring: first those that were chosen for
    /// what is typed.
    private var texts: [Int64] = []
    /// Whether apps have reported anything that orders their own hits.
    private var hasReportsOfApps = false

    /// The most counts that are read for what was typed; of more, those of which the text comes first.
    private static let maximumRead = 20_000
    /// So many items with the largest counts for what was typed may be found, and so many with the largest counts of all.
    private static let (candidates, favourites) = (64, 32)
    /// By how much what an app reports changes the order of its own hits at most, as a factor (``BundleOrder``).
    private static let maximumImportance = 1.3

    /// About a search of which nothing has been learned.
    init() { (reporter, now, folder) = (-1, 0, nil) }

    /// Reads what was learned about a search.
    ///
    /// - Parameters:
    ///   - text: What was typed.
    ///   - source: Whose reports count.
    ///   - bundle: The bundle of the app, if these are an app's.
    ///   - folder: Where damage is noted.
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
        // What is counted for a text is counted for its item.
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

    /// Reads the counts of the texts that go on as what was typed does, and of those it goes on from.
    private mutating func read(_ typed: String, _ db: Database) throws {
        // No scalar comes behind the last one.
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

    // MARK: What may be found

    /// The texts that are worth reading whatever the lists of the index bring: those that were chosen and have one of the words.
    func texts(having words: [SoughtWord], _ db: Database) throws -> [Int64] {
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
        // The lists of all words with a longer beginning are put together each time, so they are asked for once.
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

    // MARK: What it changes

    /// What earlier use adds to the score of an item.
    ///
    /// - Parameter score: What its texts are worth.
    func gain(of item: Int64, over score: Double, _ db: Database) throws -> Double {
        guard !texts.isEmpty else { return 0 }
        return ranking.gain(of: item, anyText: try count(of: item, reporter, db), over: score)
    }

    /// What the item's app reports of it, as a factor of its importance among the app's own hits: 1 to ``maximumImportance``.
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
    /// Whether the table is damaged, which is noted for the next opening and is no reason to find nothing.
    static func isDamage(_ error: any Error) -> Bool {
        error is RowDecodingError || (error as? DatabaseError)?.resultCode == .SQLITE_CORRUPT
    }

    /// The number that stands for what an app reports; `nil` if it never donated.
    static func reporter(of bundle: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM bundle WHERE identifier = ?"), arguments: [bundle])
    }

    /// The count of an item whatever was typed.
    static func count(of item: Int64, reporter: Int64, at moment: Double, _ db: Database) throws -> Double {
        let unity = try Double.fetchOne(
            db.cachedStatement(
                sql: "SELECT unity FROM engagement WHERE item = ? AND reporter = ? AND text = ''"),
            arguments: [item, reporter])
        return unity.map { DecayedCount(unity: $0).value(at: moment) } ?? 0
    }
}
