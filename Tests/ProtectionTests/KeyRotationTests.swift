// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import Protection
import Synchronization
import TestSupport
import Testing
import WriteAheadLog

/// The system's files, which stop at one operation as if the process were killed there: that
/// operation and all later ones fail. A stopped write may write the first half of its bytes.
private final class StoppingFiles: LogFiles {
    private let system = SystemLogFiles()
    private let rest: Mutex<Int>

    init(after operations: Int) { rest = Mutex(operations) }

    func stop(after operations: Int) { rest.withLock { $0 = operations } }

    fileprivate func step() throws(LogFileError) {
        let goesOn = rest.withLock { rest in
            rest -= 1
            return rest >= 0
        }
        guard goesOn else { throw LogFileError(operation: "stopping", path: "", code: 5) }
    }

    func createFolder(_ path: String) throws(LogFileError) {
        try step()
        try system.createFolder(path)
    }
    func names(in folder: String) throws(LogFileError) -> [String] { try system.names(in: folder) }
    func open(_ path: String, for mode: LogFileMode) throws(LogFileError) -> any LogFile {
        if mode == .create { try step() }
        return File(base: try system.open(path, for: mode), files: self)
    }
    func rename(_ path: String, to other: String) throws(LogFileError) {
        try step()
        try system.rename(path, to: other)
    }
    func remove(_ path: String) throws(LogFileError) {
        try step()
        try system.remove(path)
    }
    func synchronizeFolder(_ path: String) throws(LogFileError) {
        try step()
        try system.synchronizeFolder(path)
    }

    private struct File: LogFile {
        let base: any LogFile
        let files: StoppingFiles

        func size() throws(LogFileError) -> Int { try base.size() }
        func read(at offset: Int, count: Int) throws(LogFileError) -> [UInt8] {
            try base.read(at: offset, count: count)
        }
        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(LogFileError) -> Int {
            do throws(LogFileError) { try files.step() } catch {
                _ = try base.write(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]), at: offset)
                throw error
            }
            return try base.write(bytes, at: offset)
        }
        func synchronize() throws(LogFileError) {
            try files.step()
            try base.synchronize()
        }
        func truncate(to size: Int) throws(LogFileError) {
            try files.step()
            try base.truncate(to: size)
        }
    }
}

@Suite("Rotation of keys", .timeLimit(.minutes(10)))
struct KeyRotationTests {
    /// A rotation rewrites the records with new keys. Wherever it stops, either the old file or the
    /// new file exists with all records.
    @Test("A stop at any step loses nothing", arguments: [ProtectionClass.complete, .completeUnlessOpen])
    func aStopAtAnyStepLosesNothing(protection: ProtectionClass) throws {
        let records = ["one", "two", String(repeating: "three", count: 300_000)]
        var (stops, rotated, kept) = (0, 0, 0)
        while true {
            let fixture = try SealedFixture()
            let old = try fixture.create("a.sealed", protection, records)
            let new = try? fixture.create("a.sealed", protection, files: StoppingFiles(after: stops), records)
            let found = try fixture.open()
            #expect(try found.texts() == (records, []))
            if found.header.identifier == old.header.identifier { kept += 1 } else { rotated += 1 }
            // The stopped process could not remove its unfinished file; the next rotation replaces
            // it.
            let again = try fixture.create("a.sealed", protection, records)
            #expect(try again.texts() == (records, []))
            #expect(try fixture.folder.names == ["a.sealed"])
            stops += 1
            // The last two operations overwrite the old keys. If they fail, the rotation still
            // succeeds.
            if new != nil, stops > 20 { break }
        }
        #expect(kept >= 4 && rotated > 2)
    }

    @Test("The keys of the replaced file are overwritten")
    func theKeysOfTheReplacedFileAreOverwritten() throws {
        let fixture = try SealedFixture()
        _ = try fixture.create("a.sealed", .complete, ["one"])
        let before = try fixture.folder.read("a.sealed")
        let replaced = try #require(FileHandle(forReadingAtPath: fixture.folder.path("a.sealed")))
        _ = try fixture.create("a.sealed", .complete, ["one"])
        let after = [UInt8](try #require(try replaced.readToEnd()))
        try fixture.folder.write(after, to: "old.sealed")
        #expect(before.count == after.count)
        #expect(throws: ProtectionError.self) { try fixture.open("old.sealed") }
        #expect(try fixture.open().texts().records == ["one"])
    }

    @Test("An error of any step of appending ends with that step")
    func errorsOfAppendingEnd() throws {
        for steps in 0..<8 {
            let fixture = try SealedFixture()
            let files = StoppingFiles(after: .max)
            let log = try fixture.create("a.sealed", files: files, ["one"])
            files.stop(after: steps)
            while (try? log.append(Array("two".utf8))) != nil {}
            files.stop(after: .max)
            let before = try log.texts().records
            #expect(before == ["one"] + before.dropFirst().map { _ in "two" })
            try log.append(Array("three".utf8))
            #expect(try fixture.open().texts() == (before + ["three"], []))
        }
    }

    /// Once a new file has its name, it is used, so that no record is written to a file without a
    /// name.
    @Test("An error after the renaming leaves a file that takes records")
    func errorsAfterRenaming() throws {
        let fixture = try SealedFixture()
        // Opening, writing, synchronising and renaming succeed, but synchronising the folder fails.
        let files = StoppingFiles(after: 4)
        let log = try fixture.create("a.sealed", files: files, ["one"])
        #expect(throws: ProtectionError.self) { try log.append(Array("two".utf8)) }
        files.stop(after: .max)
        try log.append(Array("three".utf8))
        #expect(try fixture.open().texts() == (["one", "three"], []))
    }
}
