// SPDX-License-Identifier: Apache-2.0

/// The searches of one desktop. If a desktop sends its searches in order, a newer search replaces
/// the one in progress, whose answer is then ignored. KRunner sends them from several threads, in
/// any order, so several of its searches may be in progress. A value without a clock or effects;
/// its size is bounded.
///
/// ```swift
/// let (turn, replaced) = session.begin()          // cancel `replaced`
/// …
/// guard session.finish(turn, answer) else { … }   // a newer search has replaced it
/// ```
package struct SearchSession: Sendable {
    /// The answer to a search.
    package struct Answer: Hashable, Sendable {
        /// The searched text.
        package var text: String
        /// The identifiers of the results, best first.
        package var identifiers: [ResultIdentifier]
        /// `true` if these are all results of the search.
        package var isComplete: Bool

        package init(text: String, identifiers: [ResultIdentifier], isComplete: Bool) {
            (self.text, self.identifiers, self.isComplete) = (text, identifiers, isComplete)
        }
    }

    /// The maximum number of results of a search.
    package static let maximumResults = 20

    private var last: UInt64 = 0
    /// The searches in progress, oldest first.
    private var running: [UInt64] = []
    /// The number of the search with ``answer``, and the last number that was reserved when it was
    /// given.
    private var answered: (turn: UInt64, last: UInt64) = (0, 0)
    /// The last answer; `nil` before the first answer and after ``end()``.
    package private(set) var answer: Answer?

    /// Creates a session without searches.
    package init() {}

    /// Reserves a number for a request that is not a search.
    package mutating func reserve() -> UInt64 {
        last += 1
        return last
    }

    /// Starts a search.
    ///
    /// - Parameter maximum: The maximum number of searches in progress, with this one. The oldest
    ///   ones are replaced.
    /// - Returns: The search's number, and the numbers of the searches that it replaces.
    package mutating func begin(maximum: Int = 1) -> (turn: UInt64, replaced: [UInt64]) {
        running.append(reserve())
        let replaced = Array(running.dropLast(max(1, maximum)))
        running.removeFirst(replaced.count)
        return (last, replaced)
    }

    /// Ends a search with its answer.
    ///
    /// - Returns: `false` if the search was replaced, or the session has ended. The answer must
    ///   then not be displayed.
    package mutating func finish(_ turn: UInt64, _ answer: Answer) -> Bool {
        guard let index = running.firstIndex(of: turn) else { return false }
        running.remove(at: index)
        // Of two searches in progress at the same time, the one with the longer text is the newer
        // one.
        if let known = self.answer {
            let isOlderText = turn <= answered.last && known.text.hasPrefix(answer.text)
            let isOther = turn < answered.turn && !answer.text.hasPrefix(known.text)
            if isOlderText || isOther { return true }
        }
        (self.answer, answered) = (answer, (turn, last))
        return true
    }

    /// Ends a search without an answer.
    package mutating func fail(_ turn: UInt64) { running.removeAll { $0 == turn } }

    /// Ends the series of searches and forgets their answers.
    ///
    /// - Returns: The numbers of the searches in progress.
    package mutating func end() -> [UInt64] {
        defer { (running, answer) = ([], nil) }
        return running
    }

    /// Narrows the results for a text that continues the previous text: if the last answer was
    /// complete, only results that it contained are kept. If it contained none of them, all found
    /// results are kept, because the search then interpreted the text differently, for example with
    /// a corrected word.
    ///
    /// - Parameters:
    ///   - found: The results for the new text, best first.
    ///   - previous: The results that the desktop claims to have. Only results that this session
    ///     returned are considered.
    package func narrowed(_ found: [ResultIdentifier], text: String, previous: [String]) -> [ResultIdentifier] {
        guard let answer, answer.isComplete, text.hasPrefix(answer.text),
            previous.count == answer.identifiers.count,
            zip(previous, answer.identifiers).allSatisfy({ $0 == $1.text })
        else { return found }
        let known = Set(answer.identifiers)
        let kept = found.filter(known.contains)
        return kept.isEmpty ? found : kept
    }
}
