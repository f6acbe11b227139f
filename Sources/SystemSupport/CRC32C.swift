// SPDX-License-Identifier: Apache-2.0
import CSystem

/// CRC-32C (Castagnoli; reflected polynomial 0x82F63B78, as in RFC 3720). It processes eight bytes
/// at a time, using the processor's CRC instruction or tables.
///
/// It protects against accidental changes, not against malicious ones. It detects all bursts of up
/// to 32 bits, and any three wrong bits in an entry of any length.
package struct CRC32C {
    /// Eight tables of 256 entries, in order. Table k contains the contribution of a byte followed
    /// by k zero bytes.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var rest = UInt32(byte)
            for _ in 0..<8 { rest = rest & 1 == 1 ? (rest >> 1) ^ 0x82F6_3B78 : rest >> 1 }
            tables[byte] = rest
        }
        for index in 256..<(8 * 256) {
            let shorter = tables[index - 256]
            tables[index] = (shorter >> 8) ^ tables[Int(shorter & 0xFF)]
        }
        return tables
    }()

    private var state: UInt32

    /// Starts a checksum, or continues an earlier one.
    package init(continuing checksum: UInt32 = 0) { state = ~checksum }

    /// The checksum of the added bytes.
    package var value: UInt32 { ~state }

    private static let hasInstruction = csystem_has_crc32c() != 0

    /// Adds bytes in linear time.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard Self.hasInstruction else { return addByTables(bytes) }
        state = csystem_crc32c(state, bytes.baseAddress, bytes.count)
    }

    /// Adds bytes without the processor instruction.
    mutating func addByTables(_ bytes: UnsafeRawBufferPointer) {
        var crc = state
        var offset = 0
        let count = bytes.count
        Self.tables.withUnsafeBufferPointer { table in
            while count - offset >= 8 {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                let low = UInt32(truncatingIfNeeded: word) ^ crc
                let high = UInt32(truncatingIfNeeded: word >> 32)
                crc = table[1792 + Int(low & 0xFF)] ^ table[1536 + Int((low >> 8) & 0xFF)]
                crc ^= table[1280 + Int((low >> 16) & 0xFF)] ^ table[1024 + Int(low >> 24)]
                crc ^= table[768 + Int(high & 0xFF)] ^ table[512 + Int((high >> 8) & 0xFF)]
                crc ^= table[256 + Int((high >> 16) & 0xFF)] ^ table[Int(high >> 24)]
                offset += 8
            }
            while offset < count {
                crc = table[Int((crc ^ UInt32(bytes[offset])) & 0xFF)] ^ (crc >> 8)
                offset += 1
            }
        }
        state = crc
    }

    /// Returns the checksum of some bytes, which may continue another checksum.
    package static func of(_ bytes: [UInt8], continuing checksum: UInt32 = 0) -> UInt32 {
        var crc = CRC32C(continuing: checksum)
        bytes.withUnsafeBytes { crc.add($0) }
        return crc.value
    }
}
