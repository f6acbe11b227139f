// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// An accepted entry on its way to the disk.
struct PendingAppend: Sendable {
    /// Whose client state it may change.
    var scope: IndexScope
    /// How it changes it.
    var stateChange: ClientStateChange
    /// The encoded entry.
    var payload: [UInt8]
    /// The checksum of `payload`.
    var checksum: UInt32
    /// Under what condition it was accepted.
    var precondition: WriteAheadLog.Precondition?
    /// Called once, when it is durable or has failed.
    var completion: @Sendable (Result<UInt64, LogError>) -> Void
}
