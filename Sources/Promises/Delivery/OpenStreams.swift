// SPDX-License-Identifier: Apache-2.0
import Synchronization
import SystemSupport

/// What is not replaced but written to (named pipes, devices, sockets) and opened once for several deliveries: its reader
/// sees one end, after the last of them, and a reader that does not come is waited for once.
final class OpenStreams: Sendable {
    private let opened = Mutex<[String: Result<OwnedDescriptor, PromiseError>]>([:])

    /// What is open already, or why it could not be opened; else opens it.
    func stream(
        _ path: String, _ open: () throws(PromiseError) -> OwnedDescriptor
    ) throws(PromiseError) -> OwnedDescriptor {
        // Opening may wait, so not within the lock.
        if let before = opened.withLock({ $0[path] }) { return try before.get() }
        let result = Result { () throws(PromiseError) in try open() }
        // That one delivery was cancelled says nothing of the next.
        if case .failure(.cancelled) = result { return try result.get() }
        opened.withLock { $0[path] = result }
        return try result.get()
    }

    /// Closes them, which their readers are waiting for.
    func close() { opened.withLock { $0 = [:] } }
}
