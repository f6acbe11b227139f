// SPDX-License-Identifier: Apache-2.0
import Synchronization
import SystemSupport

/// The named pipes, devices and sockets that are opened once for several deliveries. So the reader
/// sees a single end of file, after the last delivery, and a missing reader is only waited for
/// once.
final class OpenStreams: Sendable {
    private let opened = Mutex<[String: Result<OwnedDescriptor, PromiseError>]>([:])

    /// Returns the open stream for a path, or the error from an earlier attempt; otherwise opens
    /// it.
    func stream(
        _ path: String, _ open: () throws(PromiseError) -> OwnedDescriptor
    ) throws(PromiseError) -> OwnedDescriptor {
        // Opening may wait, so the lock is not held.
        if let before = opened.withLock({ $0[path] }) { return try before.get() }
        let result = Result { () throws(PromiseError) in try open() }
        // Cancelling one delivery does not affect the next one.
        if case .failure(.cancelled) = result { return try result.get() }
        opened.withLock { $0[path] = result }
        return try result.get()
    }

    /// Closes all streams, so that their readers see the end of file.
    func close() { opened.withLock { $0 = [:] } }
}
