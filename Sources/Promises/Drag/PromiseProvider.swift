// SPDX-License-Identifier: Apache-2.0

/// A provider of promised representations.
public protocol PromiseProvider: Sendable {
    /// The provider's type of an item.
    associatedtype Item: Sendable

    /// Announces requests about these items. Returns soon; errors are reported by the requests.
    func prewarm(_ items: [Item]) async

    /// Fulfils a promise. The task is cancelled if the answer is no longer needed.
    ///
    /// - Parameters:
    ///   - mayRetry: `true` if the request may be sent a second time if its worker exits.
    ///   - onProgress: Receives the provider's progress, at a rate suitable for display; on any
    ///     thread.
    func fulfil(
        _ promise: Representation, of item: Item, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void
    ) async throws(ProviderFailure) -> ProvidedContent
}

/// A provider's progress.
public struct ProviderProgress: Hashable, Sendable {
    /// The number of completed units, which the provider defines.
    public var completed: UInt64
    /// The total number of units; 0 if it is unknown.
    public var total: UInt64

    /// Creates a progress, which is unknown by default.
    public init(completed: UInt64 = 0, total: UInt64 = 0) {
        self.completed = completed
        self.total = total
    }

    /// The completed percentage, at most 100; `nil` if it is unknown.
    public var percentage: Int? {
        total > 0 ? Int(min(1, Double(completed) / Double(total)) * 100) : nil
    }
}

/// A provider's answer.
public struct ProvidedContent: Sendable {
    /// The data or file.
    public var content: PromisedContent
    /// `true` if the request was sent twice, because the first worker exited.
    public var wasRetried: Bool

    /// Creates an answer.
    public init(_ content: PromisedContent, wasRetried: Bool) {
        self.content = content
        self.wasRetried = wasRetried
    }
}

/// A provider's failure.
public struct ProviderFailure: Error, Sendable {
    /// The kind of failure for a drag.
    public var kind: DragFailure.Kind
    /// The reason, for the user.
    public var message: String
    /// The provider's error.
    public var cause: any Error

    /// Creates a failure.
    public init(_ kind: DragFailure.Kind, _ message: String, cause: any Error) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }
}
