// SPDX-License-Identifier: Apache-2.0

/// Who donates for a bundle. What a deletion of everything means while that bundle is reindexed depends on it.
public enum Donor: Hashable, Sendable {
    /// The worker of its extension.
    case worker
    /// Its app, over the connection over which it registered as a delegate.
    case delegate(DelegateToken)
    /// Its app, over any other connection.
    case app
}
