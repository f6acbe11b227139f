// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import MetadataQuery
import Promises
import SearchIndex
import ServiceProtocol
import UniformTypeIdentifiers

extension StoreService {
    /// ``items(matching:bundle:limit:after:place:)`` where this process is.
    public func items(
        matching query: QueryExpression, bundle: String? = nil, limit: Int = 100, after cursor: QueryCursor? = nil
    ) async throws(EngineError) -> QueryPage {
        try await items(matching: query, bundle: bundle, limit: limit, after: cursor, place: .current)
    }

    /// ``count(matching:bundle:place:)`` where this process is.
    public func count(matching query: QueryExpression, bundle: String? = nil) async throws(EngineError) -> Int {
        try await count(matching: query, bundle: bundle, place: .current)
    }

    /// ``explain(_:bundle:place:)`` where this process is.
    public func explain(_ query: QueryExpression, bundle: String? = nil) async throws(EngineError) -> QueryPlan {
        try await explain(query, bundle: bundle, place: .current)
    }

    /// ``item(named:bundle:)`` in any bundle.
    public func item(named name: String) async throws(EngineError) -> StoredItem {
        try await item(named: name, bundle: nil)
    }

    /// ``commit(_:clientState:expecting:)`` whatever the state is.
    public func commit(_ batch: IndexBatch, clientState: [UInt8]? = nil) async throws(EngineError) {
        try await commit(batch, clientState: clientState, expecting: .any)
    }

    /// ``reindexAll(_:onEvent:)`` that nobody follows.
    public func reindexAll(_ identifier: String) async throws(EngineError) -> Int {
        try await reindexAll(identifier) { _ in }
    }

    /// What would be chosen if an item were dropped on a receiver, by the types that this process knows.
    public func resolve(
        _ item: StoredItem, accepted: [String], preferring preference: UTTypeResolver.Preference = .receiver
    ) -> PromiseResolution {
        PromiseResolution(item.record, accepted: accepted, preferring: preference)
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
    public func drag(
        _ item: StoredItem, accepted: [String], preferring preference: UTTypeResolver.Preference = .receiver,
        to destination: Destination
    ) async throws(EngineError) -> (representation: Representation, bytes: UInt64) {
        let resolution = resolve(item, accepted: accepted, preferring: preference)
        guard let choice = resolution.choice else {
            throw .promise(.unsupportedType(offered: resolution.offered.map(\.type), accepted: accepted))
        }
        do throws(EngineError) {
            return (choice, try await deliver(choice, of: item, to: destination))
        } catch {
            // An app that ends while its bytes are on their way breaks them off; its extension is asked then.
            guard case .promise(.wrongLength(let expected, let received)) = error, received < expected,
                destination.isReplacedAsAWhole
            else { throw error }
            return (choice, try await deliver(choice, of: item, to: destination))
        }
    }

    private func deliver(
        _ choice: Representation, of item: StoredItem, to destination: Destination
    ) async throws(EngineError) -> UInt64 {
        let promised = try await fulfil(choice, of: item)
        let token = UInt64.random(in: .min ... .max)
        return try await onDelivery { () throws(PromiseError) in
            switch promised {
            case .data(let payload): try Delivery.deliver(payload, to: destination, token: token)
            case .file(let file): try Delivery.deliver(file, to: destination, token: token)
            }
        }
    }
}

extension Destination {
    /// Whether nothing is there of a delivery that failed.
    fileprivate var isReplacedAsAWhole: Bool {
        guard case .file(let path) = self else { return false }
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }
}

/// Moves bytes on a thread that may block.
func onDelivery<Value: Sendable>(
    _ body: @escaping @Sendable () throws(PromiseError) -> Value
) async throws(EngineError) -> Value {
    let result: Result<Value, PromiseError> = await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            continuation.resume(returning: Result { () throws(PromiseError) in try body() })
        }
    }
    do throws(PromiseError) { return try result.get() } catch { throw .promise(error) }
}
