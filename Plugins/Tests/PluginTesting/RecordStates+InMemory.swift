// SPDX-License-Identifier: Apache-2.0
import FileDonations
import Synchronization

extension RecordStates {
    /// States that are kept in memory.
    package static func inMemory() -> RecordStates {
        let stored = Stored()
        return RecordStates(
            load: { path in stored.digests.withLock { $0[path] } },
            store: { digests, path in stored.digests.withLock { $0[path] = digests } })
    }

    private final class Stored: Sendable {
        let digests = Mutex<[String: RecordDigests]>([:])
    }
}
