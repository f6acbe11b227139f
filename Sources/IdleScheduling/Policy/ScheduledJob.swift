// SPDX-License-Identifier: Apache-2.0

/// The facts about a job that determine whether it may run.
public struct ScheduledJob: Hashable, Sendable, Codable {
    /// The identity of a job. There is one reindex per bundle, because requests are merged
    /// (``JobQueue``).
    public enum Key: Hashable, Sendable, Codable, Comparable {
        /// The pending reindex of a bundle.
        case reindex(bundle: String)
        /// The delivery of changed files to a bundle's extension.
        case files(bundle: String)
        /// The request for a bundle's encrypted items: those that are about to expire, or all after
        /// a lock has rejected some.
        case encrypted(bundle: String)
        /// A maintenance task of the index.
        case maintenance(MaintenanceTask)

        /// The bundle whose items the job concerns; `nil` for maintenance.
        public var bundle: String? {
            switch self {
            case .reindex(let bundle), .files(let bundle), .encrypted(let bundle): bundle
            case .maintenance: nil
            }
        }

        /// Orders reindexes first, then file deliveries, then encrypted items, then maintenance;
        /// each sorted by name.
        public static func < (one: Key, other: Key) -> Bool { one.order < other.order }

        private var order: (Int, String) {
            switch self {
            case .reindex(let bundle): (0, bundle)
            case .files(let bundle): (1, bundle)
            case .encrypted(let bundle): (2, bundle)
            case .maintenance(let task): (3, task.rawValue)
            }
        }
    }
    /// The reason why the job must not run at all, even if the user requests it.
    public enum Refusal: Hashable, Sendable, Codable {
        /// The user disabled the extension.
        case disabled
        /// The extension crashed too often.
        case quarantined
        /// The items of the job are encrypted, and the user has locked them.
        case locked
    }

    /// The identity of the job.
    public var key: Key
    /// The urgency.
    public var urgency: Urgency
    /// The time of the first request, in seconds since 2001-01-01 UTC.
    public var requested: Double
    /// The time at which the items expire, in seconds since 2001-01-01 UTC; `nil` if unknown.
    public var deadline: Double?
    /// The earliest start time after a failure of the job or its extension, in seconds since
    /// 2001-01-01 UTC; `nil` without a failure.
    public var notBefore: Double?
    /// The reason why the job must not run; `nil` if it may.
    public var refusal: Refusal?
    /// `true` if the job continues where it left off after a stop: a paged reindex, a file
    /// delivery, or maintenance. Other jobs start over, so they are stopped only if necessary.
    public var isResumable = false
    /// `true` if this is fresh work: a few small changed files that are delivered immediately, even
    /// while the user is active (``SchedulingPolicy/isFresh(count:bytes:)``).
    public var isFresh = false

    /// Creates a job.
    public init(key: Key, urgency: Urgency, requested: Double) {
        (self.key, self.urgency, self.requested) = (key, urgency, requested)
    }
}

/// A maintenance task of the index, which involves no extension.
public enum MaintenanceTask: String, Hashable, Sendable, Codable, CaseIterable {
    /// Deletes expired items.
    case purgeExpired = "purge-expired"
    /// Merges the segments of the full-text tables.
    case optimize
    /// Returns free pages to the file system.
    case vacuum
    /// Computes item embeddings with the installed model.
    case embed
}
