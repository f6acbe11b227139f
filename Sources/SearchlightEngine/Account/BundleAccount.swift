// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import SearchIndex

/// The account of a bundle: what the index has of it, what it lacks, and why. One value for `status`, `reindex` and whoever else tells.
package struct BundleAccount: Hashable, Sendable, Codable {
    /// Files and the like that have no item, for one reason.
    package struct LeftOut: Hashable, Sendable, Codable {
        /// Why, in a few words.
        package var reason: String
        /// How many there are.
        package var count: Int
        /// The names of some, at most ``maximumExamples``.
        package var examples: [String]
    }

    /// The bundle identifier.
    package var bundle: String
    /// How many items the index has.
    package var items = 0
    /// How many of these are indexed in part: their text was cut.
    package var itemsInPart = 0
    /// What has no item, by reason, the most frequent first.
    package var leftOut: [LeftOut] = []
    /// What was donated and cannot be found yet.
    package var pending: PendingDonations.Amount?
    /// How many changed files its extension was not told of yet.
    package var pendingFiles = 0
    /// The reindex that is owed.
    package var owed: PendingReindexJob?
    /// Whether items were lost that have not been donated again yet.
    package var hasLosses = false

    /// The most names of one reason.
    package static let maximumExamples = 5

    /// How much has no item.
    package var leftOutCount: Int { leftOut.reduce(0) { $0 + $1.count } }
    /// Whether all there is can be found, as far as anybody knows.
    package var isComplete: Bool {
        itemsInPart == 0 && leftOut.isEmpty && pending == nil && pendingFiles == 0 && owed == nil && !hasLosses
    }
}

extension SearchlightEngine {
    /// The accounts of all bundles of which anything is known, by name.
    func accounts(_ counts: [String: Int], _ pending: PendingDonations?) async throws(EngineError) -> [BundleAccount] {
        let inPart = try await itemsInPart(of: counts.keys.sorted())
        let jobs = jobStore.jobs
        let files = pendingFiles
        let omissions = omissions.bundles
        var names = Set(counts.keys).union(omissions.keys).union(jobs.map(\.bundle)).union(files.map(\.bundle))
        if let pending { names.formUnion(pending.bundles.keys) }
        return names.sorted().map { bundle in
            let job = jobs.first { $0.bundle == bundle }
            return BundleAccount(
                bundle: bundle, items: counts[bundle] ?? 0, itemsInPart: inPart[bundle] ?? 0,
                leftOut: omissions[bundle]?.summary ?? [], pending: pending?.bundles[bundle],
                pendingFiles: files.first { $0.bundle == bundle }?.files ?? 0, owed: job.map(PendingReindexJob.init),
                hasLosses: job?.cause == .lost)
        }
    }

    /// The account of one bundle.
    package func account(of bundle: String) async throws(EngineError) -> BundleAccount {
        let pending = index.pending.nonEmpty
        let count = try await itemCounts()[bundle]
        let all = try await accounts(count.map { [bundle: $0] } ?? [:], pending)
        return all.first { $0.bundle == bundle } ?? BundleAccount(bundle: bundle)
    }

    /// How many items of bundles say that their text was cut.
    private func itemsInPart(of bundles: [String]) async throws(EngineError) -> [String: Int] {
        let query = QueryExpression.comparison(
            Comparison(
                attribute: .named(ItemRecord.missingTextAttribute), operation: .greater,
                value: .number(NumberLiteral(0))))
        guard try await count(matching: query) > 0 else { return [:] }
        var counts: [String: Int] = [:]
        for bundle in bundles { counts[bundle] = try await count(matching: query, bundle: bundle) }
        return counts
    }
}
