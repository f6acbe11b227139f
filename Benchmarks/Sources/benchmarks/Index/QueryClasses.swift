// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// Draws searches from the indexed texts. Equal corpora and seeds give equal searches.
struct QueryClasses {
    private static let perClass = 100
    /// The number of most frequent words, which form their own class. A word is rare if it occurs
    /// in `rareItems` items. All other words are medium.
    private static let commonWords = 100
    private static let rareItems = 1...10
    /// The item count divided by this is the maximum frequency of a medium word.
    private static let middleShare = 200

    private struct Source {
        var bundle: Int
        var title: [String]
        var text: [String]
    }

    private var generator: SplitMix64
    private let sources: [Source]
    private let common: [String]
    private let plain: PlainStore
    private let corpusCount: Int

    init(corpus: Corpus, plain: PlainStore) throws {
        generator = SplitMix64(seed: corpus.seed &+ 1)
        self.plain = plain
        corpusCount = corpus.count
        var places: Set<Int> = []
        while places.count < min(4_000, corpus.count) { places.insert(generator.below(corpus.count)) }
        sources = try corpus.records(at: places.sorted()).map { bundle, record in
            Source(
                bundle: bundle, title: Self.words(of: record.text("title") ?? ""),
                text: Self.words(of: record.text("textContent") ?? ""))
        }
        common = try plain.commonestWords(Self.commonWords)
    }

    /// Splits a text into lower-case ASCII words, which all tokenizers treat the same way. Any
    /// other word becomes an empty string, so that adjacent words in the result are adjacent in the
    /// text.
    private static func words(of text: String) -> [String] {
        text.split { !$0.isLetter && !$0.isNumber }.map { word in
            word.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) } ? word.lowercased() : ""
        }
    }

    mutating func all() throws -> [QueryClass] {
        var classes: [QueryClass] = []
        let rare = try words { Self.rareItems.contains($0) }
        let middle = try words { [corpusCount] in $0 > Self.rareItems.upperBound && $0 <= corpusCount / Self.middleShare
        }
        classes.append(QueryClass(name: "rare word", queries: rare.map { SearchQuery(words: [$0.word]) }))
        classes.append(QueryClass(name: "word in the middle", queries: middle.map { SearchQuery(words: [$0.word]) }))
        classes.append(QueryClass(name: "common word", queries: common.map { SearchQuery(words: [$0]) }))
        classes.append(QueryClass(name: "two words", queries: try draw { try $0.together(2) }))
        classes.append(QueryClass(name: "three words", queries: try draw { try $0.together(3) }))
        classes.append(
            QueryClass(
                name: "two common words",
                queries: draw { SearchQuery(words: [$0.generator.pick($0.common), $0.generator.pick($0.common)]) }))
        classes.append(QueryClass(name: "phrase of two words", queries: draw { $0.phrase() }))
        for length in 1...5 {
            let name = length == 1 ? "first letter" : "first \(length) letters"
            classes.append(QueryClass(name: name, queries: draw { $0.beginning(length) }))
        }
        for length in 1...3 {
            let name = length == 1 ? "word and 1 letter" : "word and \(length) letters"
            classes.append(QueryClass(name: name, queries: try draw { try $0.wordAndBeginning(length) }))
        }
        classes.append(
            QueryClass(
                name: "word of a bundle",
                queries: middle.map { SearchQuery(words: [$0.word], bundle: CorpusMaker.bundle($0.bundle)) }))
        classes.append(QueryClass(name: "4 letters inside of a word", queries: draw { $0.inside() }, kind: .inside))
        classes.append(QueryClass(name: "last 4 letters of a word", queries: draw { $0.end() }, kind: .inside))
        // New classes come last, so that the others keep their searches.
        classes.append(
            QueryClass(name: "question of 8 to 20 words", queries: draw { $0.question() }, kind: .question))
        return classes
    }

    /// Draws the searches for a class from `make`, which may return nil for some items.
    private mutating func draw(_ make: (inout Self) throws -> SearchQuery?) rethrows -> [SearchQuery] {
        var queries: [SearchQuery] = []
        for _ in 0..<(Self.perClass * 100) where queries.count < Self.perClass {
            if let query = try make(&self) { queries.append(query) }
        }
        return queries
    }

    /// Returns distinct words whose number of items satisfies the predicate.
    private mutating func words(where isWanted: (Int) -> Bool) throws -> [(word: String, bundle: Int)] {
        var found: [(word: String, bundle: Int)] = []
        var known: Set<String> = [""]
        for _ in 0..<100_000 where found.count < Self.perClass {
            let source = generator.pick(sources)
            guard let word = pick(source.text), known.insert(word).inserted else { continue }
            if isWanted(try plain.frequency(of: word)) { found.append((word, source.bundle)) }
        }
        return found
    }

    private mutating func pick(_ words: [String], longerThan length: Int = 1) -> String? {
        let words = words.filter { $0.count > length }
        return words.isEmpty ? nil : generator.pick(words)
    }

    /// Draws words from one item, excluding common words.
    private mutating func together(_ count: Int) throws -> SearchQuery? {
        let source = generator.pick(sources)
        let words = Set(source.text + source.title).filter { $0.count > 1 && !common.contains($0) }
        guard words.count >= count else { return nil }
        // The order of a set differs between processes.
        return SearchQuery(words: Array(words.sorted().shuffled(using: &generator).prefix(count)))
    }

    private mutating func phrase() -> SearchQuery? {
        let text = generator.pick(sources).text
        guard text.count > 1 else { return nil }
        let place = generator.below(text.count - 1)
        let words = Array(text[place...(place + 1)])
        guard words.allSatisfy({ $0.count > 1 }), !words.allSatisfy(common.contains) else { return nil }
        return SearchQuery(phrase: words)
    }

    private mutating func beginning(_ length: Int) -> SearchQuery? {
        pick(generator.pick(sources).title, longerThan: length).map { SearchQuery(prefix: String($0.prefix(length))) }
    }

    private mutating func wordAndBeginning(_ length: Int) throws -> SearchQuery? {
        let title = generator.pick(sources).title
        guard let word = pick(title), !common.contains(word), let next = pick(title, longerThan: length), next != word
        else { return nil }
        return SearchQuery(words: [word], prefix: String(next.prefix(length)))
    }

    /// Draws consecutive words of a text, common ones included, and leaves out every fourth, as a
    /// user does not remember a text literally.
    private mutating func question() -> SearchQuery? {
        let text = generator.pick(sources).text.filter { !$0.isEmpty }
        let length = 8 + generator.below(13)
        guard text.count > length * 4 / 3 else { return nil }
        let start = generator.below(text.count - length * 4 / 3)
        let words = text[start...].enumerated().filter { $0.offset % 4 != 3 }.map(\.element)
        return SearchQuery(question: Array(words.prefix(length)))
    }

    private mutating func inside() -> SearchQuery? {
        pick(generator.pick(sources).title, longerThan: 5).map { SearchQuery(inside: String($0.dropFirst().prefix(4))) }
    }

    private mutating func end() -> SearchQuery? {
        pick(generator.pick(sources).title, longerThan: 5).map { SearchQuery(inside: String($0.suffix(4))) }
    }
}
