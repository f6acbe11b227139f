// SPDX-License-Identifier: Apache-2.0

/// How long a job can wait before it presses.
public enum Urgency: String, Hashable, Sendable, Codable, CaseIterable {
    /// A person waits; it runs whatever the machine is like.
    case userWaiting = "user-waiting"
    /// What can be found is not what there is: something was added, changed or lost.
    case freshness
    /// Items are about to expire.
    case expiry
    /// The index can be made smaller or quicker.
    case maintenance
}
