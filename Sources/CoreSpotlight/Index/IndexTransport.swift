// SPDX-License-Identifier: Apache-2.0

internal import ServiceMessages

/// Transports requests to the owner of the index: the service, or the worker that loaded the
/// extension.
///
/// Sending is synchronous, because an app's requests must arrive in the order of the calls. Many
/// apps first delete everything without waiting. Only the replies are asynchronous.
protocol IndexTransport: Sendable {
    /// The outcome of a request: the client state for a request that reads it (`nil` if there is
    /// none), otherwise `nil`.
    typealias Outcome = Result<[UInt8]?, CSIndexError>

    /// Sends a request. May block while too many requests are in progress. Never called from two
    /// threads at once.
    ///
    /// - Parameter completion: Called once, on any thread, before `send` returns or later. Success
    ///   means that the request is durable. The closure must not block.
    func send(_ request: IndexRequest, completion: @escaping @Sendable (Outcome) -> Void)

    /// Lists an index's identifiers, sorted by byte value, like ``IndexRequest/identifiers``.
    /// Called like `send`.
    func list(
        index: String?, after: String, limit: Int,
        completion: @escaping @Sendable (Result<[String], CSIndexError>) -> Void)

    /// Reports content that an extension does not index, in order with later messages. May be
    /// called from any thread.
    func reportLeftOut(_ name: String, reason: String)
}

extension IndexTransport {
    /// Fails, because this transport does not support listings.
    func list(
        index: String?, after: String, limit: Int,
        completion: @escaping @Sendable (Result<[String], CSIndexError>) -> Void
    ) {
        completion(.failure(CSIndexError(.indexingUnsupported, "Identifiers cannot be listed here.")))
    }

    /// Does nothing: the service accepts these reports only from extensions, because an app can
    /// inform its user itself.
    func reportLeftOut(_ name: String, reason: String) {}
}
