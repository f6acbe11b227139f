// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TextAnalysis
import UserSearch

/// The distinct words of all texts, from which misspelled words are corrected (`SpellingCorrection`): words of letters alone,
/// three to ``SpellingCorrection/longestWord`` of them, at most ``maximumWords``.
///
/// FTS5 knows them too, but lists them only with all their occurrences: reading the vocabulary of 20,000 manual pages takes
/// a hundred times as long as reading this table. The table `spelling_block` has a row for a page full of words
/// (``SpellingBlock``). Its key begins with the length of the words and goes on with their hashes: a row has the hashes from
/// its key up to the next row's, so one lookup shows whether a word is there. `spelling_total` counts the words, and says whether
/// any was left out since the table was made.
///
/// Words stay when the items that had them go, until ``purgeStep(_:after:)``. A correction never proposes them, since the
/// texts with the best candidates are counted first.
enum SpellingWords {
    static let table = "spelling_block"
    static let totalTable = "spelling_total"
    static let tables = [table, totalTable]
    /// Words that come when there are so many are left out.
    static let maximumWords = 500_000
    /// The shift of the length in a key.
    private static let lengthShift: Int64 = 56
    /// So many words are looked up to find those of one bundle.
    static let maximumTried = 512
    /// So many words are looked up in a step of a purge.
    static let wordsOfStep = 256

    static let lengths = SpellingCorrection.shortestWord...SpellingCorrection.longestWord

    /// The key of a word.
    static func key(length: Int, hash: UInt64) -> Int64 { Int64(length) << lengthShift | Int64(hash >> 8) }

    /// The least key of a length.
    static func firstKey(length: Int) -> Int64 { key(length: length, hash: 0) }

    static func length(ofKey key: Int64) -> Int { Int(key >> lengthShift) }

    /// The start of a hash (FNV-1a), which the keys on disk depend on.
    static let emptyHash: UInt64 = 0xCBF2_9CE4_8422_2325

    @inline(__always)
    static func hash(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }

