// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SystemSupport
import TestSupport
import Testing

@testable import WriteAheadLog

/// The encoding of entries, and the checksum.
@Suite struct LogEntryTests {
    private static func random(_ generator: inout SplitMix64) -> LogEntry {
        func bytes(_ bound: Int, _ generator: inout SplitMix64) -> [UInt8] {
            (0..<generator.below(bound)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        }
        func texts(_ generator: inout SplitMix64) -> [String] {
            (0..<generator.below(4)).map { _ in generator.text(length: generator.below(12)) }
        }
        let changes = (0..<generator.below(5)).map { _ -> EncodedChange in
            switch generator.below(4) {
            case 0: .put(bytes(80, &generator))
            case 1: .deleteItems(texts(&generator))
            case 2: .deleteDomains(texts(&generator))
            default: .deleteAll
            }
        }
        return LogEntry(
            scope: IndexScope(
                bundle: generator.text(length: generator.below(20)),
                index: generator.below(2) == 0 ? nil : generator.text(length: generator.below(5))),
            changes: changes, clientState: generator.below(2) == 0 ? nil : bytes(251, &generator),
            moment: generator.below(2) == 0
                ? nil
                : .init(
                    wall: Double(generator.below(1000)), boot: generator.next(), seconds: Double(generator.below(9))))
    }

    @Test("Entries come back as they were", arguments: (1...200).map { UInt64($0) })
    func roundTrip(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let entry = Self.random(&generator)
        #expect(try LogEntry(decoding: entry.encoded()) == entry)
    }

    @Test("No bytes make decoding trap; what decodes has one encoding", arguments: (1...300).map { UInt64($0) })
    func fuzz(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let whole = try Self.random(&generator).encoded()
        for _ in 0..<100 {
            var bytes = whole
            for _ in 0...generator.below(3) {
                switch generator.below(4) {
                case 0: bytes = Array(bytes.prefix(generator.below(bytes.count + 1)))
                case 1: bytes.append(UInt8(truncatingIfNeeded: generator.next()))
                case 2 where !bytes.isEmpty:
                    bytes[generator.below(bytes.count)] = generator.pick([0, 1, 0x7F, 0x80, 0xFF])
                default:
                    if !bytes.isEmpty { bytes[generator.below(bytes.count)] ^= 1 << UInt8(generator.below(8)) }
                }
            }
            guard let entry = try? LogEntry(decoding: bytes) else { continue }
            #expect(try entry.encoded() == bytes, "seed \(seed)")
        }
    }

    @Test("Every cut of an entry is an error")
    func cuts() throws {
        var entry = LogTest.entry(1, state: "state")
        entry.changes += [.deleteItems(["a", ""]), .deleteDomains(["b.c"]), .deleteAll]
        let bytes = try entry.encoded()
        for length in bytes.indices {
            #expect(throws: LogEntryError.self) { try LogEntry(decoding: Array(bytes.prefix(length))) }
        }
        #expect(throws: LogEntryError.self) { try LogEntry(decoding: bytes + [0]) }
    }

    @Test("A later version of an entry is named")
    func laterVersion() throws {
        var bytes = try LogTest.entry(1).encoded()
        bytes[0] = 2
        #expect(throws: LogEntryError.unknownVersion(2)) { try LogEntry(decoding: bytes) }
    }

    @Test("The first version of the encoding stays as it is")
    func fixture() throws {
        let entry = LogEntry(
            scope: IndexScope(bundle: "b", index: "n"),
            changes: [.put([9, 8]), .deleteItems(["i"]), .deleteDomains(["d"]), .deleteAll], clientState: [7])
        let bytes: [UInt8] = [
            1, 3, 1, 0, 0, 0, 98, 1, 0, 0, 0, 110, 1, 7, 4, 0, 0, 0,
            1, 2, 0, 0, 0, 9, 8, 2, 1, 0, 0, 0, 1, 0, 0, 0, 105, 3, 1, 0, 0, 0, 1, 0, 0, 0, 100, 4,
        ]
        #expect(try entry.encoded() == bytes)
        #expect(try LogEntry(decoding: bytes) == entry)
    }

    @Test("CRC-32C gives the values of RFC 3720, B.4, in one step or several")
    func checksum() {
        #expect(CRC32C.of([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        #expect(CRC32C.of([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
        #expect(CRC32C.of(Array(0..<32)) == 0x46DD_794E)
        #expect(CRC32C.of(Array("123456789".utf8)) == 0xE306_9283)
        #expect(CRC32C.of([]) == 0)
        let bytes = (0..<100).map { UInt8($0) }
        for cut in bytes.indices {
            let first = CRC32C.of(Array(bytes[..<cut]))
            #expect(CRC32C.of(Array(bytes[cut...]), continuing: first) == CRC32C.of(bytes))
        }
    }
}
