// SPDX-License-Identifier: Apache-2.0

extension CSUserQuery {
    /// What the query finds: first the suggestions, then the items, each the best first. Reading this property starts the
    /// query, and its handlers are not called then.
    ///
    /// It can be iterated once. Leaving the loop, or cancelling its task, cancels the query.
    public var responses: Responses {
        run.begin(.responses)
        return Responses(run: run)
    }

    /// One item that a query found.
    public struct Item: Identifiable, Hashable, Comparable, @unchecked Sendable {
        // Sendable: the item is made for this value, and is the caller's from then on.

        /// The item's unique identifier.
        public var id: String { item.uniqueIdentifier }
        /// The item, with those of its attributes that were to be fetched.
        public var item: CSSearchableItem

        init(_ item: CSSearchableItem) { self.item = item }

        /// Whether the first fits the query better, by its rank.
        public static func < (first: Item, second: Item) -> Bool {
            first.item.compare(byRank: second.item) == .orderedAscending
        }

        /// Whether the first fits the query less, by its rank.
        public static func > (first: Item, second: Item) -> Bool { second < first }

        /// Whether both are the same item.
        public static func == (first: Item, second: Item) -> Bool { first.id == second.id }

        /// Equal for the same item.
        public func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    /// The items and suggestions of a query, as they come.
    public struct Responses: AsyncSequence, Sendable {
        /// What is read.
        public typealias Element = Response
        /// What reads it.
        public typealias AsyncIterator = Iterator

        let run: QueryRun

        /// An item or a suggestion.
        public enum Response: Identifiable, Hashable, @unchecked Sendable {
            // Sendable: as the values in it.

            /// An item that was found.
            case item(CSUserQuery.Item)
            /// A text that may replace what was typed.
            case suggestion(CSUserQuery.Suggestion)

            /// The identifier of the item or suggestion.
            public var id: String {
                switch self {
                case .item(let item): item.id
                case .suggestion(let suggestion): suggestion.id
                }
            }
        }

        /// Reads the responses one by one.
        public struct Iterator: AsyncIteratorProtocol {
            private let reading: QueryReading
            private var ready: [Response].SubSequence = []
            private var hasSuggested = false

            init(_ run: QueryRun) { reading = QueryReading(run, .responses) }

            /// The next response, `nil` at the end.
            ///
            /// - Throws: ``CSSearchQueryError``, or `CancellationError` if the task was cancelled.
            public mutating func next() async throws -> Response? {
                if !hasSuggested {
                    hasSuggested = true
                    ready = try await reading.suggestions().map(Response.suggestion)[...]
                }
                if ready.isEmpty { ready = try await reading.items { .item(CSUserQuery.Item($0)) }?[...] ?? [] }
                guard let response = ready.popFirst() else {
                    reading.finish()
                    return nil
                }
                return response
            }
        }

        /// Reads the responses, once.
        public func makeAsyncIterator() -> Iterator { Iterator(run) }
    }
}
