// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages

/// An app that runs and answers for its bundle, as long as it is registered. Whoever has the connection to the app
/// conforms; all functions may be called from any thread, several at a time.
public protocol LiveDelegate: Sendable {
    /// Asks the app, and waits for as long as it takes: the limits are the caller's business. The task is cancelled once
    /// nobody waits any more, except after a time-out: a late answer shows that the app works again.
    ///
    /// - Parameter request: Any request but `load`.
    /// - Throws: ``BusError``: `disconnected` once the app is gone, `remote` for an error with which it answered.
    func perform(_ request: WorkerRequest) async throws(BusError) -> [BusValue]

    /// Returns when everything that the app sent before, over this connection, has been kept, refused, or dropped
    /// because the connection ended; so that nothing of it comes after what another responder donates. Returns also when
    /// the app is gone.
    func settle() async

    /// The first donation since the last call that could not be kept for a reason that is not its own, such as a full
    /// disk; a reindex during which there was one has failed.
    func takeLoss() -> BusError?
}

/// One registration of a delegate. Never used twice in a process.
public struct DelegateToken: Hashable, Sendable {
    let number: UInt64
}
