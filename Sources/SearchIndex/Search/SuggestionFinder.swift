// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery
import TextAnalysis
import UserSearch

extension SearchIndex {
    /// Returns texts that can replace the text being typed, most likely first (docs/SEARCH.md).
    /// Each suggestion finds at least one item, except for a filter without a value.
    ///
    /// With a bundle, only its items are read and counted, so that no words of other bundles are
    /// revealed. Returns no suggestions while a store is being migrated.
    ///
    /// - Throws: ``IndexQueryError``; `cancelled` soon after the task is cancelled.
    public func suggestions(_ request: SuggestionRequest) async throws(IndexQueryError) -> [Suggestion] {
        guard Self.canBeStored(request.bundle), let typed = TypedText(request.text) else { return [] }
        return try await query("Completing a text", includingPending: request.includesPending) { [self] db in
            guard try FullTextIndex.derived.isCurrent(db), try AttributeIndex.isCurrent(db) else { return [] }
            var finder = try SuggestionFinder(self, request, typed, db)
            return try finder.find()
        }
    }
}

/// Finds suggestions for one state of the store. Each source adds candidates in its own order;
/// candidates without results are dropped. To add a source, such as the user's earlier searches,
/// add a call to ``find()``.
struct SuggestionFinder {
    private let request: SuggestionRequest
    private let typed: TypedText
    private let db: Database
    private let counter: SuggestionCounter
    private var suggestions: [Suggestion] = []

    /// The number of newest titles read for a word prefix.
    private static let readTitles = 48
    /// The number of texts containing the other words that are searched for a word with the prefix.
    private static let readTexts = 64
    /// The largest number of suggestions of each kind.
    private static let (maximumTitles, maximumPeople, maximumFilters, maximumCorrections) = (4, 3, 2, 3)
    /// The largest number of candidates counted per list.
    private static let maximumCandidates = 16
    /// The shortest prefix for names; shorter prefixes match too many.
    private static let shortestName = 2

    init(_ index: SearchIndex, _ request: SuggestionRequest, _ typed: TypedText, _ db: Database) throws {
        (self.request, self.typed, self.db) = (request, typed, db)
        counter = try SuggestionCounter(index, bundle: request.bundle, db)
    }

    private var limit: Int { max(1, min(request.limit, Suggestion.maximumCount)) }

    mutating func find() throws -> [Suggestion] {
        if let (name, value) = typed.filter {
            try addValues(of: name, value)
        } else if let (beginning, word) = typed.word {
            try addCompletions(of: word, after: beginning)
            if suggestions.isEmpty { try addCorrections() }
            try addPeople(word)
            try addFilterNames(word)
        }
        return Array(suggestions.prefix(limit))
    }

    /// Adds a suggestion unless it finds nothing or is already present.
    ///
    /// - Parameter known: The number of items that the text finds; `nil` to count them.
    /// - Returns: `true` if the suggestion was added.
    @discardableResult
    private mutating func add(
        _ kind: Suggestion.Kind, _ text: String, _ known: SearchTotal? = nil
    ) throws -> Bool {
        guard text.utf8.count <= UserQuery.maximumBytes, !suggestions.contains(where: { $0.text == text }),
            let total = try known ?? counter.total(text)
        else { return false }
        suggestions.append(Suggestion(kind, text, total: total))
        return true
    }

    // MARK: Completions

    private mutating func addCompletions(of word: String, after beginning: String) throws {
        let others = SearchPlan(counter.words(of: beginning))?.words.map(\.text) ?? []
        var completions = WordCompletions(of: word, beside: others)
        let titles = try titles(with: word, beside: others)
        for (place, text) in titles.enumerated() { completions.add(try counter.record(ofText: text), place: place) }
        if !others.isEmpty, titles.count < Self.readTexts / 4 {
            let sequence = WordSequence([word], isPrefix: true)
            let texts = try counter.texts(withAll: others, limit: Self.readTexts)
            for (place, text) in texts.enumerated() where !titles.contains(text) {
                completions.add(
                    try counter.record(ofText: text, having: sequence), place: titles.count + place, readsText: true)
            }
        } else if others.isEmpty, completions.isSparse {
            let words = try SpellingWords.words(
                beginningWith: word, limit: Self.maximumCandidates, db,
                where: request.bundle == nil ? nil : counter.occurs)
            for text in words { completions.add(text) }
        }
        var titlesLeft = Self.maximumTitles
        // Leaves space for people and filters.
        let most = max(1, limit - Self.maximumPeople, limit / 2)
        for candidate in completions.best.prefix(2 * Self.maximumCandidates) where suggestions.count < most {
            if candidate.kind == .title {
                guard titlesLeft > 0 else { continue }
                titlesLeft -= 1
            }
            try add(candidate.kind, beginning + candidate.text)
        }
    }

