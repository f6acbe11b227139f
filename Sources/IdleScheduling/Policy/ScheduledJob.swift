// SPDX-License-Identifier: Apache-2.0

/// The facts about a job that decide whether it may run.
public struct ScheduledJob: Hashable, Sendable, Codable {
    /// The identity of a job. There is one reindex for each bundle, because requests are merged
    /// (``JobQueue``).
    public enum Key: Hashable, Sendable, Codable, Comparable {
        /// The pending reindex of a bundle.
        case reindex(bundle: String)
        /// The delivery of changed files to a bundle's extension.
        case files(bundle: String)
        /// A maintenance task of the index.
        case maintenance(MaintenanceTask)

        /// The bundle of a reindex or of changed files.
        public var bundle: String? {
            switch self {
            case .reindex(let bundle), .files(let bundle): bundle
            case .maintenance: nil
            }
        }

        /// Orders reindexes first, then changed files, then maintenance; each by name.
        public static func < (one: Key, other: Key) -> Bool { one.order < other.order }

        private var order: (Int, String) {
            switch self {
            case .reindex(let bundle): (0, bundle)
            case .files(let bundle): (1, bundle)
            case .maintenance(let task): (2, task.rawValue)
            }
        }
    }
    /// The reason why the extension may not be called at all.
    public enum Refusal: Hashable, Sendable, Codable {
        /// The user disabled the extension.
        case disabled
        /// The extension crashed too often.
        case quarantined
    }

    /// The identity of the job.
    public var key: Key
    /// The urgency.
    public var urgency: Urgency
    /// The time of the first request.
    public var requested: Double
    /// The time at which the items expire, if it is known.
    public var deadline: Double?
    /// The earliest start after a failure of the job or its extension.
    public var notBefore: Double?
    /// The reason why the extension may not be called.
    public var refusal: Refusal?
    /// `true` if the job continues from its position after a stop: a paged reindex, changed files,
    /// or maintenance. Other jobs restart from the beginning, so they are stopped only if
    /// necessary.
    public var isResumable = false
    /// `true` if this is fresh work: a few small changed files that are delivered at once, even
    /// while the user is active (``SchedulingPolicy/isFresh(count:bytes:)``).
    public var isFresh = false

    /// Creates a job.
    public init(key: Key, urgency: Urgency, requested: Double) {
        (self.key, self.urgency, self.requested) = (key, urgency, requested)
    }
}

/// A maintenance task of the index that involves no extension.
public enum MaintenanceTask: String, Hashable, Sendable, Codable, CaseIterable {
    /// Deletes expired items.
    case purgeExpired = "purge-expired"
    /// Merges the segments of the full-text tables.
    case optimize
    /// Returns free pages to the file system.
    case vacuum
    /// Computes embeddings of items with the installed model.
    case embed
}
