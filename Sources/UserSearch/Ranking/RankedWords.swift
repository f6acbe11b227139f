// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TextAnalysis

/// Derives the index terms of an item, which let a search find the best items for a word first.
/// Terms depend only on the texts.
///
/// | Term | For |
/// |---|---|
/// | `s` and a stem | each word of the item |
/// | `c` to `h` and a stem | the same, by level (``WordStrength``), except the two weakest levels |
/// | `t` and a stem | each word of titles and keywords |
/// | `z`, a letter and a stem | the same, by fine level, except the weakest levels |
/// | `A` to `F` and a word | each word of titles and keywords, by best position (``TitlePlace``) |
/// | `P` to `U` and a prefix | the first one to four letters of these words, by best position |
/// | `v` and all words of a title, `w` and all words of a keyword | each title and keyword, up to 64 bytes |
///
/// Uses buffers for one item at a time, and a cache of stems. Calls from several threads are
/// serialized.
public final class RankedWords: Sendable {
    private let memory = Mutex(Memory())

    /// Creates an instance without buffers.
    public init() {}

    /// The mark of every stem.
    public static let stemMark = "s"
    /// The mark of every stem of titles and keywords.
    public static let titleStemMark = "t"
    /// The lowest level that has its own terms.
    public static let firstLevel = 2
    /// The lowest fine level that has its own terms.
    public static let firstFineLevel = firstLevel * WordStrength.fineLevels / WordStrength.levels
    /// The length of the longest prefix that has terms, in letters.
    public static let longestBeginning = 4

    /// Returns the mark of a level, which precedes the stem.
    public static func mark(ofLevel level: Int) -> String { mark(0x61 + level) }

    /// Returns the mark of a fine level in titles and keywords, which precedes the stem.
    public static func mark(ofFineLevel level: Int) -> String { "z" + mark(0x40 + level) }

    /// Returns the term of a whole title or keyword.
    ///
    /// - Parameter words: The words for which a user searches (`TextAnalyzer.searchWords`).
    /// - Returns: `nil` if the text has no words, or is too long to have a term.
    public static func term(ofWhole field: TextField, words: [String]) -> String? {
        let size = words.reduce(words.count) { $0 + $1.utf8.count }
        guard !words.isEmpty, size <= longestWhole else { return nil }
        return (field == .title ? "v" : "w") + words.joined(separator: "\u{1F}")
    }

    /// The size of the longest title or keyword that has a term: the bytes of its folded words, and
    /// one byte for each word. Longer ones are rarely shared by many items.
    private static let longestWhole = 64

    /// Returns the mark of a position, which precedes the word.
    public static func mark(of place: TitlePlace) -> String { mark(0x41 + place.rawValue) }

    /// Returns the mark of a position, which precedes the prefix of a word.
    public static func beginningMark(of place: TitlePlace) -> String { mark(0x50 + place.rawValue) }

    private static func mark(_ value: Int) -> String { String(Unicode.Scalar(UInt8(value))) }

    /// Returns the terms of an item, separated by spaces.
    ///
    /// - Parameters:
    ///   - texts: The text of each field, by field number (``TextField``).
    ///   - language: The language that determines the forms of words.
    public func terms(_ texts: [String], language: WordLanguage) -> String {
        memory.withLock { $0.terms(texts, language: language) }
    }
}

/// The first letters of a word.
private struct Beginning: Hashable {
    var scalars = SIMD4<UInt32>()
    var count = 0

    var text: String {
        String(String.UnicodeScalarView((0..<count).compactMap { Unicode.Scalar(scalars[$0]) }))
    }
}

/// The words of one item. The buffers are reused for the next item.
private struct Memory {
    /// The occurrences of the stem with the same number in ``table``.
    private struct Found {
        var sum = 0.0
        /// The occurrences in the present field.
        var count = 0
        /// `true` if the stem occurs in titles or keywords.
        var isInTitle = false
    }

    private let stems = WordStems([])
    private var language = WordLanguage.english
    private var table = StemTable()
    private var found: [Found] = []
    private var met: [Int] = []
    private var wholes: Set<String> = []
    private var places: [String: TitlePlace] = [:]
    private var beginnings: [Beginning: TitlePlace] = [:]
    private var terms: [UInt8] = []
    private var line: [(word: String, position: Int, isVariant: Bool)] = []