    /// Returns the newest texts whose titles or keywords contain all other words, in any form, and
    /// a word that begins with `word`.
    private func titles(with word: String, beside others: [String]) throws -> [Int64] {
        let all =
            others.map { RankedStems.titleExpression(counter.stems(of: $0)) }
            + [TitleWords.expression(word, isPrefix: true)]
        return try counter.list(FullTextIndex.rankedTable, all.joined(separator: " AND "), limit: Self.readTitles)
    }

    // MARK: Corrections

    private mutating func addCorrections() throws {
        guard let run = try counter.run(request.text) else { return }
        let text = counter.words(of: request.text)
        for replacements in try SearchSpelling(run, clock: counter.clock).corrections(
            in: text, limit: Self.maximumCorrections)
        {
            if let corrected = request.text.replacing(replacements) { try add(.correction, corrected) }
        }
    }

    // MARK: People

    private mutating func addPeople(_ word: String) throws {
        guard word.unicodeScalars.count >= Self.shortestName else { return }
        let sources = [("from", FilterCompletion.people), ("to", FilterCompletion.recipients)]
        var left = Self.maximumPeople
        // The whole text as a name takes precedence over its last word alone.
        var typedNames = [(beginning: typed.beginning, name: typed.token)]
        if !typed.beginning.isEmpty { typedNames.insert((beginning: "", name: request.text), at: 0) }
        for (beginning, name) in typedNames {
            for (filter, attributes) in sources {
                for person in try counter.values(of: attributes, beginningWith: name, limit: left) where left > 0 {
                    let text = beginning + FilterCompletion.text(name: filter, value: person.text)
                    if try add(.person, text, beginning.isEmpty ? person.total : nil) { left -= 1 }
                }
            }
        }
    }

    // MARK: Filters

    private mutating func addFilterNames(_ word: String) throws {
        guard word.unicodeScalars.count >= Self.shortestName, typed.token.lowercased() == word else { return }
        var left = Self.maximumFilters
        for name in FilterCompletion.names(beginningWith: word) where left > 0 {
            let attributes = FilterCompletion.attributes(of: name)
            guard try attributes.isEmpty || counter.hasValues(of: attributes) else { continue }
            suggestions.append(Suggestion(.filter, typed.beginning + name + ":", total: nil))
            left -= 1
        }
    }

    private mutating func addValues(of name: String, _ value: String) throws {
        guard let values = FilterCompletion.values(of: name) else { return }
        let folded = TextFolding.folded(value, case: true, diacritics: true)
        let kind: Suggestion.Kind
        let candidates: [(text: String, total: SearchTotal?)]
        switch values {
        case .fixed(let list): (kind, candidates) = (.filter, list.filter { $0.hasPrefix(folded) }.map { ($0, nil) })
        case .attributes(let names):
            kind = names == ["keywords"] ? .filter : .person
            let isAlone = typed.beginning.isEmpty
            candidates = try counter.values(of: names, beginningWith: value, limit: Suggestion.maximumCount)
                .map { ($0.text, isAlone ? $0.total : nil) }
        case .apps: (kind, candidates) = (.filter, try counter.apps(beginningWith: folded).map { ($0, nil) })
        case .folders(let names):
            let words = SearchPlan(counter.words(of: typed.beginning))?.words.map(\.text) ?? []
            let folders = try counter.folders(in: names, beginningWith: folded, beside: words)
            (kind, candidates) = (.filter, folders.map { ($0, nil) })
        case .free: return
        }
        var known: Set<QueryExpression> = []
        for candidate in candidates.prefix(Self.maximumCandidates) where suggestions.count < limit {
            let text = typed.beginning + FilterCompletion.text(name: name.lowercased(), value: candidate.text)
            // If several names have the same meaning, only the first is kept.
            if let meaning = counter.meaning(text), !known.insert(meaning).inserted { continue }
            try add(kind, text, candidate.total)
        }
        // Sorts by frequency, except that dates keep their order.
        if case .fixed(let list) = values, list.contains("today") { return }
        suggestions = suggestions.enumerated().sorted {
            ($1.element.total?.count ?? 0, $0.offset) < ($0.element.total?.count ?? 0, $1.offset)
        }.map(\.element)
    }
}

/// Collects the words and phrases that complete the word being typed, from items in weight order.
struct WordCompletions {
    /// A completion of the word.
    struct Candidate {
        var kind: Suggestion.Kind
        var text: String
        var score: Double
        /// The number of items that contain the completion.
        var items: Int
    }

