// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import ServiceMessages

/// The storage side of donations from extensions and apps.
///
/// The host can access the index only through this protocol. A thrown error is sent unchanged to
/// the donor.
public protocol DonationReceiver: Sendable {
    /// Stores a batch. Returns once the batch is durable.
    ///
    /// - Parameter batch: The batch. Its items are decoded but not validated any further.
    /// - Throws: ``BusError``.
    func receive(_ batch: IndexBatch) async throws(BusError)

    /// Returns the client state of an index's last batch.
    ///
    /// - Throws: ``BusError``.
    func clientState(of scope: IndexScope) async throws(BusError) -> [UInt8]?

    /// Returns one of a bundle's items: the copy in the default index, or else a copy in another
    /// index.
    ///
    /// - Throws: ``BusError``.
    func record(of identifier: String, bundle: String) async throws(BusError) -> RecordReply

    /// Returns the identifiers of the items in an index, sorted by byte value.
    ///
    /// - Parameters:
    ///   - after: The last identifier of the previous page, or an empty string to start at the
    ///     beginning.
    ///   - limit: The maximum number of identifiers.
    /// - Throws: ``BusError``.
    func identifiers(of scope: IndexScope, after: String, limit: Int) async throws(BusError) -> [String]
}

extension DonationReceiver {
    /// Carries out a donor's request to an index and returns the arguments of the reply.
    ///
    /// - Parameters:
    ///   - bundle: The bundle of the donor's connection. It owns the index, regardless of the
    ///     request.
    ///   - donated: Called with the number of items of a stored batch, unless it is 0.
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
