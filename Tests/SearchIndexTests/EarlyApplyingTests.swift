// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Dispatch
import Foundation
import GRDB
import Glibc
import ItemRecord
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Entries that are applied early", .timeLimit(.minutes(10)))
struct EarlyApplyingTests {
    private static let other = IndexScope(bundle: "com.example.other")
    private static let third = IndexScope(bundle: "com.example.third")

    private static func batch(_ names: [String], in scope: IndexScope, bytes: Int = 0) throws -> IndexBatch {
        var batch = IndexBatch(scope: scope)
        batch.index(
            try names.map { name in
                var record = item(name, title: "lemon")
                if bytes > 0 { record.attributes["com_example_bytes"] = .data([UInt8](repeating: 7, count: bytes)) }
                return try EncodedItem(record)
            })
        return batch
    }

    private static func open(_ path: String, _ change: (inout StoreHooks) -> Void = { _ in }) throws -> SearchIndex {
        var seams = StoreHooks()
        (seams.readLimits.time, seams.readLimits.timeForLittle) = (.zero, .zero)
        change(&seams)
        return try SearchIndex(
            directory: path, access: .readWrite, knownGeneration: nil, now: { 1 }, seams: seams)
    }

    /// Starts a read of a bundle's own items, and returns when the read waits.
    private static func ownRead(
        of scope: IndexScope, _ index: SearchIndex
    ) async throws -> Task<[String], any Error> {
        let applier = try #require(index.applier)
        let before = applier.state.withLock { $0.waiters.count }
        let task = Task {
            try await ReadPatience.own(scope.bundle).during { () throws in
                try await index.items(matching: .and([]), bundle: scope.bundle).items.map(\.record.uniqueIdentifier)
            }
        }
        while applier.state.withLock({ $0.waiters.count }) == before { await Task.yield() }
        return task
    }

    /// Returns the identifiers of all items, in the order in which they were applied.
    private static func order(_ index: SearchIndex) async throws -> [String] {
        try await index.settle()
        return try await index.items(matching: .and([]), limit: 10_000).items.map(\.record.uniqueIdentifier)
    }

    @Test("An app's wait for many entries does not delay other donations")
    func ownDoesNotStarveOthers() async throws {
        let folder = try TemporaryFolder()
        let index = try Self.open(folder.path("store"))
        let applier = try #require(index.applier)
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await index.commit(try Self.batch(["other"], in: Self.other))
        for number in 0..<5 { try await index.commit(try Self.batch(["own \(number)"], in: Store.app, bytes: 3 << 20)) }
        let own = try await Self.ownRead(of: Store.app, index)
        gate.signal()
        #expect(try await own.value.count == 5)
        let order = try await Self.order(index)
        #expect(order.count == 6)
        #expect((order.firstIndex(of: "other") ?? .max) <= 2, "\(order)")
        try await index.close()
    }

    @Test("An app that reads continuously while it donates does not delay other donations")
    func endless() async throws {
        let folder = try TemporaryFolder()
        /// The action that runs when the applier starts a transaction.
        let hook = SharedHook()
        let index = try Self.open(folder.path("store")) { seams in
            seams.prepareDatabase = { db in
                db.trace { event in
                    if "\(event)".hasPrefix("BEGIN IMMEDIATE") { hook.body.withLock { $0?() } }
                }
            }
        }
        let applier = try #require(index.applier)
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await index.commit(try Self.batch(["other"], in: Self.other))
        try await index.commit(try Self.batch(["own 0"], in: Store.app))
        let first = try await Self.ownRead(of: Store.app, index)
        hook.body.withLock {
            // Each time the applier checks for the next entry, the app has made another donation
            // and waits for it.
            $0 = {
                let round = hook.nextRound()
                guard round <= 20 else { return }
                let last = applier.state.withLock { $0.target }
                Task {
                    try await index.commit(try Self.batch(["own \(round)"], in: Store.app))
                    _ = try await Self.ownRead(of: Store.app, index)
                }
                while !applier.state.withLock({ $0.waiters.contains { $0.sequence > last } }) { sched_yield() }
            }
        }
        gate.signal()
        _ = try await first.value
        while hook.rounds < 20 { await Task.yield() }
        let order = try await Self.order(index)
        #expect((order.firstIndex(of: "other") ?? .max) <= 2, "\(order)")
        hook.body.withLock { $0 = nil }
        try await index.close()
    }

    @Test("An app's read of its own items does not wait for all entries of another app")
    func smallBeforeLarge() async throws {
        let folder = try TemporaryFolder()
        let index = try Self.open(folder.path("store"))
        let applier = try #require(index.applier)
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await index.commit(try Self.batch(["other"], in: Self.other))
        for number in 0..<8 {
            try await index.commit(try Self.batch(["large \(number)"], in: Store.app, bytes: 3 << 20))
        }
        let large = try await Self.ownRead(of: Store.app, index)
        try await index.commit(try Self.batch(["small"], in: Self.third))
        let small = try await Self.ownRead(of: Self.third, index)
        gate.signal()
        #expect(try await small.value == ["small"])
        #expect(try await large.value.count == 8)
        let order = try await Self.order(index)
        #expect((order.firstIndex(of: "small") ?? .max) <= 3, "\(order)")
        try await index.close()
    }

