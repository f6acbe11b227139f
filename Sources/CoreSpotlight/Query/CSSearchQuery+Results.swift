// SPDX-License-Identifier: Apache-2.0

extension CSSearchQuery {
    /// The items that the query finds, the best first. Reading this property starts the query, and its handlers are not
    /// called then.
    ///
    /// It can be iterated once. Leaving the loop, or cancelling its task, cancels the query.
    public var results: Results {
        run.begin(.results)
        return Results(run: run)
    }

    /// The items that a query finds, as they come.
    public struct Results: AsyncSequence, Sendable {
        /// What is read.
        public typealias Element = Item
        /// What reads it.
        public typealias AsyncIterator = Iterator

        let run: QueryRun

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

        /// Reads the items one by one.
        public struct Iterator: AsyncIteratorProtocol {
            private let reading: QueryReading
            private var ready: [Item].SubSequence = []

            init(_ run: QueryRun) { reading = QueryReading(run, .results) }

            /// The next item, `nil` at the end.
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

        /// Reads the items, once.
        public func makeAsyncIterator() -> Iterator { Iterator(run) }
    }
}
