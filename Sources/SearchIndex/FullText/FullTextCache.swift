// SPDX-License-Identifier: Apache-2.0
import Synchronization
import UserSearch

/// Caches that the full-text writers of one store share across transactions: stems, and known words
/// of the dictionary and the vocabulary.
final class FullTextCache: Sendable {
    let words = RankedWords()
    /// The hashes of words in the dictionary (``TermWriter``).
    let terms = Mutex<Set<UInt64>>([])

    /// The known words of the vocabulary. A ``SpellingWriter`` has exclusive access while it works.
    private let spelled = Mutex(MatchedWords())

    /// Moves the known words of the vocabulary to a writer.
    func takeSpelled() -> MatchedWords {
        spelled.withLock { words in
            defer { words = MatchedWords() }
            return words
        }
    }

    /// Stores the known words of a writer.
    func giveBack(spelled words: MatchedWords) { spelled.withLock { $0 = words } }

    /// Removes all known words after a rollback, or after words were removed from the dictionary or
    /// the vocabulary.
    func forgetTerms() {
        terms.withLock { $0 = [] }
        spelled.withLock { $0 = MatchedWords() }
    }
}
