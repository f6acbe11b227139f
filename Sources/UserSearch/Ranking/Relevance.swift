// SPDX-License-Identifier: Apache-2.0
import TextAnalysis

/// The kind of match between an item and the typed text, best first.
public enum Fit: Int, Hashable, Sendable, Comparable, CaseIterable, Codable {
    /// A whole title equals the text.
    case wholeTitle
    /// A whole keyword, the identifier or the file name equals the text.
    case wholeName
    /// A title begins with the text.
    case titleStart
    /// All words occur in titles and keywords.
    case title
    /// All words occur in the item.
    case text
    /// Some of the words occur in the item.
    case someWords
    /// A word in the title or keywords contains the last word, and the other words are present.
    case insideWords
    /// None of the words occurs in the item, but the item's meaning is similar to the text's.
    case meaning

    /// `true` if the item contains all words.
    public var hasAllWords: Bool { self != .someWords && self != .meaning }

    /// Returns `true` if one kind of match is better than the other.
    public static func < (one: Fit, other: Fit) -> Bool { one.rawValue < other.rawValue }
}

/// The components of a score.
///
///     score = (evidence + words + nearness + engagement + meaning) × freshness
public struct ScoreParts: Hashable, Sendable, Codable {
    /// The kind of match.
    public var fit: Fit
    /// The value of the kind of match, 0 to 2.
    public var evidence: Double
    /// The strength of the words in the item, weighted by rarity: 0 to 1.
    public var words: Double
    /// The proximity of the words to each other: 0 to 0.1.
    public var nearness: Double
    /// The age weight of the item: 0.85 to 1.
    public var freshness: Double

    /// The amount added for earlier engagement: 0 to ``LearnedRanking/maximum``.
    public var engagement: Double
    /// The amount added for a similar meaning (``MeaningRule``); 0 without an embedding model.
    public var meaning = 0.0

    /// Creates the components of a score.
    public init(
        fit: Fit, evidence: Double, words: Double, nearness: Double, freshness: Double, engagement: Double = 0
    ) {
        (self.fit, self.evidence, self.words) = (fit, evidence, words)
        (self.nearness, self.freshness, self.engagement) = (nearness, freshness, engagement)
    }

    /// The score of the item's texts, regardless of its age and engagement.
    public var textScore: Double { evidence + words + nearness }
    /// The score by which items are sorted.
    public var score: Double { (textScore + engagement + meaning) * freshness }
}

/// The ranking rule (docs/SEARCH.md). Create one value per search, and use it from one thread at a
/// time.
///
/// ```swift
/// let relevance = Relevance(words: words, typed: "annual report")
/// let parts = relevance.parts(of: texts, language: .english, names: [identifier], age: 3)
/// ```
public struct Relevance {
    /// The words to find.
    public let words: [QueryWord]
    /// The typed words, for comparison with whole titles; empty if the text contains anything other
    /// than words.
    private let typed: [String]
    /// The folded typed text; empty under the same condition.
    private let typedText: String
    private let onlyLanguage: WordLanguage?
    private let stems: WordStems
    /// The words as bytes.
    private let patterns: [Pattern]
    /// For each first byte, the patterns with a word or stem that begins with it.
    private let beginnings: PatternTable
    /// For each first byte, all patterns.
    private let all: PatternTable
    /// `true` if items may have a language with ``WordLanguage/changesBeginnings``.
    private let mayChangeBeginnings: Bool
    private let totalRarity: Double

    /// A word to find, as bytes.
    private struct Pattern {
        let text: [UInt8]
        let stems: [[UInt8]]
        let isOpen: Bool
        /// `false` if other words are not considered forms of this word. A single ASCII letter is
        /// the stem of a few words, such as “oda” in Turkish, but a user who types “o” means none
        /// of them.
        let hasForms: Bool
        /// The second bytes that a form of the word may have; `nil` for any.
        private let secondBytes: [Bool]?

        init(_ word: QueryWord) {
            (text, stems, isOpen) = (Array(word.text.utf8), word.stems.map { Array($0.utf8) }, word.isOpen)
            hasForms = stems.contains { $0.count > 1 }
            guard stems.allSatisfy({ $0.count > Relevance.longestIrregularStem && $0[0] < 0x80 }) else {
                secondBytes = nil
                return
            }
            var seconds = [Bool](repeating: false, count: 256)
            for stem in stems { seconds[Int(stem[1])] = true }
            secondBytes = seconds
        }

