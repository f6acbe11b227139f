// SPDX-License-Identifier: Apache-2.0
import Synchronization
import UserSearch

/// Memory that the full-text writers of one store share, from transaction to transaction: stems, and words that the dictionary has.
final class FullTextCache: Sendable {
    let words = RankedWords()
    /// Hashes of words that are in the dictionary (``TermWriter``).
    let terms = Mutex<Set<UInt64>>([])

    /// Forgets the words: a transaction was rolled back, or words were taken out of the dictionary.
    func forgetTerms() { terms.withLock { $0 = [] } }
}
