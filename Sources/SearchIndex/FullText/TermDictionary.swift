// SPDX-License-Identifier: Apache-2.0
import GRDB
import UserSearch

/// The distinct words of titles and keywords, found by any three letters inside them. A few hundred thousand words are
/// searched in a millisecond where the titles themselves would take a second.
///
/// Words stay when the items that had them go, until ``purge(_:)``: finding one that no item has any more costs a lookup.
enum TermDictionary {
    /// The shortest part of a word that is searched for, in letters.
    static let minimumLength = 3
    /// So many words are looked up at a time; common words come first, since they were met first.
    static let wordsAtOnce = 64
    /// The longest words that are kept, in bytes; longer ones are seldom of a human language.
    static let maximumWordBytes = 48
    /// So many words that share all parts of three letters are looked at, at a time.
    private static let maximumCandidates = 512

    /// Some of the words that contain `part`, but not at their beginning: those are found without the dictionary.
    ///
    /// - Parameters:
    ///   - part: a folded word of at least ``minimumLength`` letters.
    ///   - place: where the words before these ended; 0 for the first.
    /// - Returns: At most ``wordsAtOnce`` words, and where they end; `nil` if no more follow, or they take long to find.
    static func words(
        containing part: String, after place: Int64, _ db: Database
    ) throws -> (words: [String], end: Int64?) {
        guard part.unicodeScalars.count >= minimumLength else { return ([], nil) }
        let letters = Array(part.utf8)
        let rows = try candidates(containing: part, after: place, limit: maximumCandidates, db)
        var (seen, end, found): (Int, Int64, [String]) = (0, place, [])
        while found.count < wordsAtOnce, let row = try rows.next() {
            seen += 1
            end = row[0]
            let word: String = row[1]
            if holds(word, letters) { found.append(word) }
        }
        let mayGoOn = found.count == wordsAtOnce || (seen == maximumCandidates && !found.isEmpty)
        return (found, mayGoOn ? end : nil)
    }

    /// The numbers and texts of the words that have all parts of three letters.
    private static func candidates(
        containing part: String, after place: Int64 = 0, limit: Int, _ db: Database
    ) throws -> RowCursor {
        let scalars = Array(part.unicodeScalars)
        let trigrams = (0...(scalars.count - minimumLength)).map { start in
            "\"" + String(String.UnicodeScalarView(scalars[start..<(start + minimumLength)])) + "\""
        }
        return try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT term.id, term.text FROM term_trigram CROSS JOIN term ON term.id = term_trigram.rowid
                    WHERE term_trigram MATCH ? AND term_trigram.rowid > ? ORDER BY term_trigram.rowid LIMIT ?
                    """), arguments: [trigrams.joined(separator: " "), place, limit])
    }

    /// All words that contain `part`, but not at their beginning; `nil` if they are more than `limit`, or take long to find.
    ///
    /// - Parameter part: plain small letters and digits, at least ``minimumLength``.
    static func allWords(containing part: String, limit: Int, _ db: Database) throws -> [String]? {
        let letters = Array(part.utf8)
        var (seen, found): (Int, [String]) = (0, [])
        let rows = try candidates(containing: part, limit: maximumCandidates + 1, db)
        while let row = try rows.next() {
            let word: String = row[1]
            seen += 1
            guard seen <= maximumCandidates else { return nil }
            guard holds(word, letters) else { continue }
            guard found.count < limit else { return nil }
            found.append(word)
        }
        return found
    }

    /// Words of titles and keywords that are other forms of a word: they have one of its stems.
    ///
    /// - Parameter languages: in which forms are looked for.
    static func forms(
        of word: String, stems: [String], in languages: [WordLanguage], _ db: Database
    ) throws -> [String] {
        let stemmer = WordStems([])
        var forms: [String] = []
        for stem in stems where stem.unicodeScalars.count >= minimumLength {
            // The last letter of a stem may be another in the word, as in “simpli” for “simply”; such words are short.
            let scalars = stem.unicodeScalars
            let start = String(scalars.count > minimumLength ? scalars.dropLast() : scalars[...])
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT text FROM (
                            SELECT text FROM term WHERE text >= ? AND text < ? ORDER BY text LIMIT \(maximumBeginnings))
                        WHERE length(text) <= ? AND (substr(text, 1, ?) = ? OR length(text) <= ?) LIMIT \(maximumForms)
                        """),
                arguments: [
                    start, start + "\u{10FFFF}", scalars.count + longestEnding, scalars.count, stem, scalars.count + 1,
                ])
            while forms.count < mostForms, let row = try rows.next() {
                let form = try row.decode(String.self, atIndex: 0)
                guard form != word, !forms.contains(form) else { continue }
                if languages.contains(where: { stems.contains(stemmer.stem(form, in: $0)) }) { forms.append(form) }
            }
        }
        return forms
    }

    /// So many words of the dictionary are passed for one stem.
    private static let maximumBeginnings = 4096
    /// So many words with the same beginning are looked at for ``forms(of:stems:in:_:)``, and so many found.
    private static let (maximumForms, mostForms) = (128, 16)
    /// Words whose endings have more letters are no forms, mostly.
    private static let longestEnding = 7

    /// Whether letters stand together inside of a word; those that share its parts of three letters may have them apart. By
    /// bytes: a mark that follows belongs to the last letter, but does not make it another.
    private static func holds(_ word: String, _ letters: [UInt8]) -> Bool {
        Array(word.utf8.dropFirst()).contains(letters)
    }

    /// Forgets the words that no title and no keyword has any more. Reads through all words.
    static func purge(_ db: Database) throws {
        try db.execute(
            sql:
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.ranked_word_vocabulary USING fts5vocab (main, ranked_word, row)"
        )
        let places = TitlePlace.allCases.map { String(RankedWords.mark(of: $0)) }
        let gone = try Row.fetchAll(
            db,
            sql: """
                SELECT id, text FROM term WHERE text NOT IN (
                    SELECT substr(term, 2) FROM temp.ranked_word_vocabulary WHERE term >= ? AND term < ?)
                """, arguments: [places.min(), places.max().map { $0 + "\u{10FFFF}" }])
        let forget = try db.cachedStatement(
            sql: "INSERT INTO term_trigram (term_trigram, rowid, text) VALUES ('delete', ?, ?)")
        let delete = try db.cachedStatement(sql: "DELETE FROM term WHERE id = ?")
        for row in gone {
            let number = try row.decode(Int64.self, forColumn: "id")
            try forget.execute(arguments: [number, try row.decode(String.self, forColumn: "text")])
            try delete.execute(arguments: [number])
        }
        try db.execute(sql: "DROP TABLE temp.ranked_word_vocabulary")
    }
}

