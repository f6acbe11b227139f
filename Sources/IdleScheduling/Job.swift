// SPDX-License-Identifier: Apache-2.0

/// Work that is owed to an app's index until it is acknowledged.
public struct Job: Hashable, Sendable, Codable {
    /// What is to be done.
    public enum Work: Hashable, Sendable, Codable {
        /// Donate everything again.
        case reindexAll
        /// Donate again, or delete, some items.
        case reindexItems(Set<String>)
    }

    /// Whose index; with ``work`` this is what makes two jobs the same.
    public var bundle: String
    /// What is to be done.
    public var work: Work
    /// When it was first asked for, in seconds since 2001-01-01 UTC.
    public var requested: Double
    /// How often it was tried and failed since it last succeeded.
    public var failures: Int = 0
    /// Why it failed the last time.
    public var lastFailure: String?
    /// Not before this moment, in seconds since 2001-01-01 UTC; only a person's own request overrides it.
    public var notBefore: Double?

    /// Creates a job that has not been tried.
    public init(bundle: String, work: Work, requested: Double) {
        self.bundle = bundle
        self.work = work
        self.requested = requested
    }
}

/// How long to wait after failures: 30 s, doubling, at most 5 h (Android's job scheduler waits the same).
public enum Backoff {
    /// The first wait, in seconds.
    public static let firstDelay = 30.0
    /// The longest wait, in seconds.
    public static let longestDelay = 5.0 * 3600

    /// The wait after so many failures in a row, in seconds.
    public static func delay(afterFailures failures: Int) -> Double {
        guard failures > 0 else { return 0 }
        // 30 s doubled ten times is over five hours; a larger exponent would only overflow.
        return min(longestDelay, firstDelay * Double(1 << min(failures - 1, 16)))
    }
}
