// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TextAnalysis
import UserSearch

/// The vocabulary for spelling corrections (`SpellingCorrection`): the distinct words of all texts
/// that consist of letters only. Words have three to ``SpellingCorrection/longestWord`` letters;
/// there are at most ``maximumWords``.
///
/// FTS5 knows these words too, but lists them only together with all their occurrences: for 20,000
/// manual pages, reading the FTS5 vocabulary takes a hundred times as long as reading this table.
///
/// A row of `spelling_block` holds one database page of words (``SpellingBlock``). Its key combines
/// the length of the words with their lowest hash. A row covers the hashes from its key up to the
/// next row's key, so one lookup decides whether a word exists. `spelling_total` counts the words,
/// and records whether any word was left out since the table was created.
///
/// Words of deleted items stay until ``purgeStep(_:after:)``. They are never proposed as
/// corrections, because the texts that contain the best candidates are counted first.
enum SpellingWords {
    static let table = "spelling_block"
    static let totalTable = "spelling_total"
    static let tables = [table, totalTable]
    /// The size of the vocabulary above which new words are left out.
    static let maximumWords = 500_000
    /// The bit position of the word length in a key.
    private static let lengthShift: Int64 = 56
    /// The largest number of words looked up to find the words of one bundle.
    static let maximumTried = 512
    /// The number of words looked up in one step of a purge.
    static let wordsOfStep = 256

    static let lengths = SpellingCorrection.shortestWord...SpellingCorrection.longestWord

    /// Returns the key of a word.
    static func key(length: Int, hash: UInt64) -> Int64 { Int64(length) << lengthShift | Int64(hash >> 8) }

    /// Returns the smallest key of a length.
    static func firstKey(length: Int) -> Int64 { key(length: length, hash: 0) }

    static func length(ofKey key: Int64) -> Int { Int(key >> lengthShift) }

    /// The FNV-1a offset basis. Stored keys depend on it.
    static let emptyHash: UInt64 = 0xCBF2_9CE4_8422_2325

    @inline(__always)
    static func hash(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }

    static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(emptyHash) { hash($0, $1) } }

    /// Returns `true` if a folded word consists of letters and has a valid length.
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

    /// Returns `true` if a word is in the vocabulary.
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

    /// Returns `true` if the vocabulary has a word with the given hash.
    fileprivate static func contains(key: Int64, hash wanted: UInt64, _ db: Database) throws -> Bool {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT id, words FROM \(table) WHERE id <= ? ORDER BY id DESC LIMIT 1"),
            arguments: [key])
        guard let row, length(ofKey: try row.decode(atIndex: 0)) == length(ofKey: key) else { return false }
        let block = SpellingBlock(try row.decode(Data.self, atIndex: 1))
        return (0..<block.count).contains { hash(block.word($0)) == wanted }
    }

    /// Returns the position at which the words of a block are split. Words with equal keys stay
    /// together, so this is the first key change at or after the middle, or else the last one
    /// before it. Returns `nil` if all keys are equal.
    ///
    /// - Parameter keys: The keys in ascending order.
    static func border(in keys: [Int64]) -> Int? {
        let borders = keys.indices.dropFirst()
        let isBorder = { (place: Int) in keys[place] > keys[place - 1] }
        return borders.first { $0 >= keys.count / 2 && isBorder($0) } ?? borders.last(where: isBorder)
    }

    /// Calls `body` with the words whose sketches are near a given sketch.
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

    /// Returns the shortest words that are longer than a prefix and begin with it.
    ///
    /// - Parameters:
    ///   - limit: The largest number of words.
    ///   - isWanted: Returns `true` for a word to offer. Called at most ``maximumTried`` times.
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
        // Keys begin with the word length, so shorter words come first.
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

    /// Removes words that no text contains, from some of the blocks.
    ///
    /// - Parameter place: The position where the previous step ended; 0 for the first step.
    /// - Returns: The position where this step ended; `nil` after the last step.
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

    /// Returns the problems of the vocabulary's rows, one sentence each.
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
        return count == total ? [] : ["the number of words of \(table) is recorded as \(total) and is \(count)"]
    }
}

/// Searches texts for words that the vocabulary lacks.
struct SpellingCheck {
    private let db: Database
    /// `true` if no word was ever left out.
    private let isComplete: Bool
    private var met = MatchedWords()
    /// The first missing word; `nil` if none was found.
    private(set) var missing: String?

    init(_ db: Database) throws {
        self.db = db
        isComplete = try Bool.fetchOne(db, sql: "SELECT left_out FROM \(SpellingWords.totalTable)") == false
    }

    /// Looks up each word of a text, usually once.
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

/// A hash table of known words, of 512 KiB. A new hash overwrites an old one in the same slot. If
/// two words have the same 64-bit hash, one of them is not available as a correction.
struct MatchedWords {
    private var hashes: [UInt64] = []
    private static let places = 1 << 16

    /// Calls `body` with the words of a text that belong in the vocabulary and are not in the
    /// table.
    ///
    /// - Parameter body: Receives the key, the hash and the folded bytes of a word.
    mutating func forEachNewWord(in text: String, _ body: (Int64, UInt64, [UInt8]) throws -> Void) throws {
        if hashes.isEmpty { hashes = Array(repeating: 0, count: Self.places) }
        var text = text
        try text.withUTF8 { bytes in
            try Self.folded.withUnsafeBufferPointer { folded in
                try hashes.withUnsafeMutableBufferPointer { try Self.forEachNewWord(in: bytes, folded, $0, body) }
            }
        }
    }

    /// The folded form of each byte: 0 for ASCII separators, 0xFF for bytes outside ASCII.
    private static let folded: [UInt8] = (0...255).map { byte in
        switch byte {
        case 0x30...0x39, 0x61...0x7A: UInt8(byte)
        case 0x41...0x5A: UInt8(byte + 32)
        case 0x80...: 0xFF
        default: 0
        }
    }

    /// Splits a text into runs, in which `TextAnalyzer` finds the words. Most runs consist of
    /// lowercase ASCII letters and form one word.
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
                // Letters have the bit 0x40 set, digits do not.
                try body(
                    SpellingWords.key(length: run.count, hash: hash), hash, text[run].map { folded[Int($0)] })
            }
        }
    }

    /// A run may be as long as the text, because many separators are not ASCII.
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

/// Adds the words of texts to the vocabulary within one transaction. Most words of a text are
/// already known.
final class SpellingWriter {
    private let db: Database
    private let prefix: String
    private let cache: FullTextCache
    /// The known words, taken from the cache while words are added.
    private var known = MatchedWords()
    private var hasKnown = false
    /// The words that may be new, with their keys.
    private var met: [(key: Int64, word: [UInt8])] = []
    /// The number of words written at a time. A text of 16 MiB may have millions.
    static let maximumMet = 1 << 14

    private lazy var insert = Result {
        try WriteStatement(
            db, sql: "INSERT OR REPLACE INTO \(prefix)\(SpellingWords.table) (id, words) VALUES (?, ?)")
    }

    /// - Parameters:
    ///   - prefix: The prefix of the table names.
    ///   - cache: The cache shared by writers of the same tables.
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

    /// Writes the new words. Call it at the end.
    func finish() throws {
        try write()
        guard hasKnown else { return }
        cache.giveBack(spelled: known)
        (known, hasKnown) = (MatchedWords(), false)
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
        // After the first omission, the remaining words need no lookup.
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

    /// A block to which words are added.
    private struct OpenBlock {
        /// The key range of the block. The lower bound is the key of its row.
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

    /// Splits a block in two by the keys of its words. The upper block stays open, because words
    /// arrive in key order.
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
