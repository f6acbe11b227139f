// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import TextAnalysis

extension SearchIndex {
    /// Texts that complete the last word of a text, best first: words of the best hits of a search for it.
    ///
    /// Only items of the bundle are looked at, so that no word of another's shows.
    ///
    /// - Parameters:
    ///   - text: What was typed so far. If its last word is finished, there is nothing to complete.
    ///   - bundle: Whose items.
    ///   - limit: At most so many.
    public func completions(
        of text: String, bundle: String, limit: Int
    ) async throws(IndexQueryError) -> [String] {
        guard let typed = WordBeingTyped(text) else { return [] }
        var request = SearchRequest(text, bundle: bundle)
        request.findsInsideWords = false
        request.attributes = Set(WordBeingTyped.attributes)
        request.limit = WordBeingTyped.hits
        let page = try await search(request)
        let fitting = page.hits.filter { $0.kind != .someWords }
        return typed.completions(in: fitting.map(\.item.record), limit: limit)
    }
}

/// The last word of what a person types, and what may become of it.
struct WordBeingTyped {
    /// So many of the best hits are looked at.
    static let hits = 64
    /// So many bytes of one text, and so many words of one item, are looked at.
    static let bytesOfText = 16 << 10
    static let wordsOfItem = 4096
    /// The attributes with words that a person would expect, titles first.
    static let attributes = [
        "title", "displayName", "alternateNames", "keywords", "contactKeywords", "subject", "contentDescription",
        "authorNames", "recipientNames", "textContent",
    ]

    /// What stands before the word.
    private let beginning: String
    /// The word, folded.
    private let prefix: String

    /// `nil` if the text does not end in a word that may go on, or is longer than a search looks at.
    init?(_ text: String) {
        // Of a longer one a search sees only the beginning, and each suggestion would repeat all of it.
        guard text.utf8.count <= UserQuery.maximumBytes else { return nil }
        guard let last = UserQuery(text).terms.last, last.isPrefix else { return nil }
        var word: (start: Int, end: Int, folded: String) = (0, 0, "")
        var bytes = text
        bytes.withUTF8 { bytes in
            TextAnalyzer.forEachWord(in: bytes, variants: false) {
                word = ($0.range.lowerBound, $0.range.upperBound, String(decoding: $0.bytes, as: UTF8.self))
                return true
            }
        }
        guard !word.folded.isEmpty, word.end == text.utf8.count else { return nil }
        beginning = String(decoding: text.utf8.prefix(word.start), as: UTF8.self)
        prefix = word.folded
    }

    /// The completed texts, best first: words of better hits, and words that more hits have, come first.
    func completions(in records: [ItemRecord], limit: Int) -> [String] {
        var candidates: [String: (text: String, score: Double)] = [:]
        for (place, record) in records.enumerated() {
            let weight = 1 / Double(place + 4)
            var seen: Set<String> = []
            for (word, folded) in words(of: record) where seen.insert(folded).inserted {
                candidates[folded, default: (word, 0)].score += weight
            }
        }
        let best = candidates.sorted {
            ($1.value.score, $0.key.utf8.count, $0.key) < ($0.value.score, $1.key.utf8.count, $1.key)
        }
        return best.prefix(max(0, limit)).map { beginning + $0.value.text }
    }

    /// The words of an item that go on where the typed one ends, and their folded forms.
    private func words(of record: ItemRecord) -> [(String, String)] {
        var found: [(String, String)] = []
        var looked = 0
        let prefix = Array(prefix.utf8)
        for name in Self.attributes where record.isSearchable(name) {
            for text in record.texts(name) {
                let bytes = Array(text.utf8.prefix(Self.bytesOfText))
                bytes.withUnsafeBufferPointer { bytes in
                    TextAnalyzer.forEachWord(in: bytes, variants: true) { word in
                        looked += 1
                        guard looked <= Self.wordsOfItem else { return false }
                        guard word.bytes.count > prefix.count, word.bytes.starts(with: prefix) else { return true }
                        // A word that the cut went through would be wrong.
                        if word.range.upperBound == bytes.count, bytes.count == Self.bytesOfText { return true }
                        let completion = UnsafeBufferPointer(rebasing: bytes[word.range])
                        found.append(
                            (String(decoding: completion, as: UTF8.self), String(decoding: word.bytes, as: UTF8.self)))
                        return true
                    }
                }
                guard looked <= Self.wordsOfItem else { return found }
            }
        }
        return found
    }
}
