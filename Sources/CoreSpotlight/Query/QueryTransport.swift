// SPDX-License-Identifier: Apache-2.0

/// Asks for one page of what a query finds.
struct ResultPageRequest: Sendable, Equatable {
    enum Kind: Sendable { case query, userText }

    /// Whether `text` is in the query language, or what a person typed.
    let kind: Kind
    let text: String
    /// Queries that results must satisfy too, all of them.
    let filters: [String]
    /// The attributes that results carry; others are not wanted.
    let attributes: [String]
    /// Where the page begins: what the page before said, empty for the first.
    let cursor: [UInt8]
    /// The most records wanted, 1 or more.
    let limit: Int
}

/// One page of what a query finds.
struct ResultPage: Sendable {
    /// Encoded ``ItemRecord``s, the best first.
    var records: [[UInt8]]
    /// Where the next page begins; `nil` after the last.
    var next: [UInt8]?
}

/// The way to the service that answers queries.
///
/// Pages are pulled, so that nobody holds results that nobody wants. `number` is the caller's and names one call.
protocol QueryTransport: Sendable {
    /// The page that is asked for.
    ///
    /// - Throws: ``CSSearchQueryError/Code/invalidQuery`` with the position and what was expected there,
    ///   ``CSSearchQueryError/Code/indexUnreachable``, or ``CSSearchQueryError/Code/cancelled`` after ``cancel(number:)``.
    func page(_ request: ResultPageRequest, number: UInt64) async throws(CSSearchQueryError) -> ResultPage

    /// Whole texts that what was typed may be completed to, the likeliest first, at most `limit`.
    func suggestions(for text: String, limit: Int, number: UInt64) async throws(CSSearchQueryError) -> [String]

    /// Reports what the user did with an item that was found for a text: `select` or `focus`. Must not block. There is no
    /// answer.
    func engaged(item: String, after text: String, kind: String, number: UInt64)

    /// Gives up a call. Calls that are over, or were never made, are ignored. Must not block.
    func cancel(number: UInt64)
}