    /// The work limits: the bytes of one text, and the words of one item.
    private static let (bytesOfText, wordsOfItem) = (16 << 10, 4096)
    /// The largest number of words in a phrase.
    private static let wordsOfPhrase = 3
    /// The smallest number of bytes in the last word of a phrase.
    private static let shortestEnd = 3
    private static let titles = ["title", "displayName", "alternateNames"]
    static let titlesAndKeywords = titles + ["keywords", "contactKeywords"]
    static let texts = ["subject", "contentDescription", "authorNames", "recipientNames", "textContent"]
    /// The number of candidates at which no further source is consulted.
    private static let enough = 3

    private let prefix: [UInt8]
    private let others: Set<String>
    private var candidates: [String: Candidate] = [:]

    /// - Parameters:
    ///   - word: The word being typed, folded.
    ///   - others: The other words of the text, which phrases must not repeat.
    init(of word: String, beside others: [String]) { (prefix, self.others) = (Array(word.utf8), Set(others)) }

    var isSparse: Bool { candidates.count < Self.enough }

    /// The candidates, best first by score. A phrase is included only if at least two items contain
    /// it, or if it ends a title.
    var best: [Candidate] {
        candidates.values.filter { $0.kind != .title || $0.items > 1 || $0.score > 0 }
            .sorted { ($1.score, $0.text.utf8.count, $0.text) < ($0.score, $1.text.utf8.count, $1.text) }
    }

    /// Adds a vocabulary word with score 0.
    mutating func add(_ word: String) {
        guard candidates[word] == nil else { return }
        candidates[word] = Candidate(kind: .completion, text: word, score: 0, items: 1)
    }

    /// Adds the words and phrases of an item.
    ///
    /// - Parameters:
    ///   - place: The number of items added before this one.
    ///   - readsText: `true` to read other attributes besides titles and keywords.
    mutating func add(_ record: ItemRecord?, place: Int, readsText: Bool = false) {
        guard let record else { return }
        let weight = 1 / Double(place + 4)
        var seen: Set<String> = []
        var looked = 0
        for name in Self.titlesAndKeywords + (readsText ? Self.texts : []) where record.isSearchable(name) {
            // Numbers among the keywords of a contact are endings of phone numbers.
            for text in record.texts(name) where name != "contactKeywords" || !Self.isOfNumbers(text) {
                add(text, weight, phrases: Self.titles.contains(name), &seen, &looked)
                guard looked < Self.wordsOfItem else { return }
            }
        }
    }

    private static func isOfNumbers(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 0x20 || (0x30...0x39).contains($0) }
    }

    private mutating func add(
        _ text: String, _ weight: Double, phrases: Bool, _ seen: inout Set<String>, _ looked: inout Int
    ) {
        let bytes = Array(text.utf8.prefix(Self.bytesOfText))
        let isCut = bytes.count == Self.bytesOfText
        var words: [(range: Range<Int>, folded: String, begins: Bool)] = []
        bytes.withUnsafeBufferPointer { bytes in
            TextAnalyzer.forEachWord(in: bytes, variants: false) { word in
                looked += 1
                guard looked < Self.wordsOfItem else { return false }
                // Skips the last word, which may be incomplete.
                if isCut, word.range.upperBound == bytes.count { return true }
                let begins = word.bytes.starts(with: prefix)
                guard begins || phrases else { return true }
                words.append((word.range, String(decoding: word.bytes, as: UTF8.self), begins))
                return true
            }
        }
        for (index, word) in words.enumerated() where word.begins {
            if word.folded.utf8.count > prefix.count {
                note(.completion, bytes[word.range], key: word.folded, weight, &seen)
            }
            guard phrases else { continue }
            for last in words.indices.dropFirst(index + 1).prefix(Self.wordsOfPhrase - 1) {
                let gap = bytes[words[last - 1].range.upperBound..<words[last].range.lowerBound]
                // Any gap other than a single space ends a phrase.
                guard gap.elementsEqual([0x20]), !others.contains(words[last].folded) else { break }
                let range = word.range.lowerBound..<words[last].range.upperBound
                let key = words[index...last].map(\.folded).joined(separator: " ")
                guard words[last].range.count >= Self.shortestEnd else { continue }
                // A phrase is more specific than its first word alone, but less likely to be right.
                note(.title, bytes[range], key: key, last == words.count - 1 ? weight * 0.9 : 0, &seen, weight * 0.9)
            }
        }
    }

    private mutating func note(
        _ kind: Suggestion.Kind, _ bytes: ArraySlice<UInt8>, key: String, _ weight: Double, _ seen: inout Set<String>,
        _ repeated: Double? = nil
    ) {
        guard seen.insert(key).inserted else { return }
        guard var known = candidates[key] else {
            let text = String(decoding: bytes, as: UTF8.self).collapsingWhitespace
            candidates[key] = Candidate(kind: kind, text: text, score: weight, items: 1)
            return
        }
        known.score += repeated ?? weight
        known.items += 1
        candidates[key] = known
    }
}
