// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol

/// What an extension gives to the index, or takes from it.
public enum Donation: Sendable {
    /// Adds or replaces items.
    case items([EncodedItem], index: String?)
    /// Deletes items by identifier.
    case deleteItems([String], index: String?)
    /// Deletes domains and all below them.
    case deleteDomains([String], index: String?)
    /// Deletes everything in the index.
    case deleteAll(index: String?)
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
}

/// Why a donation was not kept.
public struct DonationRefusal: Error, Sendable {
    /// What the donor is told.
    public var status: ExtensionStatus
    /// Why.
    public var message: String

    /// Creates a refusal.
    public init(status: ExtensionStatus, message: String) {
        self.status = status
        self.message = message
    }
}

extension Donation {
    /// Reads a donation from a worker's request; `nil` for requests that are none.
    init?(_ request: HostRequest) throws(DonationRefusal) {
        switch request {
        case .indexRecords(let index, let batch): self = .items(try Self.items(in: batch), index: index)
        case .deleteItems(let index, let identifiers): self = .deleteItems(identifiers, index: index)
        case .deleteDomains(let index, let domains): self = .deleteDomains(domains, index: index)
        case .deleteAll(let index): self = .deleteAll(index: index)
        case .log: return nil
        }
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
                status: .invalidArgument, message: "Record \(items.count + 1) of a donation is refused. \(error)")
        }
    }
}