    @Test("An item that moved to another domain exists after a crash, though other donations were not applied")
    func movedDomain() async throws {
        let folder = try TemporaryFolder()
        let image = CrashImage()
        let index = try Self.open(folder.path("store")) { image.watch(&$0) }
        let applier = try #require(index.applier)
        var first = IndexBatch(scope: Store.app)
        first.index([try EncodedItem(item("m", title: "lemon", domain: "D2"))])
        try await index.commit(first.with(clientState: [1]))
        try await index.settle()
        await withCheckedContinuation { done in applier.onQueue { done.resume() } }
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await index.commit(try Self.batch(["other"], in: Self.other))
        var deletion = IndexBatch(scope: Store.app)
        deletion.delete(domains: ["D1"])
        try await index.commit(deletion)
        var move = IndexBatch(scope: Store.app)
        move.index([try EncodedItem(update("m", [:], domain: "D1"))])
        try await index.commit(move.with(clientState: [2]))
        try image.arm(folder.path("store"), after: 1)
        let own = try await Self.ownRead(of: Store.app, index)
        gate.signal()
        #expect(try await own.value == ["m"])
        try await index.settle()
        let copy = try #require(try image.take())
        try await index.close()
        let reopened = try Self.open(copy.path("store"))
        let items = try await reopened.items(uniqueIdentifier: "m")
        #expect(items.first?.record.domainIdentifier == "D1")
        #expect(try await reopened.clientState(of: Store.app) == [2])
        #expect(try await Self.order(reopened) == ["m", "other"])
        #expect(!reopened.recovery.lostDonations)
        try await reopened.close()
        #expect(try StoreVerifier(directory: copy.path("store")).verify().isClean)
    }

