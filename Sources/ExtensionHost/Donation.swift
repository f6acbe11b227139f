// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import ServiceMessages

/// What an extension or an app gives to an index, or takes from it. All of it becomes durable, or nothing.
public struct Donation: Sendable {
    /// The index; `nil` is the default one.
    public var index: String?
    /// The changes, in order; their items are decoded.
    public var changes: [IndexChange<[EncodedItem]>]
    /// The client state from now on; `nil` leaves it as it is.
    public var clientState: [UInt8]?
    /// What the client state must be.
    public var expectation = ClientStateExpectation.any

    /// How many items it holds.
    public var itemCount: Int {
        changes.reduce(0) { count, change in
            if case .put(let items) = change { count + items.count } else { count }
        }
    }
}

/// Whoever keeps what extensions donate. The host knows no index, only this.
public protocol DonationReceiver: Sendable {
    /// Keeps a donation. Returns once it is durable.
    ///
    /// - Parameters:
    ///   - donation: What is donated; items have been decoded, nothing else about them has been checked.
    ///   - bundle: Whose it is, from the connection it came over.
    /// - Throws: ``DonationRefusal``.
    func receive(_ donation: Donation, from bundle: String) async throws(DonationRefusal)

    /// The client state of the last batch of an index of a bundle.
    ///
    /// - Throws: ``DonationRefusal``.
    func clientState(of index: String?, bundle: String) async throws(DonationRefusal) -> [UInt8]?

    /// An item of a bundle's, from the default index if it is there, else from another.
    ///
    /// - Throws: ``DonationRefusal``.
    func record(of identifier: String, bundle: String) async throws(DonationRefusal) -> RecordReply
}

extension DonationReceiver {
    /// Does what a donor asks of an index, and gives back the arguments of the answer.
    ///
    /// - Parameter donated: Told how many items were kept, if any.
    /// - Throws: ``DonationRefusal``.
    public func answer(
        _ request: IndexRequest, from bundle: String, donated: (Int) -> Void = { _ in }
    ) async throws(DonationRefusal) -> [BusValue] {
        if case .record(let identifier) = request.action {
            return try await record(of: identifier, bundle: bundle).arguments
        }
        guard let donation = try Donation(request) else {
            return ClientStateReply(state: try await clientState(of: request.index, bundle: bundle)).arguments
        }
        try await receive(donation, from: bundle)
        if donation.itemCount > 0 { donated(donation.itemCount) }
        return []
    }
}

/// Why a donation was not kept.
public struct DonationRefusal: Error, Sendable {
    /// What the donor is told.
    public var status: ExtensionStatus
    /// The same, more precisely where it can be said: a name of ``ServiceErrorName`` or that of the status.
    public var errorName: String
    /// Why.
    public var message: String

    /// Whether the donor asked for something that could not be, as it was told: nothing it gave was lost.
    var isTheDonorsOwn: Bool { status == .invalidArgument || errorName == ServiceErrorName.mismatchedClientState }

    /// Creates a refusal.
    public init(status: ExtensionStatus, message: String) {
        self.status = status
        errorName = status.errorName
        self.message = message
    }

    /// Creates a refusal with a name of ``ServiceErrorName``.
    public init(errorName: String, message: String) {
        status = ExtensionStatus(errorName: errorName)
        self.errorName = errorName
        self.message = message
    }
}

extension Donation {
    /// Reads a donation from a request; `nil` for one that asks and changes nothing.
    ///
    /// - Throws: ``DonationRefusal`` for what cannot be read.
    public init?(_ request: IndexRequest) throws(DonationRefusal) {
        index = request.index
        switch request.action {
        case .change(let change):
            changes = [
                try change.withRecords { batch throws(DonationRefusal) in try Self.items(in: batch) }
            ]
        case .commitBatch(let bytes, let state, let expectation):
            changes = try Self.changes(in: bytes)
            clientState = state
            self.expectation = expectation
        case .clientState, .record: return nil
        }
    }

    private static func changes(in bytes: [UInt8]) throws(DonationRefusal) -> [IndexChange<[EncodedItem]>] {
        let list: [EncodedChange]
        do throws(ItemRecordError) { list = try ChangeList.changes(in: bytes) } catch {
            throw DonationRefusal(status: .invalidArgument, message: "A batch is refused. \(error)")
        }
        var changes: [IndexChange<[EncodedItem]>] = []
        for change in list {
            changes.append(try change.withRecords { batch throws(DonationRefusal) in try items(in: batch) })
        }
        return changes
    }

    private static func items(in batch: [UInt8]) throws(DonationRefusal) -> [EncodedItem] {
        guard batch.count <= RecordBatch.maximumBytes else {
            throw DonationRefusal(
                status: .tooLarge,
                message:
                    "A batch has \(batch.count) bytes; the limit is \(RecordBatch.maximumBytes). Send smaller ones.")
        }
        var items: [EncodedItem] = []
        do throws(ItemRecordError) {
            for slice in try RecordBatch.split(batch) {
                items.append(try EncodedItem(decoding: Array(slice)))
            }
            return items
        } catch {
            throw DonationRefusal(
                errorName: ServiceErrorName.invalidItem,
                message: "Record \(items.count + 1) of a donation is refused. \(error)")
        }
    }
}