        /// Returns `false` for most words that are not forms of this word, without a stem: in a
        /// language that does not change beginnings, a word and its stem have the same first two
        /// bytes.
        func mayHaveForm(_ word: UnsafeBufferPointer<UInt8>) -> Bool {
            hasForms && word.count >= 2 && secondBytes?[Int(word[1])] ?? true
        }
    }

    /// The numbers of the patterns for each first byte of a word, in one array.
    private struct PatternTable {
        /// Where the patterns of each byte start in `patterns`, and the end of the last.
        private let starts: [Int]
        private let patterns: [Int]
        /// `true` for each byte that has patterns.
        private let isPresent: [Bool]

        init(_ lists: [[Int]]) {
            var starts = [0]
            for list in lists { starts.append(starts[starts.count - 1] + list.count) }
            (self.starts, patterns, isPresent) = (starts, lists.flatMap { $0 }, lists.map { !$0.isEmpty })
        }

        /// Calls `body` with the words of a text that begin with a byte that has patterns, their
        /// positions, and the numbers of these patterns.
        ///
        /// - Returns: The number of words of the text.
        func forEachWord(
            in text: UnsafeBufferPointer<UInt8>,
            _ body: (TextAnalyzer.Word, _ position: Int, _ patterns: Slice<UnsafeBufferPointer<Int>>) -> Void
        ) -> Int {
            starts.withUnsafeBufferPointer { starts in
                patterns.withUnsafeBufferPointer { patterns in
                    isPresent.withUnsafeBufferPointer { isPresent in
                        TextAnalyzer.forEachWord(in: text, beginningWith: isPresent) { word, position in
                            let first = Int(word.bytes[0])
                            body(word, position, patterns[starts[first]..<starts[first + 1]])
                            return true
                        }
                    }
                }
            }
        }
    }

    /// - Parameters:
    ///   - words: The words in typing order.
    ///   - typed: The typed text; `nil` if it contains anything other than words.
    ///   - onlyLanguage: The language of all items, if they share one.
    ///   - languages: The languages in which the words have stems; `nil` if they are unknown.
    ///   - stems: The stemmer to use, whose cache other parts of the search fill too.
    public init(
        words: [QueryWord], typed: String?, onlyLanguage: WordLanguage? = nil, languages: [WordLanguage]? = nil,
        stems: WordStems = WordStems([])
    ) {
        self.words = words
        self.stems = stems
        self.onlyLanguage = onlyLanguage
        self.typed = typed.map(TextAnalyzer.searchWords) ?? []
        typedText = typed.map(Self.foldedText) ?? ""
        totalRarity = words.reduce(0) { $0 + $1.rarity }
        patterns = words.map(Pattern.init)
        var beginnings = [[Int]](repeating: [], count: 256)
        for (index, pattern) in patterns.enumerated() {
            for first in Set(([pattern.text] + pattern.stems).compactMap(\.first)) {
                beginnings[Int(first)].append(index)
            }
        }
        self.beginnings = PatternTable(beginnings)
        all = PatternTable(Array(repeating: Array(patterns.indices), count: 256))
        let languages = onlyLanguage.map { [$0] } ?? languages ?? WordLanguage.allCases
        mayChangeBeginnings = patterns.contains(where: \.hasForms) && languages.contains(where: \.changesBeginnings)
    }

