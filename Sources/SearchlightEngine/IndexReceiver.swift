// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchIndex
import ServiceProtocol
import Synchronization

/// The bundles that are being reindexed as a whole.
final class Replacements: Sendable {
    private let bundles = Mutex<Set<String>>([])

    /// Begins one; `false` if it has begun already.
    func begin(_ bundle: String) -> Bool { bundles.withLock { $0.insert(bundle).inserted } }
    func end(_ bundle: String) { bundles.withLock { _ = $0.remove(bundle) } }
    func contains(_ bundle: String) -> Bool { bundles.withLock { $0.contains(bundle) } }
}

/// Puts what extensions donate into the index.
struct IndexReceiver: DonationReceiver {
    let index: SearchIndex
    let isWritable: Bool
    let replacements: Replacements

    func receive(_ donation: Donation, from bundle: String) async throws(DonationRefusal) {
        guard isWritable else {
            throw DonationRefusal(
                status: .unavailable, message: "The index is open for reading only; donate during a reindex.")
        }
        let scope = IndexScope(bundle: bundle, index: donation.index)
        do throws(SearchIndexError) {
            var changes = donation.changes[...]
            if replacements.contains(bundle), let last = changes.lastIndex(where: \.isDeleteAll) {
                // What came before it is deleted anyway.
                changes = changes[(last + 1)...]
                try await index.replaceAll(in: scope)
            }
            var batch = IndexBatch(scope: scope)
            for change in changes {
                switch change {
                case .items(let items): batch.index(items)
                case .deleteItems(let identifiers): batch.delete(identifiers: identifiers)
                case .deleteDomains(let domains): batch.delete(domains: domains)
                case .deleteAll: batch.deleteAll()
                }
            }
            try await index.commit(batch, clientState: donation.clientState, expecting: donation.expectation)
        } catch {
            throw DonationRefusal(error)
        }
    }

    func clientState(of index: String?, bundle: String) async throws(DonationRefusal) -> [UInt8]? {
        do throws(SearchIndexError) {
            return try await self.index.clientState(of: IndexScope(bundle: bundle, index: index))
        } catch {
            throw DonationRefusal(error)
        }
    }
}

extension Donation.Change {
    fileprivate var isDeleteAll: Bool {
        if case .deleteAll = self { true } else { false }
    }
}

extension DonationRefusal {
    /// What the donor is told of an error of the index.
    fileprivate init(_ error: SearchIndexError) {
        switch error {
        case .invalidItem: self.init(errorName: ServiceErrorName.invalidItem, message: error.description)
        case .clientStateTooLong:
            self.init(errorName: ServiceErrorName.invalidClientState, message: error.description)
        case .batchTooLarge: self.init(status: .tooLarge, message: error.description)
        case .mismatchedClientState:
            self.init(errorName: ServiceErrorName.mismatchedClientState, message: error.description)
        case .full, .readOnly: self.init(errorName: ServiceErrorName.storeNotWritable, message: error.description)
        case .noStore, .newerFormat, .closed: self.init(status: .unavailable, message: error.description)
        case .damaged, .storage: self.init(status: .failed, message: error.description)
        }
    }
}
