// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import Protection
import TestSupport
import Testing
import WriteAheadLog

/// A folder with a protected index.
struct SealedFixture {
    let folder: TemporaryFolder
    let master: SecretKey
    let vault = VaultIdentifier()
    static let scope = IndexScope(bundle: "com.example.health", index: "notes")

    init() throws {
        folder = try TemporaryFolder()
        master = try SecretKey()
    }

    func create(
        _ name: String = "a.sealed", _ protection: ProtectionClass = .complete, files: any LogFiles = SystemLogFiles(),
        _ records: [String] = []
    ) throws -> SealedLog {
        try SealedLog.create(
            folder.path(name), in: folder.path, Self.scope, protection, vault: vault, master: master, files: files
        ) { append throws(ProtectionError) in
            for record in records { try append(Array(record.utf8)) }
        }
    }

    func open(_ name: String = "a.sealed") throws -> SealedLog {
        let log = try SealedLog.open(folder.path(name))
        try log.unlock(master: master)
        return log
    }
}

extension SealedLog {
    /// Returns all records as text, read in small pages, and the findings.
    func texts() throws -> (records: [String], findings: [String]) {
        var page = try records(maximumBytes: 50)
        var (texts, findings) = (page.records, page.findings)
        while let next = page.next {
            page = try records(from: next, maximumBytes: 50)
            texts += page.records
            findings += page.findings
        }
        return (texts.map { String(decoding: $0, as: UTF8.self) }, findings)
    }
}

@Suite("Sealed logs", .timeLimit(.minutes(10)))
struct SealedLogTests {
    @Test("Records come back in order", arguments: [ProtectionClass.complete, .completeUnlessOpen])
    func recordsComeBackInOrder(protection: ProtectionClass) throws {
        let fixture = try SealedFixture()
        let log = try fixture.create("a.sealed", protection, ["one"])
        try log.append(Array("two".utf8))
        try log.append([])
        let again = try fixture.open()
        #expect(again.header.scope == SealedFixture.scope)
        #expect(again.header.protection == protection)
        #expect(try again.texts().records == ["one", "two", ""])
        try again.append(Array("three".utf8))
        #expect(try fixture.open().texts().records == ["one", "two", "", "three"])
    }

    @Test(
        "A file of the earlier format is read and continued",
        arguments: [ProtectionClass.complete, .completeUnlessOpen])
    func anEarlierFormatIsContinued(protection: ProtectionClass) throws {
        let fixture = try SealedFixture()
        _ = try SealedLog.create(
            fixture.folder.path("a.sealed"), in: fixture.folder.path, SealedFixture.scope, protection,
            vault: fixture.vault, master: fixture.master, version: 1
        ) { append throws(ProtectionError) in try append(Array("one".utf8)) }
        try fixture.open().append(Array("two".utf8))
        #expect(try fixture.open().texts() == (["one", "two"], []))
        let bytes = try fixture.folder.read("a.sealed")
        #expect(bytes[8] == 1)
        try fixture.folder.write(Array(bytes.dropLast()), to: "a.sealed")
        #expect(try fixture.open().texts() == (["one"], []))
    }

    @Test("Nothing of a record is on the disk")
    func nothingOfARecordIsOnTheDisk() throws {
        let fixture = try SealedFixture()
        let canary = "the canary of this record"
        let log = try fixture.create("a.sealed", .completeUnlessOpen, [canary])
        try log.append(Array(canary.utf8))
        log.lock()
        try log.append(Array(canary.utf8))
        for name in try fixture.folder.names {
            #expect(Data(try fixture.folder.read(name)).range(of: Data(canary.utf8)) == nil)
        }
        #expect(try fixture.open().texts().records == [canary, canary, canary])
    }

    @Test("A locked index of the class complete takes nothing")
    func aLockedIndexOfTheClassCompleteTakesNothing() throws {
        let fixture = try SealedFixture()
        let log = try fixture.create("a.sealed", .complete, ["one"])
        log.lock()
        #expect(!log.isUnlocked)
        #expect(throws: ProtectionError.locked) { try log.append(Array("two".utf8)) }
        #expect(throws: ProtectionError.locked) { try log.texts() }
        #expect(try fixture.open().texts().records == ["one"])
    }

