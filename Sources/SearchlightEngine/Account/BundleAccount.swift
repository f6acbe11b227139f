// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import SearchIndex

/// A bundle's account: its indexed items, its missing content, and the reasons. All commands that
/// report this information, such as `status` and `reindex`, use this value.
package struct BundleAccount: Hashable, Sendable, Codable {
    /// Content that is not in the index, for one reason: files without an item, and the text of
    /// files whose items lack it.
    package struct LeftOut: Hashable, Sendable, Codable {
        /// The reason, in a few words.
        package var reason: String
        /// The number of names with this reason.
        package var count: Int
        /// Some of the names, at most ``maximumExamples``.
        package var examples: [String]
    }

    /// The bundle identifier.
    package var bundle: String
    /// The number of items in the index.
    package var items = 0
    /// The number of these items whose text was truncated.
    package var itemsInPart = 0
    /// The content that is not in the index, by reason, the most frequent reason first.
    package var leftOut: [LeftOut] = []
    /// The donations that searches do not include yet.
    package var pending: PendingDonations.Amount?
    /// The number of changed files that have not been reported to the extension yet.
    package var pendingFiles = 0
    /// The pending reindex.
    package var owed: PendingReindexJob?
    /// `true` if lost items have not been donated again yet.
    package var hasLosses = false

    /// The maximum number of example names for a reason.
    package static let maximumExamples = 5

    /// `true` if nothing is known to be missing from the index.
    package var isComplete: Bool {
        itemsInPart == 0 && leftOut.isEmpty && pending == nil && pendingFiles == 0 && owed == nil && !hasLosses
    }
}

extension SearchlightEngine {
    /// Returns the accounts of all known bundles, sorted by name.
    func accounts(_ counts: [String: Int], _ pending: PendingDonations?) async throws(EngineError) -> [BundleAccount] {
        let inPart = try await itemsInPart()
        let jobs = Dictionary(jobStore.jobs.map { ($0.bundle, $0) }) { first, _ in first }
        let files = Dictionary(pendingFiles.map { ($0.bundle, $0.files) }) { first, _ in first }
        let omissions = omissions.bundles
        let names = Set(counts.keys).union(omissions.keys).union(jobs.keys).union(files.keys)
            .union(pending?.bundles.keys.map { $0 } ?? [])
        return names.sorted().map { bundle in
            let job = jobs[bundle]
            return BundleAccount(
                bundle: bundle, items: counts[bundle] ?? 0, itemsInPart: inPart[bundle] ?? 0,
                leftOut: omissions[bundle]?.summary ?? [], pending: pending?.bundles[bundle],
                pendingFiles: files[bundle] ?? 0, owed: job.map(PendingReindexJob.init),
                hasLosses: job?.isForLosses == true)
        }
    }

    /// Returns a bundle's account.
    package func account(of bundle: String) async throws(EngineError) -> BundleAccount {
        let pending = pending.nonEmpty
        let count = try await itemCounts()[bundle]
        let all = try await accounts(count.map { [bundle: $0] } ?? [:], pending)
        return all.first { $0.bundle == bundle } ?? BundleAccount(bundle: bundle)
    }

    /// Returns the number of items with truncated text in each bundle.
    private func itemsInPart() async throws(EngineError) -> [String: Int] {
        let query = QueryExpression.comparison(
            Comparison(
                attribute: .named(ItemRecord.missingTextAttribute), operation: .greater,
                value: .number(NumberLiteral(0))))
        return try await counts(matching: query)
    }
}