    /// Returns the score components of an item.
    ///
    /// - Parameters:
    ///   - texts: The text of each field, by field number (``TextField``).
    ///   - language: The language of the item; not evaluated if all items have the same language.
    ///   - names: Other names of the item: its identifier, and its file name.
    ///   - age: The age in days.
    ///   - isInside: Returns `true` if a word in the title or keywords contains the last word.
    ///     Called only if the last word is not found elsewhere.
    /// - Returns: `nil` if the texts contain none of the words, and no name equals the typed text.
    public func parts(
        of texts: [String], language: @autoclosure () -> WordLanguage, names: @autoclosure () -> [String] = [],
        age: Int,
        isInside: () -> Bool = { false }
    ) -> ScoreParts? {
        if words.isEmpty {
            // The text consists only of filters.
            return ScoreParts(
                fit: .text, evidence: evidence(of: .text), words: 0, nearness: 0,
                freshness: FreshnessRule.factor(age: age))
        }
        var match = TextMatch(words: words.count, language: onlyLanguage)
        for field in TextField.allCases where field.rawValue < texts.count {
            read(texts[field.rawValue], field, language, into: &match)
        }
        let isName = !typed.isEmpty && isWholeName(names(), keywords: texts[TextField.keywords.rawValue])
        guard let fit = fit(of: match, isName: isName, isInside: isInside) else { return nil }
        let isSingle = words.count == 1
        var strength = 0.0
        var evidence = evidence(of: fit)
        if match.isSameTitle { evidence += Self.sameTitle }
        if isSingle {
            // For a single word in a title, its position matters, not the number of occurrences.
            if let place = match.words[0].place, fit > .wholeName {
                evidence = place.evidence
                strength = match.words[0].hasWhole ? (match.words[0].hasExact ? 0.7 : 0.6) : 0.3
            } else {
                strength = 0.6 * match.strength(of: 0)
            }
        } else {
            for index in words.indices { strength += words[index].rarity * match.strength(of: index) }
            strength /= max(totalRarity, .leastNormalMagnitude)
            evidence = max(
                evidence, 0.6 * Self.evidence(ofCoverage: coverage { match.words[$0].place != nil }),
                0.3 * Self.evidence(ofCoverage: coverage(match.has)))
        }
        return ScoreParts(
            fit: fit, evidence: evidence, words: strength, nearness: isSingle ? 0 : 0.1 * nearness(match),
            freshness: FreshnessRule.factor(age: age))
    }

    private static func foldedText(_ text: String) -> String {
        TextFolding.folded(text, case: true, diacritics: true)
    }

    /// The additional evidence for a title with the same punctuation: for `locale-gen`, the title
    /// `locale-gen` but not `locale.gen`.
    private static let sameTitle = 0.2

    /// Returns the score components of an item that is found only by its meaning.
    public static func partsWithoutWords(age: Int) -> ScoreParts {
        ScoreParts(fit: .meaning, evidence: 0, words: 0, nearness: 0, freshness: FreshnessRule.factor(age: age))
    }

    /// Returns the share of the total rarity contributed by words with a property, 0 to 1.
    private func coverage(_ has: (Int) -> Bool) -> Double {
        let found = words.indices.reduce(0) { has($1) ? $0 + words[$1].rarity : $0 }
        return found / max(totalRarity, .leastNormalMagnitude)
    }

    /// Returns the share of the evidence for all words that remains if some words are missing: 0
    /// below a coverage of 0.6. An item that lacks only a common word is thus nearly as good as an
    /// item that contains all words.
    package static func evidence(ofCoverage coverage: Double) -> Double {
        let share = max(0, (coverage - leastCoverage) / (1 - leastCoverage))
        return share * share
    }

    private static let leastCoverage = 0.6

    /// Returns the evidence of a kind of match. For a single word in a title, the word's position
    /// is used instead.
    private func evidence(of fit: Fit) -> Double {
        switch fit {
        case .wholeTitle: 2
        case .wholeName: 1.2
        case .titleStart: 0.9
        case .title: 0.6
        case .text: 0.3
        case .insideWords: 0.1
        case .someWords, .meaning: 0
        }
    }

    private func fit(of match: TextMatch, isName: Bool, isInside: () -> Bool) -> Fit? {
        if match.isWholeTitle { return .wholeTitle }
        if isName { return .wholeName }
        if match.isTitleStart { return .titleStart }
        if let first = match.words.first, match.words.allSatisfy({ $0.place != nil }) {
            return words.count == 1 && first.place?.isStart == true ? .titleStart : .title
        }
        let isFound = words.indices.map(match.has)
        let found = isFound.count { $0 }
        if found == words.count { return .text }
        let open = words.firstIndex(where: \.isOpen)
        if found == words.count - 1, let open, !isFound[open], isInside() { return .insideWords }
        return words.indices.contains { isFound[$0] && words[$0].isDistinctive } ? .someWords : nil
    }

    private func isWholeName(_ names: [String], keywords: String) -> Bool {
        names.contains(where: isTyped)
            || keywords.utf8.split(separator: 0x0A).contains { isTyped(String(Substring($0))) }
    }

    /// Returns `true` if a name has the typed words.
    private func isTyped(_ name: String) -> Bool {
        var name = name
        return name.utf8.count <= Self.maximumNameBytes && name.withUTF8(mayBeTyped)
            && TextAnalyzer.searchWords(of: name) == typed
    }

