// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import SearchIndex
import ServiceMessages
import UniformTypeIdentifiers

/// Puts what somebody donates into the index.
struct IndexReceiver: DonationReceiver {
    let writer: DonationWriter
    let donor: Donor
    /// What decides on each donation when it is accepted.
    var terms = DonationTerms()
    /// Called for each donation that was kept.
    var onKept: @Sendable () -> Void = {}

    func receive(_ donation: Donation, from bundle: String) async throws(DonationRefusal) {
        guard writer.isWritable else {
            throw DonationRefusal(
                status: .unavailable, message: "The index is open for reading only; donate during a reindex.")
        }
        var batch = IndexBatch(scope: IndexScope(bundle: bundle, index: donation.index))
        for change in donation.changes {
            switch change {
            case .put(let items): batch.index(items)
            case .deleteItems(let identifiers): batch.delete(identifiers: identifiers)
            case .deleteDomains(let domains): batch.delete(domains: domains)
            case .deleteAll: batch.deleteAll()
            }
        }
        do throws(EngineError) {
            try await writer.commit(
                batch, clientState: donation.clientState, expecting: donation.expectation, from: donor, terms: terms)
        } catch {
            switch error {
            case .index(let error): throw DonationRefusal(error)
            default:
                throw DonationRefusal(errorName: ServiceErrorName.storeNotWritable, message: error.description)
            }
        }
        onKept()
    }

    func clientState(of index: String?, bundle: String) async throws(DonationRefusal) -> [UInt8]? {
        do throws(SearchIndexError) {
            return try await writer.index.clientState(of: IndexScope(bundle: bundle, index: index))
        } catch {
            throw DonationRefusal(error)
        }
    }

    func record(of identifier: String, bundle: String) async throws(DonationRefusal) -> RecordReply {
        let items: [StoredItem]
        do throws(SearchIndexError) {
            items = try await ReadPatience.own(bundle).during { () throws(SearchIndexError) in
                try await writer.index.items(uniqueIdentifier: identifier, bundle: bundle)
            }
        } catch {
            throw DonationRefusal(error)
        }
        guard let item = items.first(where: { $0.scope.index == nil }) ?? items.first else {
            return RecordReply(record: nil)
        }
        do throws(ItemRecordError) {
            return RecordReply(record: try item.record.encoded(), types: item.types)
        } catch {
            throw DonationRefusal(status: .failed, message: "\(identifier) cannot be sent. \(error)")
        }
    }
}

extension StoredItem {
    /// The type of its content and all that it conforms to, with those that its app names.
    fileprivate var types: [String] {
        var types = Set(record.texts("contentTypeTree"))
        if let name = contentType {
            types.insert(name)
            if let type = UTType(name) { types.formUnion(type.supertypes.map(\.identifier)) }
        }
        return types.sorted()
    }
}

extension DonationRefusal {
    /// What the donor is told of an error of the index.
    init(_ error: SearchIndexError) {
        switch error {
        case .invalidItem: self.init(errorName: ServiceErrorName.invalidItem, message: error.description)
        case .clientStateTooLong:
            self.init(errorName: ServiceErrorName.invalidClientState, message: error.description)
        case .batchTooLarge: self.init(status: .tooLarge, message: error.description)
        case .mismatchedClientState:
            self.init(errorName: ServiceErrorName.mismatchedClientState, message: error.description)
        case .full, .readOnly: self.init(errorName: ServiceErrorName.storeNotWritable, message: error.description)
        case .noStore, .newerFormat, .closed: self.init(status: .unavailable, message: error.description)
        case .damaged, .storage, .untrusted: self.init(status: .failed, message: error.description)
        }
    }
}
