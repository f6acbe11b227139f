// SPDX-License-Identifier: Apache-2.0
import GRDB
import UserSearch

/// The distinct words of titles and keywords, which can be found by any three letters inside them.
/// Searching a few hundred thousand words takes a millisecond; searching the titles themselves
/// would take a second.
///
/// Words of deleted items stay until ``purge(_:)``. Finding such a word costs an unnecessary
/// lookup.
enum TermDictionary {
    /// The length of the shortest word part that can be found, in letters.
    static let minimumLength = 3
    /// The number of words returned at a time. Common words come first, because they were added
    /// first.
    static let wordsAtOnce = 64
    /// The length of the longest stored word, in bytes. Longer words are rarely words of a natural
    /// language.
    static let maximumWordBytes = 48
    /// The largest number of words with all trigrams that are checked at a time.
    private static let maximumCandidates = 512

    /// Returns some of the words that contain `part` after their first byte. Words that begin with
    /// it are found without the dictionary.
    ///
    /// - Parameters:
    ///   - part: A folded word part of at least ``minimumLength`` letters.
    ///   - place: The position after the previous words; 0 to start.
    /// - Returns: At most ``wordsAtOnce`` words, and the position after them. The position is `nil`
    ///   if no more words follow, or if finding them would take long.
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

    /// Returns the numbers and texts of the words that have all trigrams.
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

    /// Returns all words that contain `part` after their first byte; `nil` if there are more than
    /// `limit`, or if finding them would take long.
    ///
    /// - Parameter part: Lowercase ASCII letters and digits, at least ``minimumLength``.
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

    /// Returns the words of titles and keywords that are other forms of a word: words that share
    /// one of its stems.
    ///
    /// - Parameter languages: The languages of the forms.
    static func forms(
        of word: String, stems: [String], in languages: [WordLanguage], by stemmer: WordStems, _ db: Database
    ) throws -> [String] {
        // A short word is not in the dictionary, but is mostly its own stem.
        var forms = stems.filter { $0.utf8.count <= minimumLength && $0 != word }
        for stem in stems where stem.unicodeScalars.count >= minimumLength {
            // The last letter of a stem may differ in the word, as in “simpli” for “simply”; such
            // words are short.
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

    /// The largest number of dictionary words scanned for one stem.
    private static let maximumBeginnings = 4096
    /// The limits of ``forms(of:stems:in:_:)``: the number of words examined for one beginning, and
    /// the number of forms returned.
    private static let (maximumForms, mostForms) = (128, 16)
    /// The length of the longest ending, in letters. A word with a longer ending is rarely a form.
    private static let longestEnding = 7

    /// Returns `true` if the letters are adjacent inside a word, which equal trigrams do not
    /// guarantee. Compares bytes: a combining mark after the last letter does not change that
    /// letter.
    private static func holds(_ word: String, _ letters: [UInt8]) -> Bool {
        Array(word.utf8.dropFirst()).contains(letters)
    }

    /// Removes the words that no title or keyword contains. Reads all words.
    static func purge(_ db: Database) throws {
        try db.execute(
            sql:
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.ranked_word_vocabulary USING fts5vocab (main, ranked_word, row)"
        )
        let places = TitlePlace.allCases.map { RankedWords.mark(of: $0) }
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

    /// - Parameter prefix: The prefix of the table names.
    init(_ db: Database, prefix: String = "", cache: FullTextCache) {
        self.db = db
        self.prefix = prefix
        self.cache = cache
    }

    /// Adds the words of a text. Most words are already known from earlier items. If two words have
    /// the same 64-bit hash, one of them cannot be found by a part.
    func add(_ text: String) throws {
        let words = cache.terms.withLock { newWords(of: text, &$0) }
        for word in words { try insert(word) }
    }

    private func newWords(of text: String, _ known: inout Set<UInt64>) -> [String] {
        var words: [String] = []
        FullTextTokenizer.forEachWord(in: text) { word in
            // A word of three letters contains no other part of three letters.
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
