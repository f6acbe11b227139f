// SPDX-License-Identifier: Apache-2.0

extension CSUserQuery {
    /// The completions of the typed text, best first. Reading this property starts the search for
    /// completions without the query's handlers.
    ///
    /// Iterate the sequence once. Leaving the loop, or cancelling its task, cancels the query.
    public var suggestions: Suggestions {
        run.begin(.suggestions)
        return Suggestions(run: run)
    }

    /// A text that can replace the typed text.
    public struct Suggestion: Identifiable, Hashable, Comparable, @unchecked Sendable {
        // Sendable: suggestions are immutable.

        /// The complete text.
        public var id: String { suggestion.text }
        /// The text with its typed part marked.
        public var suggestion: CSSuggestion

        init(_ suggestion: CSSuggestion) { self.suggestion = suggestion }

        /// Returns `true` if the first suggestion has the better rank.
        public static func < (first: Suggestion, second: Suggestion) -> Bool {
            first.suggestion.compare(byRank: second.suggestion) == .orderedAscending
        }

        /// Returns `true` if the first suggestion has the lower rank.
        public static func > (first: Suggestion, second: Suggestion) -> Bool { second < first }

        /// Returns `true` if both have the same text and kind.
        public static func == (first: Suggestion, second: Suggestion) -> Bool { first.suggestion == second.suggestion }

        /// Hashes the text.
        public func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    /// A query's suggestions as an asynchronous sequence.
    public struct Suggestions: AsyncSequence, Sendable {
        /// The type of the elements.
        public typealias Element = Suggestion
        /// The type of the iterator.
        public typealias AsyncIterator = Iterator

        let run: QueryRun

        /// An iterator over the suggestions.
        public struct Iterator: AsyncIteratorProtocol {
            private let reading: QueryReading
            private var ready: [Suggestion].SubSequence = []
            private var hasSuggested = false

            init(_ run: QueryRun) { reading = QueryReading(run, .suggestions) }

            /// Returns the next suggestion; `nil` at the end.
            ///
            /// - Throws: ``CSSearchQueryError``, or `CancellationError` if the task was cancelled.
            public mutating func next() async throws -> Suggestion? {
                if !hasSuggested {
                    hasSuggested = true
                    ready = try await reading.suggestions()[...]
                }
                guard let suggestion = ready.popFirst() else {
                    reading.finish()
                    return nil
                }
                return suggestion
            }
        }

        /// Creates an iterator. Call it once.
        public func makeAsyncIterator() -> Iterator { Iterator(run) }
    }
}