    static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(emptyHash) { hash($0, $1) } }

    /// Whether a folded word is of letters alone, and neither too short nor too long.
    static func isKept(_ word: some StringProtocol) -> Bool {
        let scalars = word.unicodeScalars
        return lengths.contains(scalars.count) && scalars.allSatisfy(isLetter)
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return (0x61...0x7A).contains(scalar.value) }
        return switch scalar.properties.generalCategory {
        case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark:
            true
        default: false
        }
    }

    /// Whether a word is in the vocabulary.
    static func contains(_ word: String, _ db: Database) throws -> Bool {
        let scalars = word.unicodeScalars
        let sketch = SpellingSketch(scalars)
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT id, words FROM \(table) WHERE id <= ? ORDER BY id DESC LIMIT 1"),
            arguments: [key(length: sketch.length, hash: hash(word.utf8))])
        guard let row, length(ofKey: try row.decode(atIndex: 0)) == sketch.length else { return false }
        return try row.withUnsafeData(atIndex: 1) { data in
            (data ?? Data()).withUnsafeBytes { SpellingBlock($0).contains(word.utf8, letters: sketch.letters) }
        }
    }

    /// Whether the vocabulary has a word with a hash.
    fileprivate static func contains(key: Int64, hash wanted: UInt64, _ db: Database) throws -> Bool {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT id, words FROM \(table) WHERE id <= ? ORDER BY id DESC LIMIT 1"),
            arguments: [key])
        guard let row, length(ofKey: try row.decode(atIndex: 0)) == length(ofKey: key) else { return false }
        let block = SpellingBlock(try row.decode(Data.self, atIndex: 1))
        return (0..<block.count).contains { hash(block.word($0)) == wanted }
    }

    /// Where the words of a block are divided: the place nearest to the middle, behind it if there is one, that has another key
    /// than the one before it, since words that share a key stay together. `nil` if all share one.
    ///
    /// - Parameter keys: in order.
    static func border(in keys: [Int64]) -> Int? {
        let borders = keys.indices.dropFirst()
        let isBorder = { (place: Int) in keys[place] > keys[place - 1] }
        return borders.first { $0 >= keys.count / 2 && isBorder($0) } ?? borders.last(where: isBorder)
    }

    /// Calls back with the words whose sketches are near.
    static func forEachWord(
        near sketch: SpellingSketch, within edits: Int, _ db: Database,
        _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws {
        let first = max(lengths.lowerBound, sketch.length - edits)
        let last = min(lengths.upperBound, sketch.length + edits)
        guard first <= last else { return }
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT words FROM \(table) WHERE id >= ? AND id < ?"),
            arguments: [firstKey(length: first), firstKey(length: last + 1)])
        while let row = try rows.next() {
            try row.withUnsafeData(atIndex: 0) { data in
                data?.withUnsafeBytes {
                    SpellingBlock.forEachWord(in: $0, near: sketch.letters, within: edits, body)
                }
            }
        }
    }

    /// The shortest words that begin so and go on.
    ///
    /// - Parameters:
    ///   - limit: The most words.
    ///   - isWanted: Decides about each, ``maximumTried`` times at most.
    static func words(
        beginningWith prefix: String, limit: Int, _ db: Database, where isWanted: ((String) throws -> Bool)? = nil
    ) throws -> [String] {
        let sketch = SpellingSketch(prefix.unicodeScalars)
        let first = max(lengths.lowerBound, sketch.length + 1)
        guard first <= lengths.upperBound else { return [] }
        let bytes = Array(prefix.utf8)
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT words FROM \(table) WHERE id >= ?"), arguments: [firstKey(length: first)])
        var words: [String] = []
        var tried = 0
        // Keys begin with the lengths of words.
        while words.count < limit, tried < maximumTried, let row = try rows.next() {
            var found: [String] = []
            try row.withUnsafeData(atIndex: 0) { data in
                data?.withUnsafeBytes { block in
                    SpellingBlock.forEachWord(in: block, with: sketch.letters) { word in
                        if word.starts(with: bytes) { found.append(String(decoding: word, as: UTF8.self)) }
                    }
                }
            }
            for word in found where words.count < limit && tried < maximumTried {
                if let isWanted {
                    tried += 1
                    guard try isWanted(word) else { continue }
                }
                words.append(word)
            }
        }
        return words
    }

    /// Forgets the words of some blocks that no text has any more.
    ///
    /// - Parameter place: where the step before ended; 0 for the first.
    /// - Returns: Where this step ended; `nil` after the last.
    static func purgeStep(_ db: Database, after place: Int64) throws -> Int64? {
        var (end, seen) = (place, 0)
        while seen < wordsOfStep {
            guard
                let row = try Row.fetchOne(
                    db.cachedStatement(sql: "SELECT id, words FROM \(table) WHERE id > ? ORDER BY id LIMIT 1"),
                    arguments: [end])
            else { return nil }
            end = try row.decode(atIndex: 0)
            let block = SpellingBlock(try row.decode(Data.self, atIndex: 1))
            var kept = SpellingBlock()
            for index in 0..<block.count {
                let word = String(decoding: block.word(index), as: UTF8.self)
                guard try db.countTexts("\"\(word)\"", in: FullTextIndex.textTable, upTo: 1) > 0 else { continue }
                kept.append(block.word(index), letters: block.letters[index])
            }
            seen += max(1, block.count)
            guard kept.count < block.count else { continue }
            try db.cachedStatement(sql: "DELETE FROM \(table) WHERE id = ?").execute(arguments: [end])
            if kept.count > 0 {
                try db.cachedStatement(sql: "INSERT INTO \(table) (id, words) VALUES (?, ?)")
                    .execute(arguments: [end, Data(kept.encoded)])
            }
            try db.cachedStatement(sql: "UPDATE \(totalTable) SET words = words - ?")
                .execute(arguments: [block.count - kept.count])
        }
        return end
    }

    /// Lists problems of the vocabulary's rows, one sentence each.
    static func problems(_ db: Database) throws -> [String] {
        let total = try Int.fetchOne(db, sql: "SELECT words FROM \(totalTable)") ?? -1
        var (count, previous) = (0, Int64(0))
        let rows = try Row.fetchCursor(db, sql: "SELECT id, words FROM \(table) ORDER BY id")
        while let row = try rows.next() {
            let key = try row.decode(Int64.self, atIndex: 0)
            let next = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT id FROM \(table) WHERE id > ? ORDER BY id LIMIT 1"), arguments: [key])
            let block = SpellingBlock(try row.decode(Data.self, atIndex: 1))
            let areSound = (0..<block.count).allSatisfy { index in
                let word = String(decoding: block.word(index), as: UTF8.self)
                let sketch = SpellingSketch(word.unicodeScalars)
                let own = Self.key(length: sketch.length, hash: hash(word.utf8))
                return isKept(word) && sketch.letters == block.letters[index] && own >= key && own < next ?? .max
                    && sketch.length == length(ofKey: key)
            }
            guard block.count > 0, areSound, key > previous else { return ["a row of \(table) is damaged"] }
            (count, previous) = (count + block.count, key)
        }
        return count == total ? [] : ["\(total) words are said to be in \(table), and \(count) are"]
    }
}

