// SPDX-License-Identifier: Apache-2.0

/// The health record of one extension, and its consequences. A pure value; the owner stores it
/// (``HealthStore``). Moments are in seconds since 2001-01-01 UTC.
public struct ExtensionHealth: Hashable, Sendable, Codable {
    /// A kind of failure that gives information about the extension's state.
    public enum FailureKind: String, Sendable, Codable, CaseIterable {
        /// The worker crashed or exited.
        case crashed
        /// The worker exceeded its memory limit.
        case memoryExceeded
        /// The extension did not reply in time and did not react to its cancellation, so its worker
        /// was terminated.
        case hung
        /// The extension did not reply in time, but reacted to its cancellation.
        case late
        /// The library could not be loaded.
        case notLoaded

        /// `true` if a worker was lost. Only these failures count towards a quarantine.
        public var isCrash: Bool {
            switch self {
            case .crashed, .memoryExceeded, .hung: true
            case .late, .notLoaded: false
            }
        }
    }

    /// One failure, with its evidence.
    public struct Failure: Hashable, Sendable, Codable {
        /// The time of the failure.
        public var moment: Double
        /// The kind of the failure.
        public var kind: FailureKind
        /// The purpose of the request, to complete "was asked to".
        public var during: String
        /// The worker's exit status, if it exited by itself.
        public var exit: WorkerExit?
        /// The last lines of output, oldest first.
        public var lastOutput: [String]

        /// Creates a failure. Texts that are too long are truncated.
        public init(
            moment: Double, kind: FailureKind, during: String, exit: WorkerExit? = nil, lastOutput: [String] = []
        ) {
            self.moment = moment
            self.kind = kind
            self.during = HealthLimits.cut(during)
            self.exit = exit
            self.lastOutput = lastOutput.suffix(HealthLimits.lines).map(HealthLimits.cut)
        }

        /// A description of the failure, as the rest of a sentence about the extension.
        public var summary: String {
            switch kind {
            case .crashed: (exit?.description ?? "ended its worker") + " during the request to \(during)"
            case .memoryExceeded: "exceeded its memory limit during the request to \(during)"
            case .hung: "did not stop after the time limit of the request to \(during)"
            case .late: "did not answer the request to \(during) in time"
            case .notLoaded: "could not be loaded"
            }
        }
    }

    /// The state in which an extension receives no requests until it changes or the user releases
    /// it.
    public struct Quarantine: Hashable, Sendable, Codable {
        /// The start of the quarantine, in seconds since 2001-01-01 UTC.
        public var since: Double
        /// The reason, to complete a sentence about the extension.
        public var reason: String
        /// The failure that caused the quarantine, with its evidence.
        public var evidence: Failure
        /// The fingerprint at the time of the failure. The quarantine ends when it changes.
        public var fingerprint: BundleFingerprint
    }

    /// The state in which an extension temporarily only receives interactive requests.
    public struct BackOff: Hashable, Sendable, Codable {
        /// The number of consecutive failures.
        public var failures: Int
        /// The end of the back-off, in seconds since 2001-01-01 UTC.
        public var until: Double

        /// Creates a back-off from its parts.
        public init(failures: Int, until: Double) { (self.failures, self.until) = (failures, until) }
    }

    /// An item that made the extension fail. It is not requested until the extension or the host
    /// changes.
    public struct ItemSetAside: Hashable, Sendable, Codable {
        /// The item's unique identifier.
        public var identifier: String
        /// A description of the failure, as the rest of a sentence about the extension.
        public var reason: String
        /// The time of the failure.
        public var since: Double

        /// Creates an item from its parts.
        public init(identifier: String, reason: String, since: Double) {
            (self.identifier, self.reason, self.since) = (identifier, reason, since)
        }
    }

    /// `true` if the user has disabled the extension.
    public internal(set) var isDisabled = false
    /// The last failures, oldest first. Cleared when the extension or the host changes.
    public internal(set) var failures: [Failure] = []
    /// The quarantine, if the extension is in one.
    public internal(set) var quarantine: Quarantine?
    /// The back-off, if the extension is in one.
    public internal(set) var backOff: BackOff?
    /// The skip-listed items, oldest first.
    public internal(set) var itemsSetAside: [ItemSetAside] = []
    /// The fingerprint that the record refers to; `nil` while the record is empty.
    public internal(set) var fingerprint: BundleFingerprint?

    /// Creates an empty record.
    public init() {}

    /// `true` if the record is empty.
    public var isBlank: Bool {
        !isDisabled && failures.isEmpty && quarantine == nil && backOff == nil && itemsSetAside.isEmpty
    }
}

/// Limits for one extension's record.
enum HealthLimits {
    static let failures = 8
    /// The maximum number of output lines in each failure.
    static let lines = 12
    /// The maximum length of each text except identifiers, in UTF-8 bytes.
    static let textBytes = 500
    /// The maximum number of skip-listed items. A pending reindex also lists at most 1000 items by
    /// identifier.
    static let items = 1000
    /// The maximum total length of the skip-listed items' identifiers, in bytes.
    static let itemBytes = 64 << 10

    /// Returns the beginning of a text.
    static func cut(_ text: String) -> String {
        guard text.utf8.count > textBytes else { return text }
        return String(decoding: text.utf8.prefix(textBytes), as: UTF8.self) + "…"
    }
}
