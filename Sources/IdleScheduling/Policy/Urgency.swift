// SPDX-License-Identifier: Apache-2.0

/// The urgency of a job, which determines how long it may wait.
public enum Urgency: String, Hashable, Sendable, Codable, CaseIterable {
    /// The user is waiting. The job runs under all machine conditions.
    case userWaiting = "user-waiting"
    /// Search results are out of date: something was added, changed or lost.
    case freshness
    /// Items are about to expire.
    case expiry
    /// The index could be made smaller or faster.
    case maintenance
}
