// SPDX-License-Identifier: Apache-2.0
import SystemSupport
import Foundation

/// Checksums of rows. SQLite has none, so a changed byte inside a value would go unnoticed.
///
/// A checksum covers the values that are not derived from other values. It includes the bundle's
/// name instead of its number, so that a damaged name cannot assign items to another app.
enum RowChecksum {
    static func item(
        bundle: String, index: String, identifier: String, expires: Double?, donated: Double,
        record: some ContiguousBytes
    ) -> Int64 {
        var crc = CRC32C()
        add(bundle, &crc)
        add(index, &crc)
        add(identifier, &crc)
        // SQLite returns -0 as 0.
        add(expires.map { ($0 + 0.0).bitPattern } ?? .max, &crc)
        add((donated + 0.0).bitPattern, &crc)
        record.withUnsafeBytes { crc.add($0) }
        return Int64(crc.value)
    }

    static func clientState(bundle: String, index: String, state: some ContiguousBytes) -> Int64 {
        var crc = CRC32C()
        add(bundle, &crc)
        add(index, &crc)
        state.withUnsafeBytes { crc.add($0) }
        return Int64(crc.value)
    }

    private static func add(_ text: String, _ crc: inout CRC32C) {
        var text = text
        // The length comes first, so that different rows cannot produce the same bytes.
        add(UInt64(text.utf8.count), &crc)
        text.withUTF8 { crc.add(UnsafeRawBufferPointer($0)) }
    }

    private static func add(_ number: UInt64, _ crc: inout CRC32C) {
        withUnsafeBytes(of: number.littleEndian) { crc.add($0) }
    }
}
