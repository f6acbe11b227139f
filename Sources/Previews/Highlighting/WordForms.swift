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
        /// The searched stems for each language of a text so far.
        var sought: [WordLanguage?: Sought] = [:]
    }

    /// The searched stems for texts in a language.
    private struct Sought {
        /// The languages in which words of the text are stemmed.
        var spoken: [WordLanguage]
        /// The stems of each word.
        var stems: [Set<[UInt8]>]
        /// `true` for words whose forms may have any second byte.
        var anySecondByte: [Bool]
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
        state.withLock { state in
            let sought = state.sought[language] ?? makeSought(language, state.stemmer)
            state.sought[language] = sought
            return body { index, word in
                guard let searched = words[index], word.count > 1, searched.count > 1,
                    word[1] == searched[1] || sought.anySecondByte[index]
                else { return false }
                return sought.spoken.contains { language in
                    state.stemmer.withStem(of: word, in: language) { stem in
                        stem.count > 1 && sought.stems[index].contains { stem.elementsEqual($0) }
                    }
                }
            }
        }
    }

    private func makeSought(_ language: WordLanguage?, _ stemmer: WordStems) -> Sought {
        let typed = Set(languages + [language].compactMap(\.self))
        let stems = words.map { word in
            guard let word else { return [] as Set<[UInt8]> }
            let text = String(decoding: word, as: UTF8.self)
            return Set(typed.map { Array(stemmer.stem(text, in: $0).utf8) })
        }
        // In most languages, a word has the same first two bytes as its stem if that is not short.
        let anySecondByte = stems.map { stems in
            changeBeginnings(in: language) || stems.contains { $0.count <= Relevance.longestIrregularStem }
        }
        return Sought(
            spoken: language.map { [$0] } ?? Array(typed), stems: stems, anySecondByte: anySecondByte)
    }
}
