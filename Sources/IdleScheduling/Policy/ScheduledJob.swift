// SPDX-License-Identifier: Apache-2.0

/// What is known of a job when it is decided whether it may run.
public struct ScheduledJob: Hashable, Sendable, Codable {
    /// What tells jobs apart. There is one reindex for each bundle, since requests melt together (``JobQueue``).
    public enum Key: Hashable, Sendable, Codable, Comparable {
        /// What a bundle owes.
        case reindex(bundle: String)
        /// Telling a bundle's extension of files that have changed.
        case files(bundle: String)
        /// Care for the index.
        case maintenance(MaintenanceTask)

        /// The bundle of a reindex, or of changed files.
        public var bundle: String? {
            switch self {
            case .reindex(let bundle), .files(let bundle): bundle
            case .maintenance: nil
            }
        }

        /// Reindexes come first, then changed files, then care for the index; each by name.
        public static func < (one: Key, other: Key) -> Bool { one.order < other.order }

        private var order: (Int, String) {
            switch self {
            case .reindex(let bundle): (0, bundle)
            case .files(let bundle): (1, bundle)
            case .maintenance(let task): (2, task.rawValue)
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
    /// Whether it goes on where it was after a stop (a reindex in pages, changed files, care for the index). One that does
    /// not would begin anew, so it is stopped only if it has to be.
    public var isResumable = false
    /// Whether it is fresh work: changed files, so few and small that they are told at once, while the user works, too
    /// (``SchedulingPolicy/isFresh(count:bytes:)``).
    public var isFresh = false

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
