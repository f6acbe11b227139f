// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Promises
import SearchIndex
import UniformTypeIdentifiers

extension EngineClient {
    /// Fulfils a promise, with one retry; see ``provide(_:of:mayRetry:onProgress:)``.
    package func fulfil(_ promise: Representation, of item: StoredItem) async throws(EngineError) -> PromisedContent {
        try await provide(promise, of: item, mayRetry: true).content
    }

    /// Returns the representation that would be chosen if the item were dropped on a receiver,
    /// based on the types that this process knows.
    package func resolve(
        _ item: StoredItem, accepted: [String], preferring preference: UTTypeResolver.Preference = .receiver,
        forms: [Representation.Form] = Representation.Form.allCases
    ) -> PromiseResolution {
        PromiseResolution(item.record, accepted: accepted, preferring: preference, forms: forms)
    }

    /// Drops an item on a receiver: requests the best representation from the item's extension and
    /// delivers it. This process writes the delivered file, so that its own permissions apply.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - accepted: The uniform type identifiers that the receiver accepts, best first.
    ///   - preference: The side whose order of types takes precedence.
    ///   - destination: The destination of the representation.
    /// - Returns: The delivered representation and its size in bytes.
    /// - Throws: ``EngineError``; then no file was created.
    package func drag(
        _ item: StoredItem, accepted: [String], preferring preference: UTTypeResolver.Preference = .receiver,
        to destination: Destination
    ) async throws(EngineError) -> (representation: Representation, bytes: UInt64) {
        let session = DragSession(
            StorePromises(self),
            items: [
                .init(
                    item, resolution: resolve(item, accepted: accepted, preferring: preference),
                    target: .deliver(destination))
            ])
        switch await session.drop().first {
        case .fulfilled(let fulfilment): return (fulfilment.representation, fulfilment.bytes)
        case .failed(let failure): throw EngineError(failure)
        case nil: throw .extension(.cancelled)
        }
    }
}

/// The promises of a store's items, for drag sessions.
package struct StorePromises: PromiseProvider {
    private let store: any EngineClient

    /// Creates the promises for a store's items.
    package init(_ store: any EngineClient) { self.store = store }

    package func prewarm(_ items: [StoredItem]) async {
        for bundle in Set(items.map(\.scope.bundle)).sorted() {
            _ = try? await store.perform(PrewarmCall(bundle: bundle))
        }
    }

    package func fulfil(
        _ promise: Representation, of item: StoredItem, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void
    ) async throws(ProviderFailure) -> ProvidedContent {
        do throws(EngineError) {
            return try await store.provide(promise, of: item, mayRetry: mayRetry, onProgress: onProgress)
        } catch {
            throw ProviderFailure(DragFailure.Kind(error), error.description, cause: error)
        }
    }
}

extension EngineError {
    /// Creates the engine error for a failed drag.
    package init(_ failure: DragFailure) {
        switch failure.cause {
        case let error as EngineError: self = error
        case let error as PromiseError: self = .promise(error)
        default: self = failure.kind == .cancelled ? .extension(.cancelled) : .drag(failure.kind, failure.message)
        }
    }
}

extension DragFailure.Kind {
    /// Creates the kind of drag failure for an engine error.
    package init(_ error: EngineError) {
        switch error {
        case .extension(let error): self.init(error)
        case .promise(let error): self = error.kind
        case .drag(let kind, _): self = kind
        case .query(.cancelled): self = .cancelled
        case .itemNotFound, .itemElsewhere, .ambiguousItem: self = .notFound
        case .service(.notAnswering): self = .timedOut
        case .service(.refused), .protection: self = .refused
        case .service, .index, .storeFile: self = .inputOutput
        case .query, .storeInUse, .alreadyReindexing, .semantic, .receipt: self = .failed
        }
    }

    private init(_ error: ExtensionError) {
        switch error {
        case .notFound: self = .notFound
        case .refused, .disabled, .quarantined, .backingOff: self = .refused
        case .crashed, .memoryExceeded: self = .crashed
        case .timedOut: self = .timedOut
        case .cancelled: self = .cancelled
        case .failed(_, _, let status, _):
            switch status {
            case .unsupported: self = .unsupportedType
            case .notFound: self = .notFound
            case .cancelled: self = .cancelled
            case .refused: self = .refused
            default: self = .failed
            }
        case .workerUnavailable, .delegateUnavailable, .cannotLoad, .malformedAnswer: self = .failed
        }
    }
}