    mutating func terms(_ texts: [String], language: WordLanguage) -> String {
        self.language = language
        defer { removeAll() }
        for field in TextField.allCases where field.rawValue < texts.count && !texts[field.rawValue].isEmpty {
            add(texts[field.rawValue], field)
        }
        terms.removeAll(keepingCapacity: terms.capacity <= Self.mostKept << 4)
        func append(_ mark: String, _ word: some Sequence<UInt8>) {
            terms.append(contentsOf: mark.utf8)
            terms.append(contentsOf: word)
            terms.append(0x20)
        }
        for (index, stem) in found.enumerated() {
            let word = table.stem(index)
            append(RankedWords.stemMark, word)
            let level = WordStrength.level(stem.sum)
            if level >= RankedWords.firstLevel { append(RankedWords.mark(ofLevel: level), word) }
            guard stem.isInTitle else { continue }
            append(RankedWords.titleStemMark, word)
            let fine = WordStrength.fineLevel(stem.sum)
            if fine >= RankedWords.firstFineLevel { append(RankedWords.mark(ofFineLevel: fine), word) }
        }
        for (word, place) in places {
            append(RankedWords.mark(of: place), word.utf8)
            var beginning = Beginning()
            for scalar in word.unicodeScalars.prefix(RankedWords.longestBeginning) {
                beginning.scalars[beginning.count] = scalar.value
                beginning.count += 1
                beginnings[beginning] = min(place, beginnings[beginning] ?? place)
            }
        }
        for whole in wholes { append("", whole.utf8) }
        for (beginning, place) in beginnings {
            append(RankedWords.beginningMark(of: place), beginning.text.utf8)
        }
        return String(decoding: terms, as: UTF8.self)
    }

    /// The number of words above which a title or keyword has no term.
    private static let mostWordsOfWhole = 64
    /// The number of distinct words up to which buffers are kept; an item may contain millions.
    private static let mostKept = 1 << 12

    private mutating func removeAll() {
        let keeps = max(found.count, places.count, beginnings.count, wholes.count) <= Self.mostKept
        table.removeAll(keepingCapacity: keeps)
        found.removeAll(keepingCapacity: keeps)
        met.removeAll(keepingCapacity: keeps)
        wholes.removeAll(keepingCapacity: keeps)
        places.removeAll(keepingCapacity: keeps)
        beginnings.removeAll(keepingCapacity: keeps)
        removeLine()
    }

    /// Releases a large buffer, because a title may repeat a few words very often.
    private mutating func removeLine() { line.removeAll(keepingCapacity: line.capacity <= Self.mostKept) }

    private mutating func add(_ text: String, _ field: TextField) {
        var length = 0
        met.removeAll(keepingCapacity: true)
        switch field {
        case .title, .keywords:
            for part in text.utf8.split(separator: 0x0A) { length += addLine(String(Substring(part)), field) }
        case .description, .body:
            forEachWord(in: text) { memory, word in
                if !word.isVariant { length += 1 }
                memory.count(word.bytes)
            }
        }
        let occurrence = field.occurrence(inLength: length)
        for index in met {
            found[index].sum += Double(found[index].count) * occurrence
            found[index].count = 0
        }
    }

    /// Adds a title or a keyword.
    ///
    /// - Returns: The number of its words.
    private mutating func addLine(_ text: String, _ field: TextField) -> Int {
        removeLine()
        var length = 0
        forEachWord(in: text) { memory, word in
            memory.line.append(
                (
                    String(decoding: word.bytes, as: UTF8.self), word.isVariant ? length - 1 : length, word.isVariant
                ))
            if !word.isVariant { length += 1 }
            memory.count(word.bytes, isInTitle: true)
        }
        for (word, position, _) in line {
            let place = field == .title ? TitlePlace(position: position, length: length) : .keyword
            places[word] = min(place, places[word] ?? place)
        }
        if length <= Self.mostWordsOfWhole {
            // A text without variants is searched by its words.
            let sought = line.contains(where: \.isVariant) ? TextAnalyzer.searchWords(of: text) : line.map(\.word)
            if let term = RankedWords.term(ofWhole: field, words: sought) { wholes.insert(term) }
        }
        return length
    }

    private mutating func count(_ word: UnsafeBufferPointer<UInt8>, isInTitle: Bool = false) {
        let index = stems.withStem(of: word, in: language) { table.number(of: $0) }
        if index == found.count { found.append(Found()) }
        if isInTitle { found[index].isInTitle = true }
        if found[index].count == 0 { met.append(index) }
        found[index].count += 1
    }

    private mutating func forEachWord(in text: String, _ body: (inout Memory, TextAnalyzer.Word) -> Void) {
        var text = text
        text.withUTF8 { bytes in
            TextAnalyzer.forEachWord(in: bytes, variants: true) { word in
                body(&self, word)
                return true
            }
        }
    }
}
