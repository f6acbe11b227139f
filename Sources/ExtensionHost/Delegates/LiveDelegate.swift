// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages

/// A running app that is registered as the delegate of its bundle. The owner of the connection to
/// the app conforms. All functions may be called from any thread, concurrently.
public protocol LiveDelegate: Sendable {
    /// Sends a request to the app and waits without a time limit; the caller enforces limits. The
    /// caller cancels the task when it stops waiting, except after a time-out: a late reply shows
    /// that the app works again.
    ///
    /// - Parameter request: Any request except `load`.
    /// - Throws: ``BusError``: `disconnected` if the app disconnected, `remote` for an error that
    ///   the app returned.
    func perform(_ request: WorkerRequest) async throws(BusError) -> [BusValue]

    /// Returns when everything that the app has sent over this connection so far is stored,
    /// rejected, or dropped because the connection ended. After that, no donation from the app can
    /// follow another responder's donations. Also returns if the app has exited.
    func settle() async

    /// Returns the error of the first valid donation that could not be stored since the last call,
    /// for example because of a full disk. A reindex with such an error has failed.
    func takeLoss() -> BusError?
}

/// The identity of one registration of a delegate. Unique within a process.
public struct DelegateToken: Hashable, Sendable {
    let number: UInt64
}
