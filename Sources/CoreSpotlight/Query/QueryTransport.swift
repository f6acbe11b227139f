// SPDX-License-Identifier: Apache-2.0

internal import ServiceMessages

/// A request for one page of results.
struct ResultPageRequest: Sendable, Equatable {
    enum Kind: Sendable { case query, userText, userWords }

    /// The kind of `text`: a query in the query language, typed text, or typed text of which only
    /// the words are used.
    let kind: Kind
    let text: String
    /// Additional queries. Results must satisfy all of them.
    let filters: [String]
    /// The attributes to include in the results.
    let attributes: [String]
    /// The cursor from the previous page; empty for the first page.
    let cursor: [UInt8]
    /// The maximum number of records, at least 1.
    let limit: Int
    /// The protection classes of the indexes to search; empty for all.
    var classes = QueryPageRequest.defaultClasses
}

/// A page of results.
struct ResultPage: Sendable {
    /// The encoded ``ItemRecord``s, best first.
    var records: [[UInt8]]
    /// The cursor of the next page; `nil` after the last.
    var next: [UInt8]?
}

/// Transports queries to the service.
///
/// Pages are pulled, so that unread results are not kept in memory. The caller chooses `number`,
/// which identifies one call.
protocol QueryTransport: Sendable {
    /// Returns the requested page.
    ///
    /// - Throws: ``CSSearchQueryError/Code/invalidQuery`` with the position and the expected input,
    ///   ``CSSearchQueryError/Code/indexUnreachable``, or ``CSSearchQueryError/Code/cancelled``
    ///   after ``cancel(number:)``.
    func page(_ request: ResultPageRequest, number: UInt64) async throws(CSSearchQueryError) -> ResultPage

    /// Returns complete texts that continue a typed text, best first, at most `limit`.
    func suggestions(for text: String, limit: Int, number: UInt64) async throws(CSSearchQueryError) -> [String]

    /// Reports the user's interaction with an item that was found for a text: `select` or `focus`.
    /// Must not block. There is no reply.
    func engaged(item: String, after text: String, kind: String, number: UInt64)

    /// Asks the service to prepare for searches by meaning. Must not block. There is no reply.
    func prepare(number: UInt64)

    /// Cancels a call. Calls that are unknown or have ended are ignored. Must not block.
    func cancel(number: UInt64)
}
