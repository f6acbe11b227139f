// SPDX-License-Identifier: Apache-2.0

/// Whoever can turn items into what they promised.
public protocol PromiseProvider: Sendable {
    /// How the provider knows an item.
    associatedtype Item: Sendable

    /// Is told that something will be asked about these items in a moment. Returns soon; what fails is told later.
    func prewarm(_ items: [Item]) async

    /// Fulfils a promise. Its task is cancelled when nobody wants the answer any more.
    ///
    /// - Parameters:
    ///   - mayRetry: Whether it may be tried once more if whoever is asked ends meanwhile.
    ///   - onProgress: To be told how far it has come, as often as somebody may want to see it; on any thread.
    func fulfil(
        _ promise: Representation, of item: Item, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void
    ) async throws(ProviderFailure) -> ProvidedContent
}

/// How far a provider says it has come.
public struct ProviderProgress: Hashable, Sendable {
    /// How much is done, in units of the provider's choice.
    public var completed: UInt64
    /// How much there is in all; 0 if that is not known.
    public var total: UInt64

    /// Creates one; without arguments nothing is known.
    public init(completed: UInt64 = 0, total: UInt64 = 0) {
        self.completed = completed
        self.total = total
    }

    /// How much is done of a hundred, at most all; `nil` if that is not known.
    public var percentage: Int? {
        total > 0 ? Int(min(1, Double(completed) / Double(total)) * 100) : nil
    }
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
