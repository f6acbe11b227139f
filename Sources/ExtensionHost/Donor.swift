// SPDX-License-Identifier: Apache-2.0

/// The origin of a donation. It determines the meaning of a “delete all” during a reindex of the
/// bundle.
public enum Donor: Hashable, Sendable {
    /// The worker process of the bundle's extension.
    case worker
    /// The bundle's app, on the connection on which it registered as a delegate.
    case delegate(DelegateToken)
    /// The bundle's app, on any other connection.
    case app
}
