// SPDX-License-Identifier: Apache-2.0
import Synchronization
import UserSearch

/// Memory that the full-text writers of one store share, from transaction to transaction: stems, and words that the
/// dictionary and the vocabulary have.
final class FullTextCache: Sendable {
    let words = RankedWords()
    /// Hashes of words that are in the dictionary (``TermWriter``).
    let terms = Mutex<Set<UInt64>>([])

    /// Words that are in the vocabulary (``SpellingWriter``); a writer has them for itself while it works.
    private let spelled = Mutex(MetWords())

    /// Gives the words that are in the vocabulary to a writer.
    func takeSpelled() -> MetWords {
        spelled.withLock { words in
            defer { words = MetWords() }
            return words
        }
    }

    /// Takes the words of a writer back.
    func giveBack(spelled words: MetWords) { spelled.withLock { $0 = words } }

    /// Forgets the words: a transaction was rolled back, or words were taken out of the dictionary or the vocabulary.
    func forgetTerms() {
        terms.withLock { $0 = [] }
        spelled.withLock { $0 = MetWords() }
    }
}
