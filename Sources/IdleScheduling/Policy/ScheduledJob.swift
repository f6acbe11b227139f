// SPDX-License-Identifier: Apache-2.0

/// What is known of a job when it is decided whether it may run.
public struct ScheduledJob: Hashable, Sendable, Codable {
    /// What tells jobs apart. There is one reindex for each bundle, since requests melt together (``JobQueue``).
    public enum Key: Hashable, Sendable, Codable, Comparable {
        /// What a bundle owes.
        case reindex(bundle: String)
        /// Care for the index.
        case maintenance(MaintenanceTask)

        /// The bundle of a reindex.
        public var bundle: String? { if case .reindex(let bundle) = self { bundle } else { nil } }

        /// Bundles come before care for the index.
        public static func < (one: Key, other: Key) -> Bool {
            switch (one, other) {
            case (.reindex(let one), .reindex(let other)): one < other
            case (.maintenance(let one), .maintenance(let other)): one.rawValue < other.rawValue
            case (.reindex, .maintenance): true
            case (.maintenance, .reindex): false
            }
        }
    }
    /// Why the extension may not be asked at all.
    public enum Refusal: Hashable, Sendable, Codable {
        /// A person does not want it to be used.
        case disabled
        /// It crashed too often.
        case quarantined
    }

    /// Which it is.
    public var key: Key
    /// How long it can wait.
    public var urgency: Urgency
    /// When it was first asked for.
    public var requested: Double
    /// When what it is about is lost, if that is known: items expire then.
    public var deadline: Double?
    /// Not before this moment: it failed, or its extension did.
    public var notBefore: Double?
    /// Why its extension may not be asked.
    public var refusal: Refusal?
    /// Whether it goes on where it was after a stop (a reindex in pages, care for the index). One that does not would begin
    /// anew, so it is stopped only if it has to be.
    public var isResumable = false

    /// Creates a job.
    public init(key: Key, urgency: Urgency, requested: Double) {
        (self.key, self.urgency, self.requested) = (key, urgency, requested)
    }
}

/// Care for the index that no extension has a part in.
public enum MaintenanceTask: String, Hashable, Sendable, Codable, CaseIterable {
    /// Deletes what has expired.
    case purgeExpired = "purge-expired"
    /// Merges the full-text tables' segments.
    case optimize
    /// Gives free pages back to the file system.
    case vacuum
}
