// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import SearchIndex

/// What was found when a store was opened.
public struct StoreOpeningReport: Hashable, Sendable, Codable {
    /// What was wrong with the index, and whether donations were lost by it.
    public var recovery: RecoveryReport
    /// How many entries of the journal are not shown, since the store is only read and cannot be written.
    public var waitingEntries: Int
}

/// The extensions that are found.
public struct InstalledExtensions: Hashable, Sendable, Codable {
    /// The directories that were searched.
    public var searchPath: [String]
    /// The bundle identifiers, in order.
    public var identifiers: [String]
    /// The bundles that are not used.
    public var refusals: [ExtensionRegistry.Refusal]

    init(_ registry: ExtensionRegistry) {
        searchPath = registry.searchPath
        identifiers = registry.extensions.map(\.identifier)
        refusals = registry.refusals
    }
}

/// A reindex that is owed.
public struct OwedJob: Hashable, Sendable, Codable {
    /// Whose.
    public var bundle: String
    /// How often it was tried and failed.
    public var failures: Int
    /// Why it failed the last time.
    public var lastFailure: String?

    init(_ job: Job) { (bundle, failures, lastFailure) = (job.bundle, job.failures, job.lastFailure) }
}

/// How a store is.
public struct StoreStatus: Hashable, Sendable, Codable {
    /// How many items each bundle has.
    public var itemCounts: [String: Int]
    /// What the last opening found that found something; `nil` if none ever did.
    public var lastFindings: KeptFindings?
    /// How much there is of what.
    public var sizes: StoreSizes
    /// Grows whenever donations were lost.
    public var generation: Int
    /// The reindexes that are owed.
    public var owedJobs: [OwedJob]
    /// Whether damage was met that is mended when the store is changed the next time.
    public var needsRepair: Bool
    /// Whether the list of owed jobs cannot be read.
    public var hasDamagedJobs: Bool
    /// Whether the file of the schedule could not be read, and was begun anew.
    public var hasDamagedSchedule: Bool
    /// How many entries of the journal cannot be shown.
    public var waitingEntries: Int
    /// What is durable and cannot be found yet; `nil` if there is nothing.
    public var pending: PendingDonations?
    /// The extensions that are missing and whose items will be deleted.
    public var removals: [PendingRemoval]
    /// What confines extensions, and what they tried.
    public var sandbox: SandboxStatus
    /// The service that answered; `nil` if it was this process itself.
    public var service: ServiceFacts?
}

/// What a service says of itself.
public struct ServiceFacts: Hashable, Sendable, Codable {
    /// Its process.
    public var processIdentifier: Int32
    /// The version of the program.
    public var version: String
    /// How long it has run, in seconds.
    public var uptime: Double
    /// How many are connected, the one who asks among them.
    public var clients: Int
    /// The donations of apps that are in flight.
    public var donations: DonationFlow

    /// Creates facts.
    public init(
        processIdentifier: Int32, version: String, uptime: Double, clients: Int,
        donations: DonationFlow = DonationFlow()
    ) {
        self.processIdentifier = processIdentifier
        self.version = version
        self.uptime = uptime
        self.clients = clients
        self.donations = donations
    }
}

/// Donations of apps that are in flight: received and not yet durable.
public struct DonationFlow: Hashable, Sendable, Codable {
    /// A bound at which donations wait.
    public enum Bound: String, CaseIterable, Sendable {
        /// The room for large messages.
        case message
        /// What is durable and not applied yet.
        case store
        /// One large donation is logged at a time.
        case large
    }
    /// Their bytes.
    public var bytes: Int
    /// How many there are.
    public var donations: Int
    /// How many were rejected since the start, because too much was in flight.
    public var rejected: Int
    /// How many wait, by the name of the ``Bound`` that holds them up.
    public var waiting: [String: Int] = [:]

    /// Creates counts.
    public init(bytes: Int = 0, donations: Int = 0, rejected: Int = 0) {
        (self.bytes, self.donations, self.rejected) = (bytes, donations, rejected)
    }
}
