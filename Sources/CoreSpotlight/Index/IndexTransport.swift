// SPDX-License-Identifier: Apache-2.0

/// One thing to do with an index; each is done wholly or not at all.
enum IndexRequest: Sendable, Equatable {
    /// Adds, replaces or updates items: a ``ServiceProtocol/RecordBatch``.
    case index(batch: [UInt8])
    /// Deletes the items with these identifiers.
    case deleteItems([String])
    /// Deletes these domains and all below them.
    case deleteDomains([String])
    /// Deletes every item.
    case deleteAll
}

/// The way to the service that holds the index.
///
/// Sending is not asynchronous, for the requests of an app must arrive in the order in which it made them (many delete
/// everything first, and do not wait); only the answers are.
protocol IndexTransport: Sendable {
    /// Sends a request, and blocks while too much is under way. Never called from two threads at once.
    ///
    /// - Parameters:
    ///   - indexName: `nil` for the default index.
    ///   - completion: called once, on any thread, before `send` returns or later: with `nil` when the request is
    ///     durable. It must not block.
    func send(_ request: IndexRequest, to indexName: String?, completion: @escaping @Sendable (CSIndexError?) -> Void)
}
