// SPDX-License-Identifier: Apache-2.0
import CStemmer

/// Stems folded words with Snowball, so that `connect` finds `connections` and `connected`.
///
/// Words and stems are folded (lower case, without diacritics), but Snowball's rules expect the
/// accents of the language. So the endings that folding changes are restored first
/// (``FoldedEndings``), and the stem is folded again. docs/SEARCH.md lists the remaining losses for
/// each language.
///
/// Some words are not changed: words longer than ``maximumBytes`` or shorter than three bytes,
/// words with ASCII digits, and words whose stem would be empty.
///
/// ```swift
/// let stems = WordStems(languages: ["de-AT", "en"])
/// stems.stem("hausern")                // "haus"
/// stems.stem("running", in: .english)  // "run"
/// ```
///
/// Not thread-safe, because a stemmer has one buffer. Use a separate instance for each thread.
public final class WordStems {
    /// The length of the longest word that is stemmed, in UTF-8 bytes.
    public static let maximumBytes = 64

    /// The distinct requested languages that have a stemmer, in order.
    public let languages: [WordLanguage]
    /// The stemmers, one per case of ``WordLanguage``, created on first use.
    private var stemmers: [OpaquePointer?]
    private var cache = StemCache()
    /// The language of the last word and its index, because looking up an index takes as long as a
    /// cached stem.
    private var last: (language: WordLanguage, index: Int)?

    /// Creates stemmers for languages by their BCP 47 tags.
    ///
    /// - Parameter tags: The tags. The first known tag determines the language for ``stem(_:)``;
    ///   unknown tags are ignored.
    public convenience init(languages tags: [String]) { self.init(tags.compactMap { WordLanguage(tag: $0) }) }

    /// Creates stemmers for languages.
    public init(_ languages: [WordLanguage]) {
        var seen: Set<WordLanguage> = []
        self.languages = languages.filter { seen.insert($0).inserted }
        stemmers = Array(repeating: nil, count: WordLanguage.allCases.count)
    }

    deinit {
        for stemmer in stemmers { sb_stemmer_delete(stemmer) }
    }

    /// Returns the stem of a folded word in the first of ``languages``; the word itself if there is
    /// none.
    public func stem(_ word: String) -> String {
        guard let first = languages.first else { return word }
        return stem(word, in: first)
    }

    /// Returns the stem of a folded word.
    public func stem(_ word: String, in language: WordLanguage) -> String {
        var word = word
        return word.withUTF8 { bytes in withStem(of: bytes, in: language) { String(decoding: $0, as: UTF8.self) } }
    }

    /// Calls `body` with the stem of a folded word. Intended for indexing, because it copies
    /// nothing.
    ///
    /// - Parameters:
    ///   - word: The folded word in valid UTF-8.
    ///   - body: Receives the stem, whose bytes are valid until `body` returns. `body` must not
    ///     stem words.
    public func withStem<Result>(
        of word: UnsafeBufferPointer<UInt8>, in language: WordLanguage,
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result {
        guard (3...Self.maximumBytes).contains(word.count), !word.contains(where: { $0 &- 0x30 < 10 }) else {
            return try body(word)
        }
        guard word.count <= StemCache.longestWord else {
            let stem = uncachedStem(word, language)
            return try stem.withUnsafeBufferPointer(body)
        }
        let key = StemCache.Key(word, languageAt: index(of: language))
        if let slot = cache.slot(of: key) { return try cache.withStem(at: slot, body) }
        let stem = uncachedStem(word, language)
        guard stem.count <= StemCache.longestWord else { return try stem.withUnsafeBufferPointer(body) }
        return try cache.withStem(at: cache.store(stem, for: key), body)
    }

    private func index(of language: WordLanguage) -> Int {
        if let last, last.language == language { return last.index }
        let index = language.index
        last = (language, index)
        return index
    }

    private func uncachedStem(_ word: UnsafeBufferPointer<UInt8>, _ language: WordLanguage) -> [UInt8] {
        guard let stemmer = stemmer(for: language) else { return Array(word) }
        var accented = Array(word)
        FoldedEndings.restore(&accented, language)
        let bytes: [UInt8] = accented.withUnsafeBufferPointer { input in
            guard let stem = sb_stemmer_stem(stemmer, input.baseAddress, Int32(input.count)) else { return [] }
            return Array(UnsafeBufferPointer(start: stem, count: Int(sb_stemmer_length(stemmer))))
        }
        if bytes.isEmpty { return Array(word) }
        if bytes.allSatisfy({ $0 < 0x80 }) { return bytes }
        return Array(FoldedText.fold(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    /// Returns the stemmer for a language; `nil` if the library lacks it or memory is exhausted.
    private func stemmer(for language: WordLanguage) -> OpaquePointer? {
        let index = index(of: language)
        if let stemmer = stemmers[index] { return stemmer }
        stemmers[index] = sb_stemmer_new(language.rawValue, "UTF_8")
        return stemmers[index]
    }
}

extension WordLanguage {
    /// The index of this language among all cases, for tables.
    var index: Int { Self.positions[self] ?? 0 }

    private static let positions = Dictionary(uniqueKeysWithValues: zip(allCases, 0...))
}
