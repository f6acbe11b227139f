// SPDX-License-Identifier: Apache-2.0

extension CSUserQuery {
    /// The completions of what was typed, the likeliest first. Reading this property starts to look for them, and the
    /// handlers of the query are not called then.
    ///
    /// It can be iterated once. Leaving the loop, or cancelling its task, cancels the query.
    public var suggestions: Suggestions {
        run.begin(.suggestions)
        return Suggestions(run: run)
    }

    /// One text that may replace what was typed.
    public struct Suggestion: Identifiable, Hashable, Comparable, @unchecked Sendable {
        // Sendable: suggestions never change.

        /// The whole text.
        public var id: String { suggestion.text }
        /// The text, with the part that was typed marked.
        public var suggestion: CSSuggestion

        init(_ suggestion: CSSuggestion) { self.suggestion = suggestion }

        /// Whether the first is likelier, by its rank.
        public static func < (first: Suggestion, second: Suggestion) -> Bool {
            first.suggestion.compare(byRank: second.suggestion) == .orderedAscending
        }

        /// Whether the first is less likely, by its rank.
        public static func > (first: Suggestion, second: Suggestion) -> Bool { second < first }

        /// Whether both are the same text.
        public static func == (first: Suggestion, second: Suggestion) -> Bool { first.suggestion == second.suggestion }

        /// Equal for the same text.
        public func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    /// The suggestions of a query.
    public struct Suggestions: AsyncSequence, Sendable {
        /// What is read.
        public typealias Element = Suggestion
        /// What reads it.
        public typealias AsyncIterator = Iterator

        let run: QueryRun

        /// Reads the suggestions one by one.
        public struct Iterator: AsyncIteratorProtocol {
            private let reading: QueryReading
            private var ready: [Suggestion].SubSequence = []
            private var hasSuggested = false

            init(_ run: QueryRun) { reading = QueryReading(run, .suggestions) }

            /// The next suggestion, `nil` at the end.
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

        /// Reads the suggestions, once.
        public func makeAsyncIterator() -> Iterator { Iterator(run) }
    }
}
