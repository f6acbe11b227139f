// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Promises
import SearchIndex
import UniformTypeIdentifiers

extension EngineClient {
    /// ``provide(_:of:mayRetry:onProgress:)`` with a second attempt.
    package func fulfil(_ promise: Representation, of item: StoredItem) async throws(EngineError) -> PromisedContent {
        try await provide(promise, of: item, mayRetry: true).content
    }

    /// What would be chosen if an item were dropped on a receiver, by the types that this process knows.
    package func resolve(
        _ item: StoredItem, accepted: [String], preferring preference: UTTypeResolver.Preference = .receiver,
        forms: [Representation.Form] = Representation.Form.allCases
    ) -> PromiseResolution {
        PromiseResolution(item.record, accepted: accepted, preferring: preference, forms: forms)
    }

    /// Drops an item on a receiver: has its extension produce the representation that serves best, and delivers it. The
    /// delivery is this process's, so that a file belongs where this process may write.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - accepted: The uniform type identifiers the receiver accepts, best first.
    ///   - preference: Whose order leads.
    ///   - destination: Where the representation goes.
    /// - Returns: What was delivered and how many bytes.
    /// - Throws: ``EngineError``; then no file has appeared.
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

/// A store whose items are dragged.
package struct StorePromises: PromiseProvider {
    private let store: any EngineClient

    /// Drags out of a store.
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
    /// What ended a drag, as an error of the engine.
    package init(_ failure: DragFailure) {
        switch failure.cause {
        case let error as EngineError: self = error
        case let error as PromiseError: self = .promise(error)
        default: self = failure.kind == .cancelled ? .extension(.cancelled) : .drag(failure.kind, failure.message)
        }
    }
}

extension DragFailure.Kind {
    /// What kind of end of a drag an error of the engine is.
    package init(_ error: EngineError) {
        switch error {
        case .extension(let error): self.init(error)
        case .promise(let error): self = error.kind
        case .drag(let kind, _): self = kind
        case .query(.cancelled): self = .cancelled
        case .itemNotFound, .itemElsewhere, .ambiguousItem: self = .notFound
        case .service(.notAnswering): self = .timedOut
        case .service(.refused): self = .refused
        case .service, .index, .storeFile: self = .inputOutput
        case .query, .storeInUse, .alreadyReindexing: self = .failed
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
