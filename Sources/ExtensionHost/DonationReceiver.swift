// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import ServiceMessages

/// Keeps what extensions and apps donate. The host knows no index, only this. Its errors are those that a donor receives.
public protocol DonationReceiver: Sendable {
    /// Keeps a batch. Returns once it is durable.
    ///
    /// - Parameter batch: The batch; its items have been decoded, nothing else about them has been checked.
    /// - Throws: ``BusError``.
    func receive(_ batch: IndexBatch) async throws(BusError)

    /// The client state of the last batch of an index.
    ///
    /// - Throws: ``BusError``.
    func clientState(of scope: IndexScope) async throws(BusError) -> [UInt8]?

    /// An item of a bundle's, from the default index if it is there, else from another.
    ///
    /// - Throws: ``BusError``.
    func record(of identifier: String, bundle: String) async throws(BusError) -> RecordReply

    /// The identifiers of the items of an index, in the order of their bytes.
    ///
    /// - Parameters:
    ///   - after: The last one of the page before; empty: from the beginning.
    ///   - limit: At most so many.
    /// - Throws: ``BusError``.
    func identifiers(of scope: IndexScope, after: String, limit: Int) async throws(BusError) -> [String]
}

extension DonationReceiver {
    /// Does what a donor asks of an index, and gives back the arguments of the answer.
    ///
    /// - Parameters:
    ///   - bundle: The bundle of the donor's connection, whose index it is.
    ///   - donated: Told how many items were kept, if any.
    /// - Throws: ``BusError``.
    public func answer(
        _ request: IndexRequest, from bundle: String, donated: (Int) -> Void = { _ in }
    ) async throws(BusError) -> [BusValue] {
        switch request {
        case .record(let identifier): return try await record(of: identifier, bundle: bundle).arguments
        case .identifiers(let index, let after, let limit):
            let scope = IndexScope(bundle: bundle, index: index)
            let count = Int(clamping: min(limit, UInt64(IndexRequest.maximumIdentifiers)))
            return [.strings(try await identifiers(of: scope, after: after, limit: count))]
        case .clientState(let index):
            let scope = IndexScope(bundle: bundle, index: index)
            return ClientStateReply(state: try await clientState(of: scope)).arguments
        case .commit(var batch):
            batch.scope.bundle = bundle
            do throws(IndexBatch.InvalidItem) { try batch.checkItems() } catch {
                throw .remote(name: ServiceErrorName.invalidItem, message: error.description)
            }
            try await receive(batch)
            let count = batch.itemCount
            if count > 0 { donated(count) }
            return []
        }
    }
}
