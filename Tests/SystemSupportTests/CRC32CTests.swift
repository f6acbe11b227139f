// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import SystemSupport

@Suite("Checksums")
struct CRC32CTests {
    @Test("A known text has its known checksum, and the instruction and the tables agree on all bytes")
    func agreement() {
        #expect(CRC32C.of(Array("123456789".utf8)) == 0xE306_9283)
        var random = SplitMix64(seed: 26)
        let bytes = (0..<600).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        for start in 0..<9 {
            for end in stride(from: start, through: bytes.count, by: 7) {
                bytes.withUnsafeBytes { buffer in
                    let part = UnsafeRawBufferPointer(rebasing: buffer[start..<end])
                    var (one, other) = (CRC32C(continuing: 5), CRC32C(continuing: 5))
                    one.add(part)
                    other.addByTables(part)
                    #expect(one.value == other.value, "\(start)..<\(end)")
                }
            }
        }
    }
}
