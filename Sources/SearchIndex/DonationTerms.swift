// SPDX-License-Identifier: Apache-2.0

/// The conditions for accepting a batch, besides the client state that it expects.
public struct DonationTerms: Sendable {
    /// `true` if the batch waits until the store has room for it; `false` if its donor has already
    /// waited (``SearchIndex/waitForRoom(for:)``).
    public var waitsForRoom = true
    /// Decides at the moment of acceptance, after all waits, whether the batch is still wanted.
    ///
    /// Called in the order of acceptance with a lock held, possibly more than once. Must return
    /// quickly and must not use the index.
    public var isWanted: @Sendable () -> Bool = { true }

    /// Called before a wait for all pending donations, which may be long.
    public var beforeLongWait: @Sendable () -> Void = {}
    /// Called after that wait, however it ended.
    public var afterLongWait: @Sendable () async -> Void = {}

    /// Creates terms that accept every batch once there is room.
    public init() {}
}
