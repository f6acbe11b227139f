// SPDX-License-Identifier: Apache-2.0

/// What is known of how one extension behaves, and what follows from it. A pure value: whoever holds it keeps it
/// (``HealthStore``). Moments are in seconds since 2001-01-01 UTC.
public struct ExtensionHealth: Hashable, Sendable, Codable {
    /// How an extension failed, so that it says something about its state.
    public enum FailureKind: String, Sendable, Codable, CaseIterable {
        /// Its worker crashed or ended by itself.
        case crashed
        /// Its worker took more memory than it may.
        case memoryExceeded
        /// It did not stop when it was told to, so that its worker was ended.
        case hung
        /// It did not answer in time, and stopped when it was told to.
        case late
        /// It could not be loaded.
        case notLoaded

        /// Whether a worker was lost by it. Only this counts towards a quarantine.
        public var isCrash: Bool {
            switch self {
            case .crashed, .memoryExceeded, .hung: true
            case .late, .notLoaded: false
            }
        }
    }

    /// One failure, with all that was seen of it.
    public struct Failure: Hashable, Sendable, Codable {
        /// When.
        public var moment: Double
        /// How.
        public var kind: FailureKind
        /// What it was asked to do, as the rest of "was asked to".
        public var during: String
        /// How the worker ended, where it did by itself.
        public var exit: WorkerExit?
        /// The last lines it printed, oldest first.
        public var lastOutput: [String]

        /// Creates a failure; what is too long is cut.
        public init(
            moment: Double, kind: FailureKind, during: String, exit: WorkerExit? = nil, lastOutput: [String] = []
        ) {
            self.moment = moment
            self.kind = kind
            self.during = HealthLimits.cut(during)
            self.exit = exit
            self.lastOutput = lastOutput.suffix(HealthLimits.lines).map(HealthLimits.cut)
        }

        /// What happened, as the rest of a sentence about the extension.
        public var summary: String {
            switch kind {
            case .crashed: (exit?.description ?? "ended its worker") + " while it was asked to \(during)"
            case .memoryExceeded: "took more memory than it may while it was asked to \(during)"
            case .hung: "did not stop when it was late with its answer to \(during)"
            case .late: "did not answer in time when it was asked to \(during)"
            case .notLoaded: "could not be loaded"
            }
        }
    }

    /// The state of not being asked anything, until something changes or a person releases it.
    public struct Quarantine: Hashable, Sendable, Codable {
        /// Since when.
        public var since: Double
        /// Why, as the rest of a sentence about the extension.
        public var reason: String
        /// The failure that led to it: signal, last lines, what it was asked.
        public var evidence: Failure
        /// What of the extension and the host was there then; once that changes, the quarantine ends.
        public var fingerprint: BundleFingerprint
    }

    /// The state of being left alone for a while.
    public struct BackOff: Hashable, Sendable, Codable {
        /// How often it failed in a row.
        public var failures: Int
        /// Until when nobody asks but a person who waits.
        public var until: Double

        /// Creates a back-off from its parts.
        public init(failures: Int, until: Double) { (self.failures, self.until) = (failures, until) }
    }

    /// An item that made the extension fail, and is not asked for until something changes.
    public struct ItemSetAside: Hashable, Sendable, Codable {
        /// The unique identifier of the item.
        public var identifier: String
        /// What happened, as the rest of a sentence about the extension.
        public var reason: String
        /// Since when.
        public var since: Double

        /// Creates one from its parts.
        public init(identifier: String, reason: String, since: Double) {
            (self.identifier, self.reason, self.since) = (identifier, reason, since)
        }
    }

    /// Whether a person does not want it to be used.
    public internal(set) var isDisabled = false
    /// The last failures, oldest first; none since the extension or the host changed.
    public internal(set) var failures: [Failure] = []
    /// Whether and why it is not asked anything.
    public internal(set) var quarantine: Quarantine?
    /// Whether it is left alone for a while.
    public internal(set) var backOff: BackOff?
    /// The items that are not asked for, oldest first.
    public internal(set) var itemsSetAside: [ItemSetAside] = []
    /// What of the extension and the host all this is about; `nil` as long as nothing has happened.
    public internal(set) var fingerprint: BundleFingerprint?

    /// Nothing has happened.
    public init() {}

    /// Whether there is nothing to tell.
    public var isBlank: Bool {
        !isDisabled && failures.isEmpty && quarantine == nil && backOff == nil && itemsSetAside.isEmpty
    }
}

/// Bounds on what is kept of one extension.
enum HealthLimits {
    static let failures = 8
    /// Lines of each failure.
    static let lines = 12
    /// Bytes of each text but identifiers.
    static let textBytes = 500
    /// Items set aside: as many as are asked for one by one.
    static let items = 1000
    /// Bytes of all identifiers of items set aside.
    static let itemBytes = 64 << 10

    /// The beginning of a text.
    static func cut(_ text: String) -> String {
        guard text.utf8.count > textBytes else { return text }
        return String(decoding: text.utf8.prefix(textBytes), as: UTF8.self) + "…"
    }
}
