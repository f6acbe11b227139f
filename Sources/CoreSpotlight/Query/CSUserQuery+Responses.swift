// SPDX-License-Identifier: Apache-2.0

extension CSUserQuery {
    /// The suggestions and then the items that the query finds, each best first. Reading this
    /// property starts the query without its handlers.
    ///
    /// Iterate the sequence once. Leaving the loop, or cancelling its task, cancels the query.
    public var responses: Responses {
        run.begin(.responses)
        return Responses(run: run)
    }

    /// An item that a query found.
    public struct Item: Identifiable, Hashable, Comparable, @unchecked Sendable {
        // Sendable: the item is created for this value, and belongs to the caller afterwards.

        /// The item's unique identifier.
        public var id: String { item.uniqueIdentifier }
        /// The item with the fetched attributes.
        public var item: CSSearchableItem

        init(_ item: CSSearchableItem) { self.item = item }

        /// Returns `true` if the first item has the better rank.
        public static func < (first: Item, second: Item) -> Bool {
            first.item.compare(byRank: second.item) == .orderedAscending
        }

        /// Returns `true` if the first item has the lower rank.
        public static func > (first: Item, second: Item) -> Bool { second < first }

        /// Returns `true` if both are the same item.
        public static func == (first: Item, second: Item) -> Bool { first.id == second.id }

        /// Hashes the item's identifier.
        public func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    /// A query's suggestions and items as an asynchronous sequence.
    public struct Responses: AsyncSequence, Sendable {
        /// The type of the elements.
        public typealias Element = Response
        /// The type of the iterator.
        public typealias AsyncIterator = Iterator

        let run: QueryRun

        /// An item or a suggestion.
        public enum Response: Identifiable, Hashable, @unchecked Sendable {
            // Sendable: like its values.

            /// An item that was found.
            case item(CSUserQuery.Item)
            /// A text that can replace the typed text.
            case suggestion(CSUserQuery.Suggestion)

            /// The identifier of the item or suggestion.
            public var id: String {
                switch self {
                case .item(let item): item.id
                case .suggestion(let suggestion): suggestion.id
                }
            }
        }

        /// An iterator over the responses.
        public struct Iterator: AsyncIteratorProtocol {
            private let reading: QueryReading
            private var ready: [Response].SubSequence = []
            private var hasSuggested = false

            init(_ run: QueryRun) { reading = QueryReading(run, .responses) }

            /// Returns the next response; `nil` at the end.
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

        /// Creates an iterator. Call it once.
        public func makeAsyncIterator() -> Iterator { Iterator(run) }
    }
}
