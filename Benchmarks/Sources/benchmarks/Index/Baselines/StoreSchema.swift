// SPDX-License-Identifier: Apache-2.0

/// The tables of a store, read from the store itself, so that a baseline always has the same
/// schema.
struct StoreSchema {
    struct Table {
        var name: String
        var sql: String
        var isFullText: Bool
        /// `true` for a full-text table that stores no copy of the text, so that its rows cannot be
        /// read back.
        var isContentless: Bool
    }

    /// The tables that have their own rows, in the order in which they were created.
    private(set) var tables: [Table] = []
    private(set) var indexes: [String] = []
    let pageSize: Int64
    /// The settings in the full-text tables' configuration, such as their page size.
    private(set) var fullTextSettings: [(table: String, key: String, value: Int64)] = []

    /// The keys of the copied settings. Merge settings are not copied, because the store merges in
    /// its own steps.
    private static let copiedSettings = ["pgsz", "hashsize"]

    init(of store: SQLiteConnection) throws {
        pageSize = try store.integer("PRAGMA page_size")
        let rows = try store.prepare(
            """
            SELECT type, name, sql FROM sqlite_master
            WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid
            """)
        var all: [Table] = []
        while try rows.step() {
            let sql = rows.text(2)
            switch rows.text(0) {
            case "table":
                let options = sql.filter { !$0.isWhitespace }.lowercased()
                let isFullText = options.hasPrefix("createvirtualtable") && options.contains("usingfts5(")
                if options.hasPrefix("createvirtualtable"), !isFullText { continue }
                all.append(
                    Table(
                        name: rows.text(1), sql: isFullText ? Self.withPlainTokenizer(sql) : sql,
                        isFullText: isFullText,
                        isContentless: options.contains("content=''") || options.contains("content=\"\"")))
            case "index": indexes.append(sql)
            // Triggers and views have no rows.
            default: continue
            }
        }
        let shadows = Set(
            all.filter(\.isFullText).flatMap { table in
                ["data", "idx", "content", "docsize", "config"].map { "\(table.name)_\($0)" }
            })
        tables = all.filter { !shadows.contains($0.name) }
        for table in tables where table.isFullText {
            let settings = try store.prepare("SELECT k, v FROM \"\(table.name)_config\"")
            while try settings.step() {
                guard Self.copiedSettings.contains(settings.text(0)) else { continue }
                fullTextSettings.append((table.name, settings.text(0), settings.integer(1)))
            }
        }
    }

    /// Creates the empty tables.
    ///
    /// - Parameter merges: `true` to let FTS5 merge automatically, which keeps the index about as
    ///   compact as the store's; `false` to merge nothing.
    func make(in database: SQLiteConnection, cacheKiB: Int, merges: Bool) throws {
        try database.execute(
            """
            PRAGMA page_size = \(pageSize); PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            PRAGMA cache_size = -\(cacheKiB);
            """)
        for table in tables { try database.execute(table.sql) }
        for index in indexes { try database.execute(index) }
        var settings = fullTextSettings
        if !merges {
            // The documented values: 0 disables automerge, and 1999 is the maximum for crisismerge.
            for table in tables where table.isFullText {
                settings += [(table.name, "automerge", 0), (table.name, "crisismerge", 1999)]
            }
        }
        for (table, key, value) in settings {
            try database.execute("INSERT INTO \"\(table)\" (\"\(table)\", rank) VALUES ('\(key)', \(value))")
        }
    }

    /// Replaces the store's tokenizers, which the baselines do not have, with one of SQLite's.
    private static func withPlainTokenizer(_ sql: String) -> String {
        sql.replacing(/tokenize\s*=\s*(?:"searchlight[^"]*"|'searchlight[^']*')/) { _ in
            "tokenize = \"unicode61 remove_diacritics 2\""
        }
    }
}
