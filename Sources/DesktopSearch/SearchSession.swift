// SPDX-License-Identifier: Apache-2.0

/// The searches of one desktop. A newer search replaces the one in progress, whose answer is then
/// ignored. A value without a clock or effects; its size is bounded.
///
/// ```swift
/// let (turn, replaced) = session.begin()          // cancel `replaced`
/// …
/// guard session.finish(turn, answer) else { … }   // a newer search has begun
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
    private var running: UInt64?
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
    /// - Returns: The search's number, and the number of the search that it replaces, if one is in
    ///   progress.
    package mutating func begin() -> (turn: UInt64, replaced: UInt64?) {
        let replaced = running
        running = reserve()
        return (last, replaced)
    }

    /// Ends a search with its answer.
    ///
    /// - Returns: `false` if a newer search has started, or the session has ended. The answer must
    ///   then not be displayed.
    package mutating func finish(_ turn: UInt64, _ answer: Answer) -> Bool {
        guard running == turn else { return false }
        running = nil
        self.answer = answer
        return true
    }

    /// Ends a search without an answer.
    package mutating func fail(_ turn: UInt64) { if running == turn { running = nil } }

    /// Ends the series of searches and forgets their answers.
    ///
    /// - Returns: The number of the search in progress, if any.
    package mutating func end() -> UInt64? {
        defer { (running, answer) = (nil, nil) }
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
