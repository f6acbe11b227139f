// SPDX-License-Identifier: Apache-2.0

extension CSSearchQuery {
    /// The items that the query finds, best first. Reading this property starts the query without
    /// its handlers.
    ///
    /// Iterate the sequence once. Leaving the loop, or cancelling its task, cancels the query.
    public var results: Results {
        run.begin(.results)
        return Results(run: run)
    }

    /// A query's items as an asynchronous sequence.
    public struct Results: AsyncSequence, Sendable {
        /// The type of the elements.
        public typealias Element = Item
        /// The type of the iterator.
        public typealias AsyncIterator = Iterator

        let run: QueryRun

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

        /// An iterator over the items.
        public struct Iterator: AsyncIteratorProtocol {
            private let reading: QueryReading
            private var ready: [Item].SubSequence = []

            init(_ run: QueryRun) { reading = QueryReading(run, .results) }

            /// Returns the next item; `nil` at the end.
            ///
            /// - Throws: ``CSSearchQueryError``, or `CancellationError` if the task was cancelled.
            public mutating func next() async throws -> Item? {
                if ready.isEmpty { ready = try await reading.items(Item.init)?[...] ?? [] }
                guard let item = ready.popFirst() else {
                    reading.finish()
                    return nil
                }
                return item
            }
        }

        /// Creates an iterator. Call it once.
        public func makeAsyncIterator() -> Iterator { Iterator(run) }
    }
}