    /// Returns the files of a store that crashed after it had answered an app's read of its own
    /// items, but before it had applied other apps' donations.
    private static func crashed() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let image = CrashImage()
        let index = try Self.open(folder.path("store")) { image.watch(&$0) }
        let applier = try #require(index.applier)
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await index.commit(try Self.batch(["other"], in: Self.other))
        try await index.commit(try Self.batch(["own"], in: Store.app))
        try image.arm(folder.path("store"), after: 1)
        let own = try await Self.ownRead(of: Store.app, index)
        gate.signal()
        _ = try await own.value
        try await index.settle()
        let copy = try #require(try image.take())
        try await index.close()
        return copy
    }

    @Test("A store that is only read reports pending donations, without those applied early")
    func onlyRead() async throws {
        let folder = try await Self.crashed()
        let index = try SearchIndex(directory: folder.path("store"), access: .readOnly, now: { 1 }, seams: StoreHooks())
        #expect(try await index.items(uniqueIdentifier: "own").count == 1)
        #expect(try await index.items(uniqueIdentifier: "other").isEmpty)
        #expect(try index.waitingEntries() == 1)
        try await index.close()
    }

    @Test("If the list of early entries is damaged or missing, the store reports lost donations")
    func damagedList() async throws {
        let changes = [
            "UPDATE applied_early SET checksum = checksum + 1", "UPDATE applied_early SET sequence = sequence + 1",
            "DROP TABLE applied_early",
        ]
        for change in changes {
            let folder = try await Self.crashed()
            let queue = try DatabaseQueue(
                path: folder.path("store/index.sqlite"), configuration: SearchIndex.configuration(isReadOnly: false))
            try await queue.write { db in
                #expect(try EarlyEntries(db, after: 0).count == 1)
                try db.execute(sql: change)
            }
            try queue.close()
            #expect(try !StoreVerifier(directory: folder.path("store")).verify().isClean)
            let index = try Self.open(folder.path("store"))
            #expect(index.recovery.lostDonations, "\(change)")
            #expect(Set(try await Self.order(index)) == ["other", "own"])
            try await index.close()
            #expect(try StoreVerifier(directory: folder.path("store")).verify().isClean)
        }
    }

    @Test("A salvaged database keeps the list of early entries")
    func salvaged() async throws {
        let folder = try await Self.crashed()
        let store = StoreFolder(path: folder.path("store"))
        _ = try Salvage(folder: store, knownGeneration: nil, now: 1).run(because: "of a test")
        let queue = try DatabaseQueue(
            path: store.database, configuration: SearchIndex.configuration(isReadOnly: false))
        let count = try await queue.read { db in try EarlyEntries(db, after: StoreRow(db).applied).count }
        #expect(count == 1)
        try queue.close()
    }

    @Test("The number of an early entry is not reused, though the log is gone")
    func numbers() async throws {
        let folder = try await Self.crashed()
        try FileManager.default.removeItem(atPath: folder.path("store/journal"))
        let index = try Self.open(folder.path("store"))
        #expect(index.recovery.lostDonations)
        try await index.commit(try Self.batch(["new"], in: Store.app))
        #expect(try #require(index.applier).log.lastSequence == 3)
        #expect(try await Self.order(index) == ["own", "new"])
        try await index.close()
    }

    @Test("A store without early entries has no list of them, like stores of earlier versions")
    func withoutList() async throws {
        let folder = try TemporaryFolder()
        let index = try Self.open(folder.path("store"))
        try await index.commit(try Self.batch(["own"], in: Store.app))
        #expect(try await Self.order(index) == ["own"])
        #expect(try await index.readApplied("Looking") { try !EarlyEntries.areKept($0) })
        try await index.close()
        let reader = try SearchIndex(
            directory: folder.path("store"), access: .readOnly, now: { 1 }, seams: StoreHooks())
        #expect(try reader.waitingEntries() == 0)
        try await reader.close()
    }

    @Test("When very many entries were applied early, others come first")
    func bounded() async throws {
        let folder = try TemporaryFolder()
        let index = try Self.open(folder.path("store")) { $0.maximumEarlyEntries = 1 }
        let applier = try #require(index.applier)
        for round in 0..<3 {
            let gate = DispatchSemaphore(value: 0)
            applier.onQueue { gate.wait() }
            for number in 0..<3 {
                try await index.commit(try Self.batch(["other \(round) \(number)"], in: Self.other, bytes: 3 << 20))
            }
            for number in 0..<3 {
                try await index.commit(try Self.batch(["own \(round) \(number)"], in: Store.app, bytes: 1 << 20))
            }
            let own = try await Self.ownRead(of: Store.app, index)
            gate.signal()
            #expect(try await own.value.count == 3 * (round + 1))
            #expect(applier.state.withLock { $0.early.count <= 1 })
            try await index.settle()
        }
        try await index.close()
    }

    @Test("Concurrent entries stay in order, however they are applied")
    func atOnce() async throws {
        let folder = try TemporaryFolder()
        let index = try Self.open(folder.path("store"))
        let applier = try #require(index.applier)
        for _ in 0..<20 {
            let start = index.applier?.log.lastSequence ?? 0
            let gate = DispatchSemaphore(value: 0)
            applier.onQueue { gate.wait() }
            try await index.commit(try Self.batch(["other"], in: Self.other))
            try await withThrowingTaskGroup { group in
                for number in 0..<16 {
                    group.addTask {
                        var batch = IndexBatch(scope: Store.app)
                        batch.index([try EncodedItem(item("one", title: "lemon \(number)"))])
                        try await index.commit(batch)
                        try await ReadPatience.own(Store.app.bundle).during { () throws in
                            _ = try await index.items(uniqueIdentifier: "one", bundle: Store.app.bundle)
                        }
                    }
                }
                gate.signal()
                try await group.waitForAll()
            }
            try await index.settle()
            var last: ItemRecord?
            for case .success(let record) in applier.log.replay(after: start) {
                guard record.entry.scope == Store.app,
                    let bytes = record.entry.batch.records.first(where: { _ in true })
                else { continue }
                last = try EncodedItem(decoding: Array(bytes)).record
            }
            let found = try await index.items(uniqueIdentifier: "one", bundle: Store.app.bundle)
            #expect(found.first?.record == last)
        }
        try await index.close()
    }

    @Test("Many small entries that an app waits for are read from the log in one pass")
    func fewReads() async throws {
        let folder = try TemporaryFolder()
        let files = CountingFiles()
        let index = try Self.open(folder.path("store")) { $0.logFiles = files }
        let applier = try #require(index.applier)
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        for number in 0..<200 {
            try await index.commit(try Self.batch(["other \(number)"], in: Self.other))
            try await index.commit(try Self.batch(["own \(number)"], in: Store.app))
        }
        let own = try await Self.ownRead(of: Store.app, index)
        let before = files.opened
        gate.signal()
        #expect(try await own.value.count == 100)
        try await index.settle()
        #expect(files.opened - before <= 20, "\(files.opened - before)")
        try await index.close()
    }
}

/// An action that runs on the applier's queue.
private final class SharedHook: Sendable {
    let body = Mutex<(@Sendable () -> Void)?>(nil)
    private let count = Mutex(0)
    var rounds: Int { count.withLock { $0 } }

    func nextRound() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// Counts how often files are opened for reading.
private final class CountingFiles: LogFiles {
    private let files = SystemLogFiles()
    private let count = Mutex(0)
    var opened: Int { count.withLock { $0 } }

    func createFolder(_ path: String) throws(LogFileError) { try files.createFolder(path) }
    func names(in folder: String) throws(LogFileError) -> [String] { try files.names(in: folder) }
    func open(_ path: String, for mode: LogFileMode) throws(LogFileError) -> any LogFile {
        if mode == .read { count.withLock { $0 += 1 } }
        return try files.open(path, for: mode)
    }
    func rename(_ path: String, to other: String) throws(LogFileError) { try files.rename(path, to: other) }
    func remove(_ path: String) throws(LogFileError) { try files.remove(path) }
    func synchronizeFolder(_ path: String) throws(LogFileError) { try files.synchronizeFolder(path) }
}
