// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SystemSupport
import TestSupport
import Testing

@testable import WriteAheadLog

/// The log reports changed, truncated and missing files, and reads all readable entries.
@Suite struct LogDamageTests {
    /// Returns several segments, with groups of one or more entries, as a kill leaves them.
    private static func example() async throws -> (contents: [String: [UInt8]], records: [NumberedLogEntry]) {
        let disk = LogTestDisk(seed: 1)
        let log = try LogTest.open(disk, segmentBytes: 300)
        var number = 0
        for size in [1, 3, 1, 2, 1, 1, 4] {
            let entries = (number..<(number + size)).map { LogTest.entry($0, bytes: 12 + $0) }
            number += size
            for result in await log.appendTogether(entries) { _ = try result.get() }
        }
        try #require(log.statistics.segments == 3)
        return (disk.contents, try log.records())
    }

    /// Opens changed files. All entries are read in order, except those that a finding reports.
    private static func check(
        _ contents: [String: [UInt8]], _ records: [NumberedLogEntry], _ what: String
    ) throws -> [LogFinding] {
        let disk = LogTestDisk(seed: 2)
        disk.contents = contents
        let log = try LogTest.open(disk)
        let damage = log.findings.filter(\.isDamage)
        try #require(!damage.isEmpty, "\(what) is not reported: \(log.findings)")
        let lost = damage.compactMap { $0.lostEntries(after: 0) }
        let expected = records.filter { record in !lost.contains { $0.contains(record.sequence) } }
        var found: [NumberedLogEntry] = []
        var failures: [ClosedRange<UInt64>] = []
        for item in log.replay(after: 0) {
            switch item {
            case .success(let record): found.append(record)
            case .failure(.damaged(let finding)): failures += [try #require(finding.lostEntries(after: 0))]
            case .failure(let error): throw error
            }
        }
        try #require(found == expected, "\(what): \(log.findings)")
        try #require(
            Set(failures.flatMap { $0 }) == Set(lost.flatMap { $0 }), "\(what): reading names what opening names")
        // An acknowledged number is never used again.
        try #require(log.lastSequence >= records.count)
        return log.findings
    }

    @Test("Any changed bit is detected and costs at most one entry", arguments: 0..<8)
    func bitFlips(bit: Int) async throws {
        let (contents, records) = try await Self.example()
        for (path, bytes) in contents {
            for offset in bytes.indices {
                var changed = contents
                changed[path]?[offset] ^= 1 << UInt8(bit)
                let findings = try Self.check(changed, records, "bit \(bit) of \(path), byte \(offset)")
                let lost = findings.compactMap { $0.lostEntries(after: 0) }
                // A header for another store or format makes the whole file unreadable. The
                // checksum shows that the header itself is intact but wrong.
                #expect(lost.allSatisfy { $0.count == 1 } && lost.count <= 1)
            }
        }
    }