    /// The largest size of a name that is compared, in bytes.
    private static let maximumNameBytes = 1024

    /// Returns `false` only if the words of a text do not begin with the first typed word. Checks
    /// only the first letters.
    private func mayBeTyped(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let wanted = typed.first?.utf8.first else { return false }
        var first: UInt8?
        for byte in text {
            let letter = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
            // Other letters may fold to anything, and the `v` of a version number may be omitted.
            guard letter < 0x80 else { return true }
            guard (0x61...0x7A).contains(letter) || (0x30...0x39).contains(letter) else {
                if first == nil { continue }
                break
            }
            if first == nil { first = letter }
        }
        return first == wanted || first == UInt8(ascii: "v")
    }

    // MARK: Reading

    private func read(
        _ text: String, _ field: TextField, _ language: () -> WordLanguage, into match: inout TextMatch
    ) {
        guard !text.isEmpty else { return }
        var text = text
        text.withUTF8 { bytes in
            if field == .title || field == .keywords {
                for line in bytes.split(separator: 0x0A) {
                    readLine(UnsafeBufferPointer(rebasing: line), field, language, into: &match)
                }
            } else {
                readLine(bytes, field, language, into: &match)
            }
        }
        match.endField(field)
    }

    private func readLine(
        _ text: UnsafeBufferPointer<UInt8>, _ field: TextField, _ language: () -> WordLanguage,
        into match: inout TextMatch
    ) {
        let isTitle = field == .title
        var met: [(place: Int, word: Int, isWhole: Bool, isExact: Bool)] = []
        let readsAll = mayChangeBeginnings && match.language(language).changesBeginnings
        // Most words have another first byte than all patterns, and need no stem, but for languages
        // whose stems have other beginnings.
        let length = (readsAll ? all : beginnings).forEachWord(in: text) { word, place, patterns in
            for index in patterns {
                let kind = kind(of: word.bytes, for: self.patterns[index]) { match.language(language) }
                if let kind { met.append((place, index, kind.isWhole, kind.isExact)) }
            }
        }
        if isTitle, !typed.isEmpty, length >= typed.count, mayBeTyped(text) {
            let title = String(decoding: text, as: UTF8.self)
            let (isWhole, isStart) = Self.compare(typed, isOpen: words.contains(where: \.isOpen), with: title)
            match.isSameTitle = match.isSameTitle || (isWhole && Self.foldedText(title) == typedText)
            match.isWholeTitle = match.isWholeTitle || isWhole
            match.isTitleStart = match.isTitleStart || isStart
        }
        for hit in met {
            match.add(hit.word, isWhole: hit.isWhole, position: match.position + hit.place)
            guard field == .title || field == .keywords else {
                if !hit.isWhole { match.words[hit.word].hasBeginning = true }
                continue
            }
            let place: TitlePlace = isTitle ? TitlePlace(position: hit.place, length: length) : .keyword
            match.words[hit.word].note(place, isWhole: hit.isWhole, isExact: hit.isExact)
        }
        match.length += length
        // Words on different lines are not close to each other.
        match.position += length + Self.maximumGap
    }

    /// Returns whether a title equals the typed words, and whether it begins with them.
    private static func compare(
        _ typed: [String], isOpen: Bool, with title: String
    ) -> (isWhole: Bool, isStart: Bool) {
        let words = TextAnalyzer.searchWords(of: title)
        guard words.count >= typed.count, let last = typed.last else { return (false, false) }
        let isEqual = words.prefix(typed.count - 1).elementsEqual(typed.dropLast())
        guard isEqual else { return (false, false) }
        let final = words[typed.count - 1]
        let isLast = final == last
        return (isLast && words.count == typed.count, typed.count > 1 && (isLast || (isOpen && final.hasPrefix(last))))
    }

    /// Returns the kind of match between a word of a text and a word to find; `nil` if they do not
    /// match.
    package func kind(
        of word: UnsafeBufferPointer<UInt8>, _ language: WordLanguage, for sought: QueryWord
    ) -> (isWhole: Bool, isExact: Bool)? {
        kind(of: word, for: Pattern(sought)) { language }
    }