/// Adds words to the dictionary within one transaction.
final class TermWriter {
    private let db: Database
    private let prefix: String
    private let cache: FullTextCache
    private lazy var insertTerm = Result {
        try WriteStatement(db, sql: "INSERT OR IGNORE INTO \(prefix)term (text) VALUES (?)")
    }
    private lazy var insertTrigrams = Result {
        try WriteStatement(db, sql: "INSERT INTO \(prefix)term_trigram (rowid, text) VALUES (?, ?)")
    }
    private static let maximumKnown = 1 << 15

    /// - Parameter prefix: What stands before the names of the tables.
    init(_ db: Database, prefix: String = "", cache: FullTextCache) {
        self.db = db
        self.prefix = prefix
        self.cache = cache
    }

    /// Adds the words of a text. Most words of an item are known from the items before. If two words share one of 2^64 hashes, one
    /// of them is not found by its parts.
    func add(_ text: String) throws {
        let words = cache.terms.withLock { newWords(of: text, &$0) }
        for word in words { try insert(word) }
    }

    private func newWords(of text: String, _ known: inout Set<UInt64>) -> [String] {
        var words: [String] = []
        FullTextTokenizer.forEachWord(in: text) { word in
            // A word of three letters holds no other one.
            if word.bytes.count > TermDictionary.minimumLength, word.bytes.count <= TermDictionary.maximumWordBytes {
                if known.count >= Self.maximumKnown { known = [] }
                var hasher = Hasher()
                hasher.combine(bytes: UnsafeRawBufferPointer(word.bytes))
                if known.insert(UInt64(bitPattern: Int64(hasher.finalize()))).inserted {
                    words.append(String(decoding: word.bytes, as: UTF8.self))
                }
            }
            return true
        }
        return words
    }

    private func insert(_ word: String) throws {
        let term = try insertTerm.get()
        term.bind(word, at: 1)
        try term.run()
        guard db.changesCount > 0 else { return }
        let trigrams = try insertTrigrams.get()
        trigrams.bind(db.lastInsertedRowID, at: 1)
        trigrams.bind(word, at: 2)
        try trigrams.run()
    }
}
