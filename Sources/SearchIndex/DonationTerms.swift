// SPDX-License-Identifier: Apache-2.0

/// Terms on which a batch is accepted, besides the client state that it expects.
public struct DonationTerms: Sendable {
    /// Whether the batch waits for room in the store; `false` if its donor has waited before
    /// (``SearchIndex/waitForRoom(for:)``).
    public var waitsForRoom = true
    /// Decides at the moment of acceptance whether the batch is still wanted, after all waits.
    ///
    /// Called in the order of acceptance with a lock held, and perhaps more than once: quick, and without use of the index.
    public var isWanted: @Sendable () -> Bool = { true }

    /// Called before a wait for all that is pending, which may take long.
    public var beforeLongWait: @Sendable () -> Void = {}
    /// Called after it, whatever its end.
    public var afterLongWait: @Sendable () async -> Void = {}

    /// Terms that accept every batch once there is room.
    public init() {}
}
