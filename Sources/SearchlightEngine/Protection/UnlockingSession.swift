// SPDX-License-Identifier: Apache-2.0

/// The user's session, for the time while protected items are unlocked. It ends with its owner.
package struct UnlockingSession: Sendable {
    /// `true` if the session is locked, so that nothing may be unlocked.
    package var isLocked: Bool
    /// A sentence for each lock of the session that will go unnoticed.
    package var notes: [String]
    /// The object that follows the session.
    package var owner: (any Sendable)?

    package init(isLocked: Bool = false, notes: [String] = [], owner: (any Sendable)? = nil) {
        (self.isLocked, self.notes, self.owner) = (isLocked, notes, owner)
    }
}
