// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import ItemRecord
import SearchIndex
import ServiceMessages
import UniformTypeIdentifiers

/// Writes the donations of one donor to the index.
struct IndexReceiver: DonationReceiver {
    let writer: DonationWriter
    let donor: Donor
    /// The conditions for accepting each donation.
    var terms = DonationTerms()
    /// Called after each durable donation.
    var onKept: @Sendable (IndexBatch) -> Void = { _ in }

    func receive(_ batch: IndexBatch) async throws(BusError) {
        guard writer.isWritable else {
            throw .refused(.unavailable, "The index is open for reading only; donate during a reindex.")
        }
        do throws(EngineError) {
            try await writer.commit(batch, from: donor, terms: terms)
        } catch {
            throw BusError(donation: error)
        }
        onKept(batch)
    }

    func clientState(of scope: IndexScope) async throws(BusError) -> [UInt8]? {
        do throws(EngineError) {
            return try await writer.reading(scope) { (index) throws(SearchIndexError) in
                try await index.clientState(of: scope)
            }
        } catch {
            writer.noteRejection(error, of: donor, scope.bundle)
            throw BusError(donation: error)
        }
    }

    func identifiers(of scope: IndexScope, after: String, limit: Int) async throws(BusError) -> [String] {
        do throws(EngineError) {
            return try await writer.reading(scope) { (index) throws(SearchIndexError) in
                try await ReadPatience.own(scope.bundle).during { () throws(SearchIndexError) in
                    try await index.identifiers(of: scope, after: after, limit: limit)
                }
            }
        } catch {
            writer.noteRejection(error, of: donor, scope.bundle)
            throw BusError(donation: error)
        }
    }

    func record(of identifier: String, bundle: String) async throws(BusError) -> RecordReply {
        let items: [StoredItem]
        do throws(SearchIndexError) {
            let (index, vault) = (writer.index, writer.vault)
            items = try await ReadPatience.own(bundle).during { () throws(SearchIndexError) in
                let protected = try await vault.whileUnlocked { (index) async throws(SearchIndexError) in
                    try await index.items(uniqueIdentifier: identifier, bundle: bundle)
                }
                return try await index.items(uniqueIdentifier: identifier, bundle: bundle) + (protected ?? [])
            }
        } catch {
            throw BusError(error)
        }
        guard let item = items.first(where: { $0.scope.index == nil }) ?? items.first else {
            if writer.vault.isLocked(bundle) {
                writer.noteRejection(.protection(.locked), of: donor, bundle)
                throw BusError(donation: .protection(.locked))
            }
            return RecordReply(record: nil)
        }
        do throws(ItemRecordError) {
            return RecordReply(record: try item.record.encoded(), types: item.types)
        } catch {
            throw BusError.refused(.failed, "\(identifier) cannot be sent. \(error)")
        }
    }
}

extension StoredItem {
    /// The item's content type and all its supertypes, including those that its app declares.
    fileprivate var types: [String] {
        var types = Set(record.texts("contentTypeTree"))
        if let name = contentType {
            types.insert(name)
            if let type = UTType(name) { types.formUnion(type.supertypes.map(\.identifier)) }
        }
        return types.sorted()
    }
}

extension DonationWriter {
    /// Reads the index that contains a scope's items.
    ///
    /// - Throws: ``EngineError/index(_:)``; ``EngineError/protection(_:)`` for a protected index
    ///   while the store is locked.
    func reading<Value>(
        _ scope: IndexScope, _ body: (SearchIndex) async throws(SearchIndexError) -> Value
    ) async throws(EngineError) -> Value {
        try await SearchlightEngine.onIndex(vault.holds(scope) ? try vault.unlockedIndex() : index, body)
    }
}

extension BusError {
    /// Creates the bus error that a donor receives.
    fileprivate init(donation error: EngineError) {
        switch error {
        case .index(let error): self.init(error)
        // Apple's systems report this error for a locked index.
        case .protection: self = .remote(name: ServiceErrorName.protected, message: error.description)
        default: self = .remote(name: ServiceErrorName.storeNotWritable, message: error.description)
        }
    }

    /// Creates the bus error that a donor receives for an index error.
    init(_ error: SearchIndexError) {
        let name =
            switch error {
            case .invalidItem: ServiceErrorName.invalidItem
            case .clientStateTooLong: ServiceErrorName.invalidClientState
            case .batchTooLarge: ExtensionStatus.tooLarge.errorName
            case .mismatchedClientState: ServiceErrorName.mismatchedClientState
            case .full, .readOnly: ServiceErrorName.storeNotWritable
            case .noStore, .newerFormat, .closed: ExtensionStatus.unavailable.errorName
            case .damaged, .losingRepair, .storage, .untrusted: ExtensionStatus.failed.errorName
            }
        self = .remote(name: name, message: error.description)
    }
}
