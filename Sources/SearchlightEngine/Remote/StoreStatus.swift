// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import SearchIndex

/// The findings from opening a store.
package struct StoreOpeningReport: Hashable, Sendable, Codable {
    /// The damage of the index, and whether donations were lost.
    package var recovery: RecoveryReport
    /// The number of entries in the write-ahead log that the index does not include. It is 0 unless
    /// the store cannot be written.
    package var waitingEntries: Int
}

/// The extensions that a search found.
package struct InstalledExtensions: Hashable, Sendable, Codable {
    /// The directories that were searched.
    package var searchPath: [String]
    /// The bundle identifiers, sorted.
    package var identifiers: [String]
    /// The rejected bundles.
    package var refusals: [ExtensionRegistry.Refusal]

    init(_ registry: ExtensionRegistry) {
        searchPath = registry.searchPath
        identifiers = registry.extensions.map(\.identifier)
        refusals = registry.refusals
    }
}

/// A pending reindex.
package struct PendingReindexJob: Hashable, Sendable, Codable {
    /// The bundle identifier.
    package var bundle: String
    /// The number of failed attempts.
    package var failures: Int
    /// The reason for the last failure.
    package var lastFailure: String?

    init(_ job: Job) { (bundle, failures, lastFailure) = (job.bundle, job.failures, job.lastFailure) }
}

/// The status of a store.
package struct StoreStatus: Hashable, Sendable, Codable {
    /// The accounts of all bundles, sorted by identifier.
    package var accounts: [BundleAccount]
    /// The findings from the last opening that had findings; `nil` if none had.
    package var lastFindings: KeptFindings?
    /// The sizes of the store's parts.
    package var sizes: StoreSizes
    /// The index generation. It grows with each loss of donations.
    package var generation: Int
    /// `true` if damage has to be repaired the next time the store is opened for writing.
    package var needsRepair: Bool
    /// The repair that was rejected because it would lose items that no extension can donate again,
    /// with advice. The store is then read-only.
    package var refusedRepair: String?
    /// `true` if the file of pending jobs cannot be read.
    package var hasDamagedJobs: Bool
    /// `true` if the schedule file could not be read, so that the schedule restarted empty.
    package var hasDamagedSchedule: Bool
    /// `true` if item use is counted and affects the ranking.
    package var learns: Bool
    /// The number of entries in the write-ahead log that the index does not include.
    package var waitingEntries: Int
    /// The donations that are durable but cannot be found yet; `nil` if there are none.
    package var pending: PendingDonations?
    /// The missing extensions whose items will be deleted.
    package var removals: [PendingRemoval]
    /// The sandbox of extensions, and the denied accesses.
    package var sandbox: SandboxStatus
    /// The files that are followed for extensions.
    package var followed: FollowedStatus
    /// The embedding model and its progress; `nil` if there is no model.
    package var semantic: SemanticStatus?
    /// The protected indexes.
    package var protection: ProtectionStatus
    /// The service that replied; `nil` if this process did.
    package var service: ServiceFacts?
}

/// Facts about a running service.
package struct ServiceFacts: Hashable, Sendable, Codable {
    /// The service's process identifier.
    package var processIdentifier: Int32
    /// The program's version.
    package var version: String
    /// The time since the service started, in seconds.
    package var uptime: Double
    /// The number of connected clients, including the one that asks.
    package var clients: Int
    /// The donations in flight.
    package var donations: DonationFlow
    /// The files that are followed for extensions; `nil` until known.
    package var followed: FollowedStatus?
    /// A sentence for each lock of the session that will not lock protected items.
    @LaterList package var protectionNotes: [String]

    package init(
        processIdentifier: Int32, version: String, uptime: Double, clients: Int,
        donations: DonationFlow = DonationFlow(), followed: FollowedStatus? = nil,
        protectionNotes: [String] = []
    ) {
        self.processIdentifier = processIdentifier
        self.version = version
        self.uptime = uptime
        self.clients = clients
        self.donations = donations
        self.followed = followed
        _protectionNotes = LaterList(wrappedValue: protectionNotes)
    }
}

/// The donations in flight: received but not yet durable.
package struct DonationFlow: Hashable, Sendable, Codable {
    /// A limit that donations wait for.
    package enum Bound: String, CaseIterable, Sendable {
        /// The memory budget for large messages.
        case message
        /// The amount of durable donations that are not applied yet.
        case store
        /// The limit of one large donation at a time in the write-ahead log.
        case large
    }
    /// The size of the donations in flight, in bytes.
    package var bytes: Int
    /// The number of donations in flight.
    package var donations: Int
    /// The number of donations that were rejected since the service started because the limits were
    /// reached.
    package var rejected: Int
    /// The number of waiting donations, by the name of the ``Bound`` that they wait for.
    package var waiting: [String: Int] = [:]

    package init(bytes: Int = 0, donations: Int = 0, rejected: Int = 0) {
        (self.bytes, self.donations, self.rejected) = (bytes, donations, rejected)
    }
}
