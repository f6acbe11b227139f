// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import WriteAheadLog

/// Groups, ordering, conditions and failures while a log is open.
@Suite struct LogAppendingTests {
    @Test("Entries that arrive during an fdatasync share the next one")
    func groupCommit() async throws {
        let disk = LogTestDisk(seed: 1)
        let log = try LogTest.open(disk, segmentBytes: 1 << 20)
        _ = try await log.append(LogTest.entry(0))
        let before = disk.count(.synchronize)
        let results = await log.appendTogether((1...50).map { LogTest.entry($0) })
        #expect(try results.map { try $0.get() } == (2...51).map { UInt64($0) })
        #expect(disk.count(.synchronize) == before + 1)
        #expect(log.statistics.groups == 2)
    }

    @Test("Concurrent appenders get different numbers and find their entries under them")
    func concurrentAppenders() async throws {
        let folder = try TemporaryFolder()
        let log = try WriteAheadLog(folder: folder.path("journal"), store: LogTest.store(), applied: 0)
        let numbers = try await withThrowingTaskGroup(of: (UInt64, Int).self) { group in
            for task in 0..<200 {
                group.addTask { (try await log.append(LogTest.entry(task)), task) }
            }
            return try await group.reduce(into: [UInt64: Int]()) { $0[$1.0] = $1.1 }
        }
        #expect(numbers.count == 200)
        let records = try log.records()
        #expect(records.map(\.sequence) == (1...200).map { UInt64($0) })
        for record in records {
            #expect(record.entry == LogTest.entry(try #require(numbers[record.sequence])))
        }
    }

    @Test("A condition sees the state of the latest accepted entry, durable or not")
    func expectedState() async throws {
        let log = try LogTest.open(LogTestDisk(seed: 1))
        let box = ResultBox()
        log.ioQueue.suspend()
        func submit(_ index: Int, _ state: String?, expecting: ClientStateChange) {
            log.submit(
                LogTest.entry(index, state: state), if: { $0 == expecting }, completion: { box.set(index, $0) })
        }
        submit(0, "a", expecting: .unchanged)
        submit(1, "b", expecting: .set(Array("a".utf8)))
        submit(2, "c", expecting: .set(Array("a".utf8)))
        submit(3, nil, expecting: .set(Array("b".utf8)))
        submit(4, "", expecting: .set(Array("b".utf8)))
        submit(5, "d", expecting: .set([]))
        log.ioQueue.resume()
        await log.settle()
        #expect(box[2] == .failure(.preconditionFailed))
        #expect([0, 1, 3, 4, 5].map { box[$0] } == (1...5).map { .success($0) })
        // Another index has its own state. Deleting everything in an index clears that index's
        // state.
        var other = LogTest.entry(6)
        other.batch.scope.index = nil
        _ = try await log.append(other, if: { $0 == .unchanged })
        var clearing = LogTest.entry(7)
        clearing.batch.deleteAll()
        _ = try await log.append(clearing)
        _ = try await log.append(LogTest.entry(8), if: { $0 == .cleared })
    }

    @Test("An entry that relies on a failed one is rejected; other waiting ones are written")
    func conditionsAfterFailure() async throws {
        let disk = LogTestDisk(seed: 1)
        let log = try WriteAheadLog(
            folder: LogTest.folder, store: LogTest.store(), applied: 0, files: disk,
            configuration: LogConfiguration(segmentBytes: 1 << 20, groupBytes: 1))
        _ = try await log.append(LogTest.entry(0, state: "a"))
        let writes = disk.count(.write)
        // The next group fails. Each group has one entry.
        let failing = disk.calls
        disk.plan { call, kind in call == failing && kind == .write ? .fail(ENOSPC) : nil }
        let box = ResultBox()
        log.ioQueue.suspend()
        func submit(_ index: Int, _ state: String?, expecting: String?) {
            var condition: WriteAheadLog.Precondition?
            if let expecting { condition = { $0 == .set(Array(expecting.utf8)) } }
            log.submit(LogTest.entry(index, state: state), if: condition, completion: { box.set(index, $0) })
        }
        submit(1, "b", expecting: "a")
        submit(2, "c", expecting: "b")
        submit(3, nil, expecting: nil)
        submit(4, nil, expecting: nil)
        log.ioQueue.resume()
        await log.settle()
        #expect(disk.count(.write) > writes)
        let refused = LogFileError(
            operation: "write", path: LogTest.folder + "/" + LogFileNames.segment(1), code: ENOSPC)
        #expect(box[1] == .failure(.file(refused)))
        #expect(box[2] == .failure(.preconditionFailed))
        #expect(box[3] == .success(2))
        #expect(box[4] == .success(3))
        _ = try await log.append(LogTest.entry(5), if: { $0 == .set(Array("a".utf8)) })
    }

