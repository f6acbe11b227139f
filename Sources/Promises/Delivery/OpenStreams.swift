// SPDX-License-Identifier: Apache-2.0
import Synchronization
import SystemSupport

/// The named pipes, devices and sockets that are opened once for several deliveries. The reader
/// sees one end of file, after the last delivery, and a missing reader is only waited for once.
final class OpenStreams: Sendable {
    private let opened = Mutex<[String: Result<OwnedDescriptor, PromiseError>]>([:])

    /// Returns the open stream of a path, or the error of an earlier attempt; otherwise opens it.
    func stream(
        _ path: String, _ open: () throws(PromiseError) -> OwnedDescriptor
    ) throws(PromiseError) -> OwnedDescriptor {
        // Opening may wait, so the lock is not held.
        if let before = opened.withLock({ $0[path] }) { return try before.get() }
        let result = Result { () throws(PromiseError) in try open() }
        // The cancellation of one delivery does not affect the next.
        if case .failure(.cancelled) = result { return try result.get() }
        opened.withLock { $0[path] = result }
        return try result.get()
    }

    /// Closes all streams, so that their readers see the end of file.
    func close() { opened.withLock { $0 = [:] } }
}