/// Looks for words of texts that the vocabulary lacks.
struct SpellingCheck {
    private let db: Database
    /// Whether no word was ever left out.
    private let isComplete: Bool
    private var met = MetWords()
    /// The first word that is missing.
    private(set) var missing: String?

    init(_ db: Database) throws {
        self.db = db
        isComplete = try Bool.fetchOne(db, sql: "SELECT left_out FROM \(SpellingWords.totalTable)") == false
    }

    /// Looks each word of a text up, once as a rule.
    mutating func check(_ text: SearchableText) throws {
        for field in text.fields {
            guard isComplete, missing == nil else { return }
            var first: String?
            try met.forEachNewWord(in: field) { key, hash, word in
                guard first == nil, try !SpellingWords.contains(key: key, hash: hash, db) else { return }
                first = String(decoding: word, as: UTF8.self)
            }
            missing = first
        }
    }
}

/// The hashes of words that were met, in a table of 512 KiB: a word takes the place of another with the same place. Should two
/// words share one of 2^64 hashes, one of them is no correction.
struct MetWords {
    private var hashes: [UInt64] = []
    private static let places = 1 << 16

    /// Calls back with the words of a text that the vocabulary keeps, unless the table has them.
    ///
    /// - Parameter body: gets the key, the hash and the folded bytes of a word.
    mutating func forEachNewWord(in text: String, _ body: (Int64, UInt64, [UInt8]) throws -> Void) throws {
        if hashes.isEmpty { hashes = Array(repeating: 0, count: Self.places) }
        var text = text
        try text.withUTF8 { bytes in
            try Self.folded.withUnsafeBufferPointer { folded in
                try hashes.withUnsafeMutableBufferPointer { try Self.forEachNewWord(in: bytes, folded, $0, body) }
            }
        }
    }

    /// The folded form of each byte of ASCII: 0 between words; 0xFF for parts of other scalars.
    private static let folded: [UInt8] = (0...255).map { byte in
        switch byte {
        case 0x30...0x39, 0x61...0x7A: UInt8(byte)
        case 0x41...0x5A: UInt8(byte + 32)
        case 0x80...: 0xFF
        default: 0
        }
    }