    @Test("A full device fails the group and keeps the segment usable")
    func fullDevice() async throws {
        let disk = LogTestDisk(seed: 1)
        let log = try LogTest.open(disk, segmentBytes: 1 << 20)
        _ = try await log.append(LogTest.entry(0))
        let whole = disk.contents
        let calls = disk.calls
        // Part of the group is written before the disk is full.
        disk.plan { call, kind in
            guard kind == .write else { return nil }
            return call == calls ? .short : .fail(ENOSPC)
        }
        for result in await log.appendTogether([LogTest.entry(1, bytes: 900), LogTest.entry(2)]) {
            guard case .failure(.file(let error)) = result, error.isFull else {
                Issue.record("\(result)")
                continue
            }
        }
        #expect(disk.contents == whole, "the segment is cut back")
        disk.plan(nil)
        #expect(try await log.append(LogTest.entry(3)) == 2)
        #expect(log.statistics.segments == 1)
        #expect(log.statistics.failedGroups == 1)
        #expect(try log.records().map(\.entry) == [LogTest.entry(0), LogTest.entry(3)])
    }

    @Test("After a failed fdatasync the segment is not written again", arguments: [1, 3])
    func failedSynchronize(durable: Int) async throws {
        let disk = LogTestDisk(seed: 1)
        let log = try LogTest.open(disk, segmentBytes: 1 << 20)
        for number in 0..<durable { _ = try await log.append(LogTest.entry(number)) }
        let path = LogTest.folder + "/" + LogFileNames.segment(1)
        let whole = disk.contents[path]
        disk.plan { _, kind in kind == .synchronize ? .fail(EIO) : nil }
        await #expect(throws: LogError.self) { try await log.append(LogTest.entry(8)) }
        disk.plan(nil)
        let next = UInt64(durable) + 1
        #expect(try await log.append(LogTest.entry(9)) == next)
        #expect(disk.contents[path] == whole)
        #expect(disk.contents[LogTest.folder + "/" + LogFileNames.segment(next)] != nil)
        #expect(try log.records().last?.entry == LogTest.entry(9))
        #expect(try await log.verify().isEmpty)
    }

    @Test("A failed first group leaves a segment that is replaced")
    func failedFirstGroup() async throws {
        let disk = LogTestDisk(seed: 1)
        let log = try LogTest.open(disk)
        // A trial run on another disk finds the call that synchronises the group rather than the
        // header.
        let rehearsal = LogTestDisk(seed: 1)
        _ = try await LogTest.open(rehearsal).append(LogTest.entry(1))
        let failing = rehearsal.calls - 2  // The last call writes the note.
        disk.plan { call, kind in call == failing && kind == .synchronize ? .fail(EIO) : nil }
        await #expect(throws: LogError.self) { try await log.append(LogTest.entry(1)) }
        disk.plan(nil)
        #expect(try await log.append(LogTest.entry(2)) == 1)
        #expect(log.statistics.segments == 1)
        #expect(try LogTest.open(disk).records().map(\.entry) == [LogTest.entry(2)])
    }

    @Test("Entries beyond a limit are rejected before a write")
    func invalidEntries() async throws {
        let disk = LogTestDisk(seed: 1)
        let log = try LogTest.open(disk)
        let calls = disk.calls
        var entry = LogTest.entry(1)
        entry.batch.clientState = [UInt8](repeating: 1, count: 251)
        await #expect(
            throws: LogError.invalidEntry(.tooLarge(what: "bytes of client state", value: 251, limit: 250))
        ) { try await log.append(entry) }
        #expect(disk.calls == calls)
    }

    @Test("A closed log accepts nothing and is still readable")
    func closing() async throws {
        let disk = LogTestDisk(seed: 1)
        let log = try LogTest.open(disk)
        _ = try await log.append(LogTest.entry(1))
        try await log.close()
        await #expect(throws: LogError.closed) { try await log.append(LogTest.entry(2)) }
        await #expect(throws: LogError.closed) { try await log.discard(through: 1) }
        #expect(try log.records().count == 1)
    }
}
