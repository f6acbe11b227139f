// SPDX-License-Identifier: Apache-2.0
import Synchronization
import UserSearch

/// Recognises the forms of searched words in texts, as the search does: words with the same stem in
/// the language of the text.
final class WordForms: Sendable {
    /// The searched words, folded, in UTF-8; `nil` for those without forms.
    private let words: [[UInt8]?]
    /// The languages whose stems the searched words have, apart from the language of the text.
    private let languages: [WordLanguage]
    private let state = Mutex(State())

    private struct State {
        /// A stemmer has a buffer, so one thread uses it at a time.
        let stemmer = WordStems([])
        /// The stems of ``words`` in each language used so far.
        var stems: [WordLanguage: [[UInt8]]] = [:]
    }

    /// Creates a finder.
    ///
    /// - Parameters:
    ///   - words: The searched words, folded, in UTF-8; `nil` for those without forms.
    ///   - languages: The languages that the user may have typed.
    init(_ words: [[UInt8]?], languages: [WordLanguage]) {
        (self.words, self.languages) = (words, languages)
    }

    /// Returns `true` if words may begin with other bytes than their forms.
    ///
    /// - Parameter language: The language of the text; `nil` if it is unknown.
    func changeBeginnings(in language: WordLanguage?) -> Bool {
        language?.changesBeginnings ?? languages.contains(where: \.changesBeginnings)
    }

    /// Calls `body` with a test for forms: whether a folded word of the text is a form of the
    /// searched word with an index.
    ///
    /// - Parameters:
    ///   - language: The language of the text; `nil` if it is unknown. The word then needs the same
    ///     stem in one of the languages that the user may have typed.
    ///   - body: Must not call this instance.
    func withTest<Result: Sendable>(
        in language: WordLanguage?, _ body: ((_ index: Int, _ word: UnsafeBufferPointer<UInt8>) -> Bool) -> Result
    ) -> Result {
        let sought = Array(Set(languages + [language].compactMap(\.self)))
        let spoken = language.map { [$0] } ?? sought
        return state.withLock { state in
            for language in sought where state.stems[language] == nil {
                state.stems[language] = words.map { word in
                    word.map { Array(state.stemmer.stem(String(decoding: $0, as: UTF8.self), in: language).utf8) } ?? []
                }
            }
            let stems = words.indices.map { index in Set(sought.compactMap { state.stems[$0]?[index] }) }
            let anySecondByte = stems.map { stems in
                changeBeginnings(in: language) || stems.contains { $0.count <= Relevance.longestIrregularStem }
            }
            return body { index, word in
                guard let searched = words[index], word.count > 1, searched.count > 1,
                    word[0] >= 0x80 || word[1] == searched[1] || anySecondByte[index]
                else { return false }
                return spoken.contains { language in
                    state.stemmer.withStem(of: word, in: language) { stem in
                        stem.count > 1 && stems[index].contains { stem.elementsEqual($0) }
                    }
                }
            }
        }
    }
}