    @Test("With an outdated head, later groups confirm all entries but the last")
    func staleNote() async throws {
        let disk = LogTestDisk(seed: 1)
        let log = try LogTest.open(disk, segmentBytes: 1 << 20)
        let note = LogTest.folder + "/" + LogFileNames.head
        let old = disk.contents[note]
        for number in stride(from: 1, to: 9, by: 2) {
            _ = await log.appendTogether([LogTest.entry(number), LogTest.entry(number + 1)])
        }
        var contents = disk.contents
        contents[note] = old
        let path = LogTest.folder + "/" + LogFileNames.segment(1)
        let bytes = try #require(contents[path])
        let entryBytes = (bytes.count - LogSegmentHeader.byteCount) / 8
        for offset in LogSegmentHeader.byteCount..<bytes.count {
            let changed = LogTestDisk(seed: 1)
            changed.contents = contents
            changed.contents[path]?[offset] ^= 0x10
            let sequence = UInt64((offset - LogSegmentHeader.byteCount) / entryBytes) + 1
            let opened = try LogTest.open(changed)
            if sequence <= 6 {
                #expect(opened.findings.map { $0.lostEntries(after: 0) } == [sequence...sequence])
                #expect(opened.replay(after: 0).count { (try? $0.get()) != nil } == 7)
            } else {
                // Only the note distinguishes this damage from a group that was being written when
                // the power failed.
                let start = LogSegmentHeader.byteCount + Int(sequence - 1) * entryBytes
                #expect(
                    opened.findings == [
                        .tornTail(file: LogFileNames.segment(1), offset: start, bytes: bytes.count - start)
                    ])
                #expect(try opened.records().count == Int(sequence) - 1)
                // The owner's applied number is also evidence.
                changed.contents = contents
                changed.contents[path]?[offset] ^= 0x10
                #expect(try LogTest.open(changed, applied: 8).findings.contains { $0.isDamage })
            }
        }
    }

    @Test("Any truncated file is detected")
    func truncations() async throws {
        let (contents, records) = try await Self.example()
        for (path, bytes) in contents {
            for length in bytes.indices {
                var changed = contents
                changed[path] = Array(bytes.prefix(length))
                _ = try Self.check(changed, records, "\(path) cut to \(length)")
            }
        }
    }

    @Test("Any missing file is detected")
    func missingFiles() async throws {
        let (contents, records) = try await Self.example()
        for path in contents.keys {
            var changed = contents
            changed[path] = nil
            _ = try Self.check(changed, records, "\(path) missing")
        }
        let all = try Self.check(
            contents.filter { $0.key.hasSuffix(LogFileNames.head) }, records, "all segments missing")
        #expect(all.compactMap { $0.lostEntries(after: 0) } == [1...UInt64(records.count)])
    }

    @Test("Random bytes over any part are detected", arguments: (1...200).map { UInt64($0) })
    func scribbles(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let (contents, records) = try await Self.example()
        let (path, bytes) = generator.pick(contents.sorted { $0.key < $1.key })
        let start = generator.below(bytes.count)
        let end = min(bytes.count, start + 1 + generator.below(200))
        var changed = bytes
        for offset in start..<end { changed[offset] = UInt8(truncatingIfNeeded: generator.next()) }
        guard changed != bytes else { return }
        _ = try Self.check(contents.merging([path: changed]) { $1 }, records, "seed \(seed)")
    }

    @Test("Swapped segments are detected")
    func swappedSegments() async throws {
        let (contents, records) = try await Self.example()
        let paths = contents.keys.filter { $0.hasSuffix(LogFileNames.segmentSuffix) }.sorted()
        var changed = contents
        changed[paths[0]] = contents[paths[1]]
        changed[paths[1]] = contents[paths[0]]
        let findings = try Self.check(changed, records, "swapped")
        #expect(findings.contains { if case .damaged(_, _, _, .misnamed) = $0 { true } else { false } })
    }

    @Test("A file of another store is reported and not read")
    func foreignStore() async throws {
        let (contents, records) = try await Self.example()
        let disk = LogTestDisk(seed: 1)
        let other = try LogTest.open(disk, store: LogTest.store(2))
        _ = await other.appendTogether([LogTest.entry(99)])
        let path = LogTest.folder + "/" + LogFileNames.segment(1)
        let findings = try Self.check(contents.merging([path: disk.contents[path] ?? []]) { $1 }, records, "foreign")
        #expect(
            findings.contains { if case .damaged(_, 0, 1...4, .foreignStore) = $0 { true } else { false } },
            "\(findings)")
    }

    @Test("A segment of format 1 is read and unchanged, and new entries are written to another")
    func earlierFormat() async throws {
        let disk = LogTestDisk(seed: 1)
        try await LogTest.open(disk).close()
        var header = LogSegmentHeader(store: LogTest.store(), first: 1)
        header.version = 1
        let payload = LogEntryTests.firstSample
        var segment = header.encoded
        LogFrame(
            length: UInt32(payload.count), sequence: 1, groupIndex: 0, payloadChecksum: CRC32C.of(payload)
        ).append(to: &segment, seed: LogTest.store().checksum)
        segment += payload
        let path = LogTest.folder + "/" + LogFileNames.segment(1)
        disk.contents[path] = segment
        let log = try LogTest.open(disk)
        #expect(log.findings.filter(\.isDamage) == [])
        #expect(try await log.append(LogTest.entry(2)) == 2)
        let opened = try LogTest.open(disk)
        let expected = [
            NumberedLogEntry(sequence: 1, entry: LogEntryTests.sample), .init(sequence: 2, entry: LogTest.entry(2)),
        ]
        #expect(try opened.records() == expected)
        #expect(disk.contents[path] == segment)
    }

    @Test("A later format is reported, not read and not overwritten")
    func newerFormat() async throws {
        let disk = LogTestDisk(seed: 1)
        var log = try LogTest.open(disk)
        var header = LogSegmentHeader(store: LogTest.store(), first: 1)
        header.version = 3
        let path = LogTest.folder + "/" + LogFileNames.segment(1)
        disk.contents[path] = header.encoded + [1, 2, 3]
        log = try LogTest.open(disk)
        #expect(
            log.findings == [
                .damaged(file: LogFileNames.segment(1), offset: 0, entries: 1...1, reason: .newerFormat(3))
            ])
        #expect(try await log.append(LogTest.entry(1)) == 2)
        #expect(disk.contents[path] == header.encoded + [1, 2, 3])
    }

    @Test(
        "Files with other names are reported and unchanged",
        arguments: ["ffffffffffffffff", "0000000000000000", "1", "000000000000000A", "-000000000000001", ""])
    func strangeNames(name: String) async throws {
        let (contents, records) = try await Self.example()
        let path = LogTest.folder + "/" + name + LogFileNames.segmentSuffix
        let findings = try Self.check(contents.merging([path: [1]]) { $1 }, records, name)
        #expect(
            findings == [.damaged(file: name + LogFileNames.segmentSuffix, offset: 0, entries: nil, reason: .misnamed)])
    }

    @Test("An impossible number is an error, not an overflow")
    func numbersOutOfReach() async throws {
        let disk = LogTestDisk(seed: 1)
        #expect(throws: LogError.invalidSequence(.max)) { try LogTest.open(disk, applied: .max) }
        _ = try await LogTest.open(disk).append(LogTest.entry(1))
        let whole = disk.contents
        let path = LogTest.folder + "/" + LogFileNames.segment(LogFileNames.maximumSequence)
        disk.contents[path] = [1]
        #expect(throws: LogError.invalidSequence(LogFileNames.maximumSequence)) { try LogTest.open(disk) }
        #expect(
            disk.contents.filter { $0.key.hasSuffix(LogFileNames.segmentSuffix) && $0.key != path }
                == whole.filter { $0.key.hasSuffix(LogFileNames.segmentSuffix) })
    }

    @Test("Bytes in a damaged item do not pass for an entry")
    func forgedEntry() async throws {
        let disk = LogTestDisk(seed: 1)
        let log = try LogTest.open(disk)
        // An app can create these bytes, because it knows the format but not the store's
        // identifier.
        let forged = try LogTest.entry(666).encoded()
        var frame: [UInt8] = []
        LogFrame(
            length: UInt32(forged.count), sequence: 2, groupIndex: 0, payloadChecksum: CRC32C.of(forged)
        ).append(to: &frame, seed: LogTest.store(2).checksum)
        var entry = LogTest.entry(1)
        entry.batch.changes = ChangeList([.put([7, 7] + frame + forged)])
        for entry in [entry, LogTest.entry(2)] { _ = try await log.append(entry) }
        let path = LogTest.folder + "/" + LogFileNames.segment(1)
        // Damages the length of the first entry, so that the search has to read through its
        // payload.
        disk.contents[path]?[LogSegmentHeader.byteCount + 4] ^= 1
        let opened = try LogTest.open(disk)
        #expect(
            opened.replay(after: 0).compactMap { try? $0.get() } == [.init(sequence: 2, entry: LogTest.entry(2))])
    }

    @Test("Once all is applied, damage is removed with its segment and not reported again")
    func discardingDamage() async throws {
        let (contents, records) = try await Self.example()
        let disk = LogTestDisk(seed: 1)
        disk.contents = contents
        let newest = try #require(contents.keys.filter { $0.hasSuffix(LogFileNames.segmentSuffix) }.max())
        disk.contents[newest]?[LogSegmentHeader.byteCount + 40] ^= 4
        let log = try LogTest.open(disk)
        #expect(log.findings.contains { $0.lostEntries(after: 0) != nil })
        #expect(try await !log.verify().isEmpty)
        try await log.discard(through: log.lastSequence)
        #expect(log.statistics.segments == 1)
        #expect(try await log.verify().isEmpty)
        let last = UInt64(records.count)
        let reopened = try LogTest.open(disk, applied: last)
        #expect(reopened.findings.isEmpty)
        #expect(try await reopened.append(LogTest.entry(100)) == last + 1)
    }

    @Test("Damage to entries that were applied removes nothing")
    func damageToAppliedEntries() async throws {
        let (contents, records) = try await Self.example()
        let disk = LogTestDisk(seed: 1)
        disk.contents = contents
        let newest = try #require(contents.keys.filter { $0.hasSuffix(LogFileNames.segmentSuffix) }.max())
        disk.contents[newest]?[LogSegmentHeader.byteCount + 40] ^= 4
        let applied = UInt64(records.count)
        let log = try LogTest.open(disk, applied: applied)
        #expect(!log.findings.isEmpty)
        #expect(log.findings.allSatisfy { $0.lostEntries(after: applied) == nil })
    }

    @Test("A store older than the start of the log gets the range of missing entries")
    func olderStore() async throws {
        let (contents, records) = try await Self.example()
        let disk = LogTestDisk(seed: 1)
        disk.contents = contents
        let log = try LogTest.open(disk, applied: 10)
        try await log.discard(through: 10)
        #expect(try log.records(after: 10).first?.sequence == 11)
        let older = try LogTest.open(disk, applied: 2)
        let missing = older.findings.compactMap { $0.lostEntries(after: 2) }
        #expect(missing.count == 1 && missing[0].lowerBound == 3)
        #expect(older.replay(after: 2).compactMap { try? $0.get() }.map(\.sequence).last == UInt64(records.count))
    }
}
