// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SearchlightEngine
import TestSupport
import Testing

@Suite("The file of the decision log")
struct DecisionLogTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("decisions.log") }

    init() throws { folder = try TemporaryFolder() }

    private func entry(_ number: Int, _ bundle: String = "org.example") -> JournalEntry {
        JournalEntry(
            moment: Double(number), kind: .wait, job: .reindex(bundle: bundle), gates: [.userActive], score: 0)
    }
    private func log(_ maximumBytes: Int = DecisionLog.standardMaximumBytes) -> DecisionLog {
        DecisionLog(storeDirectory: folder.path, maximumBytes: maximumBytes)
    }

    @Test("The last lines are read, the oldest first, even by a process that opens the log later")
    func last() {
        let log = log()
        for number in 0..<10 { #expect(log.append(entry(number))) }
        #expect(log.last(3) == [entry(7), entry(8), entry(9)])
        #expect(self.log().last(100).count == 10)
        #expect(log.last(0).isEmpty)
        self.log().append(entry(10))
        #expect(log.last(1) == [entry(10)])
    }

    @Test("Lines of one job are selected")
    func ofOne() {
        let log = log()
        for number in 0..<10 { log.append(entry(number, number % 2 == 0 ? "a" : "b")) }
        #expect(log.last(2, about: [.reindex(bundle: "a")]).map(\.moment) == [6, 8])
    }

    @Test("It is renamed when it is full, and both files together stay bounded")
    func bounded() throws {
        let log = log(1000)
        for number in 0..<100 { log.append(entry(number)) }
        for file in [log.path, log.olderPath] {
            #expect(try Data(contentsOf: URL(filePath: file)).count <= 1000)
        }
        let kept = log.last(100)
        #expect(kept.count > 8 && kept.last == entry(99))
        #expect(kept == (100 - kept.count..<100).map { entry($0) })
    }

    @Test("Damaged or truncated lines are skipped, and the next decision starts a line")
    func damaged() throws {
        let log = log()
        log.append(entry(1))
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("garbage\n{\"at\":\n\u{0}\n".utf8))
        log.append(entry(2))
        #expect(log.last(10) == [entry(1), entry(2)])
    }

    @Test("A link or a pipe at its path is neither written nor read")
    func others() throws {
        let other = folder.path("other")
        try Data().write(to: URL(filePath: other))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other)
        #expect(!log().append(entry(1)))
        #expect(try Data(contentsOf: URL(filePath: other)).isEmpty)
        try FileManager.default.removeItem(atPath: path)
        mkfifo(path, 0o600)
        #expect(!log().append(entry(1)))
        #expect(log().last(1).isEmpty)
    }

    @Test("A follower gets new lines, even after the file was renamed")
    func followed() {
        let log = log(400)
        log.append(entry(0))
        var follower = DecisionFollower(log)
        #expect(follower.next().isEmpty)
        for number in 1..<20 {
            log.append(entry(number))
            #expect(follower.next() == [entry(number)])
        }
    }

    @Test("A log that does not exist yet can be followed")
    func fromNothing() {
        let log = log()
        var follower = DecisionFollower(log)
        #expect(follower.next().isEmpty)
        log.append(entry(1))
        #expect(follower.next() == [entry(1)])
    }
}
