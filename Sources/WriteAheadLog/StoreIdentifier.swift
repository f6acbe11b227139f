// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// Sixteen random bytes that tell one store from another. Every checksum of a log begins with them, so that bytes of
/// another store, or bytes that an app made to look like an entry, do not pass for entries of this one.
package struct StoreIdentifier: Hashable, Sendable {
    /// How long one is, in bytes.
    package static let byteCount = 16

    /// The bytes; always ``byteCount`` of them.
    package let bytes: [UInt8]

    /// Takes bytes as they were kept; `nil` unless there are sixteen.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Makes a new one.
    package init() {
        // Without a generator of our own: that has no size, so that all of them would be at one address, which
        // ThreadSanitizer takes for one variable that several threads change.
        bytes = (0..<Self.byteCount).map { _ in .random(in: .min ... .max) }
    }

    /// What the checksums of this store begin with.
    package var checksum: UInt32 { CRC32C.of(bytes) }
}
