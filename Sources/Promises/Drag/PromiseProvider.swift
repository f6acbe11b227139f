// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol

/// Whoever can turn items into what they promised.
public protocol PromiseProvider: Sendable {
    /// How the provider knows an item.
    associatedtype Item: Sendable

    /// Is told that something will be asked about these items in a moment. Returns soon; what fails is told later.
    func prewarm(_ items: [Item]) async

    /// Fulfils a promise. Its task is cancelled when nobody wants the answer any more.
    ///
    /// - Parameter mayRetry: Whether it may be tried once more if whoever is asked ends meanwhile.
    func fulfil(
        _ promise: Representation, of item: Item, mayRetry: Bool
    ) async throws(ProviderFailure) -> ProvidedContent
}

/// What a provider gave.
public struct ProvidedContent: Sendable {
    /// The bytes or the file.
    public var content: PromisedContent
    /// Whether it was asked for twice, since whoever was asked first ended.
    public var wasRetried: Bool

    /// Creates an answer.
    public init(_ content: PromisedContent, wasRetried: Bool) {
        self.content = content
        self.wasRetried = wasRetried
    }
}

/// Why a provider gave nothing.
public struct ProviderFailure: Error, Sendable {
    /// What kind of end this is for a drag.
    public var kind: DragFailure.Kind
    /// Why, for people.
    public var message: String
    /// The error as the provider knows it.
    public var cause: any Error

    /// Creates a failure.
    public init(_ kind: DragFailure.Kind, _ message: String, cause: any Error) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }
}