    private func kind(
        of word: UnsafeBufferPointer<UInt8>, for pattern: Pattern, _ language: () -> WordLanguage
    ) -> (isWhole: Bool, isExact: Bool)? {
        if word.count == pattern.text.count, word.elementsEqual(pattern.text) { return (true, true) }
        if mayChangeBeginnings ? pattern.hasForms && word.count >= 2 : pattern.mayHaveForm(word) {
            let isForm = stems.withStem(of: word, in: language()) { stem in
                pattern.stems.contains { $0.count == stem.count && stem.elementsEqual($0) }
            }
            if isForm { return (true, false) }
        }
        if pattern.isOpen, word.starts(with: pattern.text) { return (false, false) }
        return nil
    }

    /// The length of the longest stem that may have another second byte than its word, in bytes:
    /// “die” is the stem of “dying”.
    package static let longestIrregularStem = 3

    // MARK: Nearness

    /// The largest distance at which words are considered close.
    private static let maximumGap = 8

    /// Returns the proximity, 0 to 1: neighbouring words weighted by rarity, and more the closer
    /// they are.
    private func nearness(_ match: TextMatch) -> Double {
        var near = [Double](repeating: 0, count: words.count)
        for (one, other) in zip(match.occurrences, match.occurrences.dropFirst()) where one.word != other.word {
            let gap = other.position - one.position
            guard gap > 0, gap <= Self.maximumGap else { continue }
            near[one.word] += words[other.word].rarity / Double(gap)
            near[other.word] += words[one.word].rarity / Double(gap)
        }
        let sum = words.indices.reduce(0) { $0 + words[$1].rarity * near[$1] / (near[$1] + 2.5) }
        return sum / max(totalRarity, .leastNormalMagnitude)
    }
}

/// The results of one pass over the texts of an item.
private struct TextMatch {
    var words: [WordMatch]
    /// The language of the item, determined on demand: guessing it takes as long as everything
    /// else.
    private var language: WordLanguage?
    var isWholeTitle = false
    /// `true` if the title equals the typed text character by character, ignoring case and
    /// diacritics.
    var isSameTitle = false
    var isTitleStart = false
    var occurrences: [(word: Int, position: Int)] = []
    var position = 0
    /// The number of words in the field.
    var length = 0

    /// The largest number of occurrences in one item that are compared for proximity.
    private static let maximumOccurrences = 512

    init(words: Int, language: WordLanguage?) {
        self.words = Array(repeating: WordMatch(), count: words)
        self.language = language
    }

    mutating func language(_ language: () -> WordLanguage) -> WordLanguage {
        if let known = self.language { return known }
        let found = language()
        self.language = found
        return found
    }

    mutating func add(_ word: Int, isWhole: Bool, position: Int) {
        if isWhole { words[word].count += 1 }
        guard isWhole, occurrences.count < Self.maximumOccurrences else { return }
        occurrences.append((word, position))
    }

    mutating func endField(_ field: TextField) {
        let occurrence = field.occurrence(inLength: length)
        for index in words.indices where words[index].count > 0 {
            words[index].sum += Double(words[index].count) * occurrence
            words[index].count = 0
        }
        length = 0
    }

    /// Returns `true` if the item contains a word, or a word that begins with it.
    func has(_ word: Int) -> Bool { words[word].isFound }

    /// Returns the strength of a word, 0 to 1; a prefix match has a low strength.
    func strength(of word: Int) -> Double { words[word].strength }
}

/// The occurrences of one word in an item.
private struct WordMatch {
    /// The sum of its occurrences (``WordStrength``).
    var sum = 0.0
    var count = 0
    /// The best position of the word in titles and keywords.
    var place: TitlePlace?
    /// `true` if the word occurs as a whole word in titles or keywords.
    var hasWhole = false
    var hasExact = false
    /// `true` if a word in the other texts begins with it.
    var hasBeginning = false

    var isFound: Bool { sum > 0 || place != nil || hasBeginning }

    var strength: Double {
        if sum > 0 { return WordStrength.value(sum) }
        if place != nil { return 0.6 }
        return hasBeginning ? 0.25 : 0
    }

    mutating func note(_ place: TitlePlace, isWhole: Bool, isExact: Bool) {
        // A whole word takes precedence over a prefix, regardless of position.
        if isWhole == hasWhole || self.place == nil {
            self.place = min(place, self.place ?? place)
        } else if isWhole {
            self.place = place
        }
        hasWhole = hasWhole || isWhole
        hasExact = hasExact || isExact
    }
}
