// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// A random 16-byte identifier of a store. It is the start of every checksum in a log, so bytes of
/// another store, or bytes that an app forged to look like an entry, are not accepted as entries of
/// this store.
package struct StoreIdentifier: Hashable, Sendable {
    /// The length of an identifier, in bytes.
    package static let byteCount = 16

    /// The bytes, always ``byteCount`` of them.
    package let bytes: [UInt8]

    /// Restores an identifier; `nil` unless there are exactly 16 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Creates a random identifier.
    package init() {
        // Uses the default generator. A custom generator without stored properties has size 0, so
        // all instances would share one address, and ThreadSanitizer would report a data race.
        bytes = (0..<Self.byteCount).map { _ in .random(in: .min ... .max) }
    }

    /// The initial value for the checksums of this store.
    package var checksum: UInt32 { CRC32C.of(bytes) }
}