    @Test("Another master key opens nothing")
    func anotherMasterKeyOpensNothing() throws {
        let fixture = try SealedFixture()
        let log = try fixture.create()
        #expect(throws: ProtectionError.self) { try log.unlock(master: SecretKey()) }
    }

    @Test(
        "Moved repeated and exchanged records are not read", arguments: [ProtectionClass.complete, .completeUnlessOpen])
    func movedRepeatedAndExchangedRecordsAreNotRead(protection: ProtectionClass) throws {
        let fixture = try SealedFixture()
        let log = try fixture.create("a.sealed", protection)
        let start = log.byteCount
        // The records have the same length.
        if protection == .completeUnlessOpen { log.lock() }
        try log.append(Array("one".utf8))
        let length = log.byteCount - start
        try log.append(Array("two".utf8))
        let bytes = try fixture.folder.read("a.sealed")
        let (head, one, two) = (bytes[..<start], bytes[start..<start + length], bytes[(start + length)...])
        for records in [[two, one], [one, one], [two], [one, two, one]] {
            try fixture.folder.write(Array(head) + records.flatMap(\.self), to: "a.sealed")
            let read = try fixture.open().texts()
            #expect(!read.findings.isEmpty)
            #expect(["one", "two"].starts(with: read.records))
        }
        // A record in another file of the same index is sealed with another identifier.
        let other = try fixture.create("b.sealed", protection)
        let otherBytes = Array(try fixture.folder.read("b.sealed").prefix(other.byteCount))
        try fixture.folder.write(otherBytes + one, to: "b.sealed")
        #expect(try fixture.open("b.sealed").texts().records.isEmpty)
        // The checksum of a frame is not secret. Even with a correct one, the sealing rejects the
        // record.
        var forged = Array(two)
        var front = Array(one.prefix(5)) + CRC32CForTests.of(Array(two.dropFirst(13)))
        let place = Array(head[14..<30]) + [UInt8](repeating: 0, count: 8)
        front += CRC32CForTests.of(place + front)
        forged.replaceSubrange(0..<13, with: front)
        try fixture.folder.write(Array(head) + forged, to: "a.sealed")
        let read = try fixture.open().texts()
        #expect(read.records.isEmpty && read.findings.count == 1)
    }

    @Test("A torn record is cut and a damaged one reported")
    func aTornRecordIsCutAndADamagedOneReported() throws {
        let fixture = try SealedFixture()
        let log = try fixture.create("a.sealed", .complete, ["one"])
        let whole = log.byteCount
        try log.append(Array("two, which is longer than what follows it".utf8))
        let bytes = try fixture.folder.read("a.sealed")
        for count in whole..<bytes.count {
            try fixture.folder.write(Array(bytes.prefix(count)), to: "a.sealed")
            let torn = try fixture.open()
            #expect(try torn.texts() == (["one"], []))
            try torn.append(Array("3".utf8))
            #expect(try fixture.open().texts() == (["one", "3"], []))
        }
        // A file system may have extended the file without its content.
        try fixture.folder.write(Array(bytes.prefix(whole)) + [UInt8](repeating: 0, count: 500), to: "a.sealed")
        #expect(try fixture.open().texts() == (["one"], []))
        // Or the end of it without its content: the last record is not whole.
        let hole = Array(bytes.dropLast(20)) + [UInt8](repeating: 0, count: 20)
        try fixture.folder.write(hole, to: "a.sealed")
        #expect(try fixture.open().texts() == (["one"], []))
        // A changed byte is damage.
        var changed = bytes
        changed[bytes.count - 20] ^= 1
        try fixture.folder.write(changed, to: "a.sealed")
        #expect(try fixture.open().texts().findings.count == 1)
        var damaged = bytes
        damaged[whole + 2] ^= 1
        try fixture.folder.write(damaged, to: "a.sealed")
        let read = try fixture.open()
        #expect(try read.texts().records == ["one"])
        #expect(try read.texts().findings.count == 1)
        // An append would overwrite records that may still be recoverable.
        #expect(throws: ProtectionError.self) { try read.append([1]) }
        #expect(try fixture.folder.read("a.sealed") == damaged)
    }

