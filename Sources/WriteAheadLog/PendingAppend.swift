// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SystemSupport

/// An accepted entry on its way to the disk.
struct PendingAppend: Sendable {
    /// Whose client state it may change.
    var scope: IndexScope
    /// How it changes it.
    var stateChange: ClientStateChange
    /// The encoded entry before its changes,
    let head: [UInt8]
    /// and these, as they were donated.
    let changes: [UInt8]
    /// The checksum of both.
    let checksum: UInt32
    /// Under what condition it was accepted.
    var precondition: WriteAheadLog.Precondition?
    /// Called once, when it is durable or has failed.
    var completion: @Sendable (Result<UInt64, LogError>) -> Void

    init(
        scope: IndexScope, stateChange: ClientStateChange, head: [UInt8], changes: [UInt8],
        precondition: WriteAheadLog.Precondition?, completion: @escaping @Sendable (Result<UInt64, LogError>) -> Void
    ) {
        (self.scope, self.stateChange, self.head, self.changes) = (scope, stateChange, head, changes)
        (self.precondition, self.completion) = (precondition, completion)
        checksum = CRC32C.of(changes, continuing: CRC32C.of(head))
    }

    /// The length of the encoded entry.
    var byteCount: Int { head.count + changes.count }
}
