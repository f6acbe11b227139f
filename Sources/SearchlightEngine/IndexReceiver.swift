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
        do throws(SearchIndexError) {
            switch donation {
            case .items(let items, let name):
                try await index.index(items, in: IndexScope(bundle: bundle, index: name))
            case .deleteItems(let identifiers, let name):
                try await index.delete(identifiers: identifiers, in: IndexScope(bundle: bundle, index: name))
            case .deleteDomains(let domains, let name):
                try await index.delete(domains: domains, in: IndexScope(bundle: bundle, index: name))
            case .deleteAll(let name) where replacements.contains(bundle):
                try await index.replaceAll(in: IndexScope(bundle: bundle, index: name))
            case .deleteAll(let name):
                try await index.deleteAll(in: IndexScope(bundle: bundle, index: name))
            }
        } catch {
            throw DonationRefusal(status: error.donationStatus, message: error.description)
        }
    }
}

extension SearchIndexError {
    /// What the donor is told.
    fileprivate var donationStatus: ExtensionStatus {
        switch self {
        case .invalidItem, .clientStateTooLong, .batchTooLarge: .invalidArgument
        case .mismatchedClientState: .refused
        case .full, .readOnly, .noStore, .newerFormat, .closed: .unavailable
        case .damaged, .storage: .failed
        }
    }
}
