// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SystemSupport

/// An accepted entry that is not written yet.
struct PendingAppend: Sendable {
    /// The scope whose client state the entry may change.
    var scope: IndexScope
    /// The entry's change to the client state.
    var stateChange: ClientStateChange
    /// The encoded entry, without its changes.
    let head: [UInt8]
    /// The changes, as they were donated.
    let changes: [UInt8]
    /// The checksum of the head and the changes.
    let checksum: UInt32
    /// The precondition for accepting the entry.
    var precondition: WriteAheadLog.Precondition?
    /// Called once when the entry is durable or has failed.
    var completion: @Sendable (Result<UInt64, LogError>) -> Void

    init(
        scope: IndexScope, stateChange: ClientStateChange, head: [UInt8], changes: [UInt8],
        precondition: WriteAheadLog.Precondition?, completion: @escaping @Sendable (Result<UInt64, LogError>) -> Void
    ) {
        (self.scope, self.stateChange, self.head, self.changes) = (scope, stateChange, head, changes)
        (self.precondition, self.completion) = (precondition, completion)
        checksum = CRC32C.of(changes, continuing: CRC32C.of(head))
    }

    /// The length of the encoded entry, in bytes.
    var byteCount: Int { head.count + changes.count }
}