    /// Takes a text apart into runs, in which `TextAnalyzer` finds its words: most are small letters of ASCII, and one word.
    private static func forEachNewWord(
        in text: UnsafeBufferPointer<UInt8>, _ folded: UnsafeBufferPointer<UInt8>,
        _ hashes: UnsafeMutableBufferPointer<UInt64>, _ body: (Int64, UInt64, [UInt8]) throws -> Void
    ) throws {
        var position = 0
        while position < text.count {
            let start = position
            var hash = SpellingWords.emptyHash
            var (all, some): (UInt8, UInt8) = (0xFF, 0)
            while position < text.count {
                let byte = folded[Int(text[position])]
                guard byte != 0 else { break }
                hash = SpellingWords.hash(hash, byte)
                all &= byte
                some |= byte
                position += 1
            }
            let run = start..<position
            position += 1
            if some >= 0x80 {
                try forEachNewWord(ofRun: UnsafeBufferPointer(rebasing: text[run]), hashes, body)
            } else if all & 0x40 != 0, SpellingWords.lengths.contains(run.count), isNew(hash, hashes) {
                // Digits lack the bit of letters.
                try body(
                    SpellingWords.key(length: run.count, hash: hash), hash, text[run].map { folded[Int($0)] })
            }
        }
    }

    /// A run may be as long as the text: many signs between words are not of ASCII.
    private static func forEachNewWord(
        ofRun run: UnsafeBufferPointer<UInt8>, _ hashes: UnsafeMutableBufferPointer<UInt64>,
        _ body: (Int64, UInt64, [UInt8]) throws -> Void
    ) throws {
        var failure: (any Error)?
        TextAnalyzer.forEachWord(in: run, variants: false) { word in
            let hash = SpellingWords.hash(word.bytes)
            guard isNew(hash, hashes) else { return true }
            let text = String(decoding: word.bytes, as: UTF8.self)
            guard SpellingWords.isKept(text) else { return true }
            do {
                try body(
                    SpellingWords.key(length: text.unicodeScalars.count, hash: hash), hash, Array(word.bytes))
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    @inline(__always)
    private static func isNew(_ hash: UInt64, _ hashes: UnsafeMutableBufferPointer<UInt64>) -> Bool {
        let place = Int(truncatingIfNeeded: (hash ^ hash >> 32) & UInt64(hashes.count - 1))
        guard hashes[place] != hash else { return false }
        hashes[place] = hash
        return true
    }
}

/// Adds the words of texts to the vocabulary within one transaction. Most words of a text were met before.
final class SpellingWriter {
    private let db: Database
    private let prefix: String
    private let cache: FullTextCache
    /// The cache's table while words are added.
    private var known = MetWords()
    private var hasKnown = false
    /// Words that may be new, with their keys.
    private var met: [(key: Int64, word: [UInt8])] = []
    /// So many words are written at a time: a text of 16 MiB may have millions.
    static let maximumMet = 1 << 14

    private lazy var insert = Result {
        try WriteStatement(
            db, sql: "INSERT OR REPLACE INTO \(prefix)\(SpellingWords.table) (id, words) VALUES (?, ?)")
    }

    /// - Parameters:
    ///   - prefix: What stands before the names of the tables.
    ///   - cache: The memory of writers of the same tables.
    init(_ db: Database, prefix: String = "", cache: FullTextCache) {
        (self.db, self.prefix, self.cache) = (db, prefix, cache)
    }

    /// Adds the words of a text.
    func add(_ text: SearchableText) throws {
        if !hasKnown { (known, hasKnown) = (cache.takeSpelled(), true) }
        for field in text.fields {
            try known.forEachNewWord(in: field) { key, _, word in
                met.append((key, word))
                if met.count >= Self.maximumMet { try write() }
            }
        }
    }

    /// Writes the words that are new, at the end.
    func finish() throws {
        try write()
        guard hasKnown else { return }
        cache.giveBack(spelled: known)
        (known, hasKnown) = (MetWords(), false)
    }

    private func write() throws {
        guard !met.isEmpty else { return }
        let total = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT words, left_out FROM \(prefix)\(SpellingWords.totalTable)"))
        var room = SpellingWords.maximumWords - (try total?.decode(Int.self, atIndex: 0) ?? 0)
        let before = room
        let hadLeftOut = try total?.decode(Bool.self, atIndex: 1) ?? false
        var hasLeftOut = hadLeftOut
        let words = met.sorted { $0.key < $1.key }
        met.removeAll(keepingCapacity: true)
        var open = OpenBlock()
        // Once one is left out, others need no look.
        for (key, word) in words where room > 0 || !hasLeftOut {
            if !open.keys.contains(key) {
                try close(&open)
                open = try block(for: key)
            }
            let letters = SpellingSketch(String(decoding: word, as: UTF8.self).unicodeScalars).letters
            guard !open.block.contains(word, letters: letters) else { continue }
            guard room > 0, open.block.hasRoom else {
                hasLeftOut = true
                continue
            }
            open.block.append(word, letters: letters)
            open.isChanged = true
            room -= 1
            if open.block.size > SpellingBlock.maximumBytes { try split(&open) }
        }
        try close(&open)
        guard room < before || hasLeftOut != hadLeftOut else { return }
        try db.cachedStatement(sql: "UPDATE \(prefix)\(SpellingWords.totalTable) SET words = words + ?, left_out = ?")
            .execute(arguments: [before - room, hasLeftOut])
    }

    /// A block that words are added to.
    private struct OpenBlock {
        /// The range of keys of the block's words. The lower bound is the key of the block's row.
        var keys: Range<Int64> = 0..<0
        var block = SpellingBlock()
        var isChanged = false
    }

    private func block(for key: Int64) throws -> OpenBlock {
        let table = prefix + SpellingWords.table
        let length = SpellingWords.length(ofKey: key)
        let end = SpellingWords.firstKey(length: length + 1)
        let next = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM \(table) WHERE id > ? ORDER BY id LIMIT 1"), arguments: [key])
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT id, words FROM \(table) WHERE id <= ? ORDER BY id DESC LIMIT 1"),
            arguments: [key])
        let upper = min(next ?? end, end)
        guard let row, SpellingWords.length(ofKey: try row.decode(atIndex: 0)) == length else {
            return OpenBlock(keys: SpellingWords.firstKey(length: length)..<upper)
        }
        return OpenBlock(
            keys: try row.decode(Int64.self, atIndex: 0)..<upper,
            block: SpellingBlock(try row.decode(Data.self, atIndex: 1)))
    }

    private func close(_ open: inout OpenBlock) throws {
        guard open.isChanged else { return }
        let statement = try insert.get()
        statement.bind(open.keys.lowerBound, at: 1)
        statement.bind(open.block.encoded, at: 2)
        try statement.run()
        open.isChanged = false
    }

    /// Divides a block into two by the keys of its words, and leaves the upper one open: words come in the order of their keys.
    private func split(_ open: inout OpenBlock) throws {
        let length = SpellingWords.length(ofKey: open.keys.lowerBound)
        let block = open.block
        let order = (0..<block.count)
            .map { (key: SpellingWords.key(length: length, hash: SpellingWords.hash(block.word($0))), index: $0) }
            .sorted { $0.key < $1.key }
        guard let middle = SpellingWords.border(in: order.map(\.key)) else { return }
        func part(_ entries: some Sequence<(key: Int64, index: Int)>) -> SpellingBlock {
            var part = SpellingBlock()
            for entry in entries { part.append(block.word(entry.index), letters: block.letters[entry.index]) }
            return part
        }
        let key = order[middle].key
        var lower = OpenBlock(keys: open.keys.lowerBound..<key, block: part(order[..<middle]), isChanged: true)
        try close(&lower)
        open = OpenBlock(keys: key..<open.keys.upperBound, block: part(order[middle...]), isChanged: true)
    }
}

extension SpellingBlock {
    init(_ data: Data) { self = data.withUnsafeBytes { SpellingBlock($0) } }
}
