// SPDX-License-Identifier: Apache-2.0

internal import ServiceMessages

/// The way to whoever holds the index: the service, or the worker that loaded the extension.
///
/// Sending is not asynchronous, for the requests of an app must arrive in the order in which it made them (many delete
/// everything first, and do not wait); only the answers are.
protocol IndexTransport: Sendable {
    /// What came of a request: the client state of one that reads it (`nil` if there is none), else nothing.
    typealias Outcome = Result<[UInt8]?, CSIndexError>

    /// Sends a request, and may block while too much is under way. Never called from two threads at once.
    ///
    /// - Parameter completion: called once, on any thread, before `send` returns or later: with success when the request
    ///   is durable. It must not block.
    func send(_ request: IndexRequest, completion: @escaping @Sendable (Outcome) -> Void)
}