    @Test("No byte of the header may change")
    func noByteOfTheHeaderMayChange() throws {
        let fixture = try SealedFixture()
        let log = try fixture.create("a.sealed", .completeUnlessOpen)
        let bytes = try fixture.folder.read("a.sealed")
        #expect(log.byteCount == bytes.count)
        for offset in bytes.indices {
            var changed = bytes
            changed[offset] ^= 0x10
            // The checksum of the header is not secret.
            let checksum = CRC32CForTests.of(Array(changed.dropLast(4)))
            try fixture.folder.write(changed, to: "a.sealed")
            #expect(throws: ProtectionError.self) { try fixture.open() }
            guard offset < bytes.count - 4 else { continue }
            changed.replaceSubrange((bytes.count - 4)..., with: checksum)
            try fixture.folder.write(changed, to: "a.sealed")
            #expect(throws: ProtectionError.self) { try fixture.open() }
        }
    }

    @Test("Destroyed keys open nothing")
    func destroyedKeysOpenNothing() throws {
        let fixture = try SealedFixture()
        let log = try fixture.create("a.sealed", .completeUnlessOpen, ["one"])
        let before = try fixture.folder.read("a.sealed")
        #expect(log.destroyKeys())
        let after = try fixture.folder.read("a.sealed")
        #expect(zip(before, after).count { $0 != $1 } > 140)
        #expect(throws: ProtectionError.self) { try log.append([1]) }
        #expect(throws: ProtectionError.self) { try fixture.open() }
        // The file still says whose it was.
        let claim = try #require(try SealedLog.claim(fixture.folder.path("a.sealed")))
        #expect(claim.scope == SealedFixture.scope && claim.isDestroyed)
        #expect(claim.identifier == log.header.identifier)
    }

    @Test("The owner of a damaged file is known, and its keys can be overwritten")
    func theOwnerOfADamagedFileIsKnown() throws {
        let fixture = try SealedFixture()
        let log = try fixture.create("a.sealed", .completeUnlessOpen, ["one"])
        let bytes = try fixture.folder.read("a.sealed")
        var damaged = bytes
        damaged[40] ^= 1
        try fixture.folder.write(damaged, to: "a.sealed")
        #expect(throws: ProtectionError.self) { try fixture.open() }
        let path = fixture.folder.path("a.sealed")
        let claim = try #require(try SealedLog.claim(path))
        #expect(claim.scope == log.header.scope && !claim.isDestroyed)
        #expect(SealedLog.destroyKeys(of: claim, at: path))
        // With its other bytes repaired, the file opens no more.
        var repaired = try fixture.folder.read("a.sealed")
        #expect(zip(damaged, repaired).count { $0 != $1 } > 140)
        repaired[40] ^= 1
        try fixture.folder.write(repaired, to: "a.sealed")
        #expect(throws: ProtectionError.self) { try fixture.open() }
        var loop = MutationLoop(seed: MutationLoop.seed, corpus: [bytes])
        _ = try loop.run(MutationLoop.inputs / 8) { bytes in
            try fixture.folder.write(bytes, to: "a.sealed")
            return try SealedLog.claim(path) != nil
        }
    }

    /// Any file is either opened or rejected, and never yields a record that was not written at
    /// that position.
    @Test("Hostile files")
    func hostileFiles() throws {
        let fixture = try SealedFixture()
        let records = ["one", "two", "three"]
        let log = try fixture.create("a.sealed", .completeUnlessOpen, ["one", "two"])
        log.lock()
        try log.append(Array("three".utf8))
        var loop = MutationLoop(seed: MutationLoop.seed, corpus: [try fixture.folder.read("a.sealed")])
        let accepted = try loop.run(MutationLoop.inputs / 4) { bytes in
            try fixture.folder.write(bytes, to: "a.sealed")
            guard let log = try? fixture.open() else { return false }
            let read = try log.texts().records
            var rest = records[...]
            for record in read {
                guard let place = rest.firstIndex(of: record) else { throw Unwritten(record: record) }
                rest = rest[(place + 1)...]
            }
            return true
        }
        #expect(accepted > 0)
    }

    private struct Unwritten: Error { var record: String }
}

/// A second implementation of the checksum, bit by bit.
enum CRC32CForTests {
    static func of(_ bytes: [UInt8]) -> [UInt8] {
        var state = ~UInt32(0)
        for byte in bytes {
            state ^= UInt32(byte)
            for _ in 0..<8 { state = state & 1 == 1 ? (state >> 1) ^ 0x82F6_3B78 : state >> 1 }
        }
        return withUnsafeBytes(of: (~state).littleEndian) { Array($0) }
    }
}
