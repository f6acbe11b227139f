// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SystemSupport
import TestSupport
import Testing

@testable import WriteAheadLog

/// The format of entries, and the checksum.
@Suite struct LogEntryTests {
    private static func random(_ generator: inout SplitMix64) -> LogEntry {
        func bytes(_ bound: Int, _ generator: inout SplitMix64) -> [UInt8] {
            (0..<generator.below(bound)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        }
        func texts(_ generator: inout SplitMix64) -> [String] {
            (0..<generator.below(4)).map { _ in generator.text(length: generator.below(12)) }
        }
        var batch = IndexBatch(
            scope: IndexScope(
                bundle: generator.text(length: generator.below(20)),
                index: generator.below(2) == 0 ? nil : generator.text(length: generator.below(5))),
            clientState: generator.below(2) == 0 ? nil : bytes(251, &generator))
        for _ in 0..<generator.below(5) {
            switch generator.below(6) {
            case 0: batch.changes.append(.put(bytes(80, &generator)))
            case 1: batch.changes.append(record: bytes(80, &generator))
            case 2: batch.changes.append(.deleteItems(texts(&generator)))
            case 3: batch.changes.append(.deleteDomains(texts(&generator)))
            case 4: batch.changes.append(.renameItems(texts(&generator).map { ItemRename($0, to: "n" + $0) }))
            default: batch.deleteAll()
            }
        }
        return LogEntry(
            batch,
            moment: generator.below(2) == 0
                ? nil
                : .init(
                    wall: Double(generator.below(1000)), boot: generator.next(), seconds: Double(generator.below(9))))
    }

    @Test("Entries are unchanged after encoding and decoding", arguments: (1...200).map { UInt64($0) })
    func roundTrip(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let entry = Self.random(&generator)
        #expect(try LogEntry(decoding: entry.encoded()) == entry)
    }

    @Test(
        "No bytes make decoding trap, and each decoded entry has one encoding", arguments: (1...300).map { UInt64($0) })
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
            // Version 1 entries are written as version 2.
            #expect(try bytes[0] == 1 || entry.encoded() == bytes, "seed \(seed)")
        }
    }

    @Test("A truncated entry is an error, or has fewer changes")
    func cuts() throws {
        var entry = LogTest.entry(1, state: "state")
        for change in LogTest.deletions { entry.batch.changes.append(change) }
        let bytes = try entry.encoded()
        let head = try entry.encodedHead().count
        for length in bytes.indices {
            // A list of changes has no end marker. The frame contains its length.
            guard let shorter = try? LogEntry(decoding: Array(bytes.prefix(length))) else { continue }
            #expect(length >= head && entry.batch.changes.bytes.starts(with: shorter.batch.changes.bytes))
        }
        #expect(throws: LogEntryError.self) { try LogEntry(decoding: bytes + [0]) }
    }

    @Test("A later version of an entry is reported")
    func laterVersion() throws {
        var bytes = try LogTest.entry(1).encoded()
        bytes[0] = 3
        #expect(throws: LogEntryError.unknownVersion(3)) { try LogEntry(decoding: bytes) }
    }

    /// An entry with every kind of change.
    static var sample: LogEntry {
        var batch = IndexBatch(scope: IndexScope(bundle: "b", index: "n"), clientState: [7])
        batch.changes.append(record: [9, 8])
        batch.delete(identifiers: ["i"])
        batch.delete(domains: ["d"])
        batch.deleteAll()
        return LogEntry(batch)
    }

    /// The same entry in version 1.
    static let firstSample: [UInt8] = [
        1, 3, 1, 0, 0, 0, 98, 1, 0, 0, 0, 110, 1, 7, 4, 0, 0, 0,
        1, 2, 0, 0, 0, 9, 8, 2, 1, 0, 0, 0, 1, 0, 0, 0, 105, 3, 1, 0, 0, 0, 1, 0, 0, 0, 100, 4,
    ]

    @Test("The second version of the encoding is unchanged, and ends with the donated bytes")
    func fixture() throws {
        let bytes: [UInt8] = [
            2, 0, 3, 1, 0, 98, 1, 0, 110, 1, 7,
            1, 0x86, 0x80, 0x80, 0x80, 0, 2, 0, 0, 0, 9, 8, 2, 1, 1, 105, 3, 1, 1, 100, 4,
        ]
        #expect(try Self.sample.encoded() == bytes)
        #expect(try LogEntry(decoding: bytes) == Self.sample)
        #expect(bytes.suffix(Self.sample.batch.changes.bytes.count) == Self.sample.batch.changes.bytes[...])
    }

    @Test("An entry of the first version is read")
    func firstVersion() throws {
        let bytes = Self.firstSample
        #expect(try LogEntry(decoding: bytes) == Self.sample)
        for length in bytes.indices {
            #expect(throws: LogEntryError.self) { try LogEntry(decoding: Array(bytes.prefix(length))) }
        }
        #expect(throws: LogEntryError.self) { try LogEntry(decoding: bytes + [0]) }
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
