// SPDX-License-Identifier: Apache-2.0
import TextAnalysis

/// What is filed of an item's text so that a search finds the best items of a word first: each word with its level
/// (``WordStrength``), and the words of titles and keywords with their places (``TitlePlace``). Depends on the texts alone.
///
/// Holds memory for one item after the other; for one thread at a time.
public final class RankedWords {
    private let stems = WordStems([])
    private var language = WordLanguage.english
    private var numbers: [String: Int] = [:]
    private var words: [String] = []
    private var sums: [Double] = []
    private var counts: [Int] = []
    private var met: [Int] = []
    private var places: [String: TitlePlace] = [:]
    private var line: [(word: String, position: Int)] = []

    /// Creates one, without any item.
    public init() {}

    /// The mark of a level, before the stem.
    public static func mark(ofLevel level: Int) -> Character { mark(0x61 + level) }

    /// The mark of a place, before the word.
    public static func mark(of place: TitlePlace) -> Character { mark(0x61 + place.rawValue) }

    private static func mark(_ value: Int) -> Character { Character(Unicode.Scalar(UInt8(value))) }

    /// The words of an item, parted by spaces.
    ///
    /// - Parameters:
    ///   - texts: the text of each field (``TextField``), by its number.
    ///   - language: in which the forms of words are found.
    /// - Returns: `levels`, the stems with their levels; `places`, the words of titles and keywords with their places.
    public func filed(_ texts: [String], language: WordLanguage) -> (levels: String, places: String) {
        self.language = language
        defer { removeAll() }
        for field in TextField.allCases where field.rawValue < texts.count && !texts[field.rawValue].isEmpty {
            add(texts[field.rawValue], field)
        }
        var levels = ""
        levels.reserveCapacity(words.count * 10)
        for (index, word) in words.enumerated() {
            levels.append(Self.mark(ofLevel: WordStrength.level(sums[index])))
            levels += word
            levels += " "
        }
        var titles = ""
        for (word, place) in places.sorted(by: { $0.key < $1.key }) {
            titles.append(Self.mark(of: place))
            titles += word
            titles += " "
        }
        return (levels, titles)
    }

    private func removeAll() {
        numbers.removeAll(keepingCapacity: true)
        words.removeAll(keepingCapacity: true)
        sums.removeAll(keepingCapacity: true)
        counts.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    private func add(_ text: String, _ field: TextField) {
        var length = 0
        met.removeAll(keepingCapacity: true)
        switch field {
        case .title, .keywords:
            for part in text.split(separator: "\n") { length += addLine(String(part), field) }
        case .description, .body:
            forEachWord(in: text) { word, isVariant in
                if !isVariant { length += 1 }
                count(word)
            }
        }
        let occurrence = field.occurrence(inLength: length)
        for index in met {
            sums[index] += Double(counts[index]) * occurrence
            counts[index] = 0
        }
    }

    /// Adds a title or a keyword.
    ///
    /// - Returns: How many words it has.
    private func addLine(_ text: String, _ field: TextField) -> Int {
        line.removeAll(keepingCapacity: true)
        var length = 0
        forEachWord(in: text) { word, isVariant in
            line.append((word, isVariant ? length - 1 : length))
            if !isVariant { length += 1 }
            count(word)
        }
        for (word, position) in line {
            let place = field == .title ? TitlePlace(position: position, length: length) : .keyword
            places[word] = min(place, places[word] ?? place)
        }
        return length
    }

    private func count(_ word: String) {
        let stem = stems.stem(word, in: language)
        let index = numbers[stem] ?? words.count
        if index == words.count {
            numbers[stem] = index
            words.append(stem)
            sums.append(0)
            counts.append(0)
        }
        if counts[index] == 0 { met.append(index) }
        counts[index] += 1
    }

    private func forEachWord(in text: String, _ body: (String, _ isVariant: Bool) -> Void) {
        var text = text
        text.withUTF8 { bytes in
            TextAnalyzer.forEachWord(in: bytes, variants: true) { word in
                body(String(decoding: word.bytes, as: UTF8.self), word.isVariant)
                return true
            }
        }
    }
}
