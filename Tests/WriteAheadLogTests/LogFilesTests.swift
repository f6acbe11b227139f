// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import WriteAheadLog

/// Files and folders: segments, discarding, reading from the middle, and the real file system.
@Suite struct LogFilesTests {
    private func records(_ numbers: ClosedRange<Int>) -> [NumberedLogEntry] {
        numbers.map { NumberedLogEntry(sequence: UInt64($0), entry: LogTest.entry($0)) }
    }

    @Test("Segments continue one another; reading from any number gives the rest")
    func segments() async throws {
        let disk = LogTestDisk(seed: 1)
        let log = try LogTest.open(disk)
        for number in 1...40 { #expect(try await log.append(LogTest.entry(number)) == UInt64(number)) }
        #expect(log.statistics.segments > 4)
        for log in [log, try LogTest.open(disk)] {
            #expect(log.findings.isEmpty)
            for after in 0...41 {
                #expect(try log.records(after: UInt64(after)) == (after < 40 ? records((after + 1)...40) : []))
            }
            #expect(try log.records(after: .max).isEmpty)
        }
    }

    @Test("Applied entries are removed, but never the newest segment")
    func discarding() async throws {
        let disk = LogTestDisk(seed: 1)
        let log = try LogTest.open(disk)
        for number in 1...40 { _ = try await log.append(LogTest.entry(number)) }
        let segments = log.statistics.segments
        try await log.discard(through: 20)
        #expect(log.statistics.segments < segments)
        #expect(try log.records(after: 20) == records(21...40))
        #expect(try LogTest.open(disk, applied: 20).records(after: 20) == records(21...40))
        try await log.discard(through: 40)
        #expect(log.statistics.segments == 1)
        #expect(try await log.verify().isEmpty)
        let reopened = try LogTest.open(disk, applied: 40)
        #expect(reopened.findings.isEmpty)
        #expect(try await reopened.append(LogTest.entry(41)) == 41)
        // Reading entries that were discarded throws an error.
        #expect(throws: LogError.self) { try reopened.records(after: 1) }
    }

    @Test("A torn tail is removed and reported once")
    func tornTail() async throws {
        let disk = LogTestDisk(seed: 1)
        _ = try await LogTest.open(disk).append(LogTest.entry(1))
        let path = LogTest.folder + "/" + LogFileNames.segment(1)
        let whole = try #require(disk.contents[path])
        disk.contents[path] = whole + whole[LogSegmentHeader.byteCount...].prefix(30)
        let log = try LogTest.open(disk)
        #expect(log.findings == [.tornTail(file: LogFileNames.segment(1), offset: whole.count, bytes: 30)])
        #expect(disk.contents[path] == whole)
        #expect(try LogTest.open(disk).findings.isEmpty)
    }

    @Test("A group whose first part was lost with the power was never acknowledged")
    func tornGroup() async throws {
        let disk = LogTestDisk(seed: 1)
        let log = try LogTest.open(disk, segmentBytes: 1 << 20)
        _ = try await log.append(LogTest.entry(1))
        let before = disk.contents
        _ = await log.appendTogether((2...4).map { LogTest.entry($0) })
        let path = LogTest.folder + "/" + LogFileNames.segment(1)
        var torn = try #require(disk.contents[path])
        let start = try #require(before[path]?.count)
        for offset in start..<(start + 30) { torn[offset] = 0 }
        // The note is from before the group, so the acknowledgement was never sent.
        disk.contents = before.merging([path: torn]) { $1 }
        let reopened = try LogTest.open(disk)
        #expect(
            reopened.findings == [.tornTail(file: LogFileNames.segment(1), offset: start, bytes: torn.count - start)])
        #expect(try reopened.records() == records(1...1))
    }

    @Test("Temporary files are removed after the program ended")
    func unfinishedFiles() async throws {
        let disk = LogTestDisk(seed: 1)
        _ = try await LogTest.open(disk).append(LogTest.entry(1))
        let path = LogTest.folder + "/" + LogFileNames.segment(2) + LogFileNames.unfinishedSuffix
        disk.contents[path] = [1, 2, 3]
        #expect(try LogTest.open(disk).findings.isEmpty)
        #expect(disk.contents[path] == nil)
    }

    @Test("On the real file system: folder 0700, files 0600, all of it readable")
    func realFiles() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("journal")
        let configuration = LogConfiguration(segmentBytes: 5000, groupBytes: 2000, markBytes: 500)
        do {
            let log = try WriteAheadLog(
                folder: path, store: LogTest.store(), applied: 0, configuration: configuration)
            for number in 1...100 { _ = try await log.append(LogTest.entry(number)) }
            try await log.discard(through: 50)
            try await log.close()
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let log = try WriteAheadLog(
            folder: path, store: LogTest.store(), applied: 50, configuration: configuration)
        #expect(log.findings.isEmpty)
        #expect(try log.records(after: 50) == records(51...100))
        #expect(try await log.verify().isEmpty)
    }

    @Test("A folder that cannot be created is an error with its cause")
    func missingParent() throws {
        let folder = try TemporaryFolder()
        #expect(throws: LogError.self) {
            try WriteAheadLog(folder: folder.path("a/b"), store: LogTest.store(), applied: 0)
        }
    }
}
