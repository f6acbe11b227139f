// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import SearchIndex

/// What was found when a store was opened.
package struct StoreOpeningReport: Hashable, Sendable, Codable {
    /// What was wrong with the index, and whether donations were lost by it.
    package var recovery: RecoveryReport
    /// How many entries of the journal are not shown, since the store is only read and cannot be written.
    package var waitingEntries: Int
}

/// The extensions that are found.
package struct InstalledExtensions: Hashable, Sendable, Codable {
    /// The directories that were searched.
    package var searchPath: [String]
    /// The bundle identifiers, in order.
    package var identifiers: [String]
    /// The bundles that are not used.
    package var refusals: [ExtensionRegistry.Refusal]

    init(_ registry: ExtensionRegistry) {
        searchPath = registry.searchPath
        identifiers = registry.extensions.map(\.identifier)
        refusals = registry.refusals
    }
}

/// A reindex that is owed.
package struct OwedJob: Hashable, Sendable, Codable {
    /// Whose.
    package var bundle: String
    /// How often it was tried and failed.
    package var failures: Int
    /// Why it failed the last time.
    package var lastFailure: String?

    init(_ job: Job) { (bundle, failures, lastFailure) = (job.bundle, job.failures, job.lastFailure) }
}

/// How a store is.
package struct StoreStatus: Hashable, Sendable, Codable {
    /// How many items each bundle has.
    package var itemCounts: [String: Int]
    /// What the last opening found that found something; `nil` if none ever did.
    package var lastFindings: KeptFindings?
    /// How much there is of what.
    package var sizes: StoreSizes
    /// Grows whenever donations were lost.
    package var generation: Int
    /// The reindexes that are owed.
    package var owedJobs: [OwedJob]
    /// Whether damage was met that is mended when the store is changed the next time.
    package var needsRepair: Bool
    /// Whether the list of owed jobs cannot be read.
    package var hasDamagedJobs: Bool
    /// Whether the file of the schedule could not be read, and was begun anew.
    package var hasDamagedSchedule: Bool
    /// Whether use is counted and changes the order of hits.
    package var learns: Bool
    /// How many entries of the journal cannot be shown.
    package var waitingEntries: Int
    /// What is durable and cannot be found yet; `nil` if there is nothing.
    package var pending: PendingDonations?
    /// The extensions that are missing and whose items will be deleted.
    package var removals: [PendingRemoval]
    /// What confines extensions, and what they tried.
    package var sandbox: SandboxStatus
    /// The files that are followed for extensions.
    package var followed: FollowedStatus
    /// The service that answered; `nil` if it was this process itself.
    package var service: ServiceFacts?
}

/// What a service says of itself.
package struct ServiceFacts: Hashable, Sendable, Codable {
    /// Its process.
    package var processIdentifier: Int32
    /// The version of the program.
    package var version: String
    /// How long it has run, in seconds.
    package var uptime: Double
    /// How many are connected, the one who asks among them.
    package var clients: Int
    /// The donations that are in flight.
    package var donations: DonationFlow
    /// The files that are followed for extensions; `nil` before that is known.
    package var followed: FollowedStatus?

    package init(
        processIdentifier: Int32, version: String, uptime: Double, clients: Int,
        donations: DonationFlow = DonationFlow(), followed: FollowedStatus? = nil
    ) {
        self.processIdentifier = processIdentifier
        self.version = version
        self.uptime = uptime
        self.clients = clients
        self.donations = donations
        self.followed = followed
    }
}

/// Donations that are in flight: received and not yet durable.
package struct DonationFlow: Hashable, Sendable, Codable {
    /// A bound at which donations wait.
    package enum Bound: String, CaseIterable, Sendable {
        /// The room for large messages.
        case message
        /// What is durable and not applied yet.
        case store
        /// One large donation is logged at a time.
        case large
    }
    /// Their bytes.
    package var bytes: Int
    /// How many there are.
    package var donations: Int
    /// How many were rejected since the start, because too much was in flight.
    package var rejected: Int
    /// How many wait, by the name of the ``Bound`` that holds them up.
    package var waiting: [String: Int] = [:]

    package init(bytes: Int = 0, donations: Int = 0, rejected: Int = 0) {
        (self.bytes, self.donations, self.rejected) = (bytes, donations, rejected)
    }
}
