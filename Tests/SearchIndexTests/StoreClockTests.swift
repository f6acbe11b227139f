// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ItemRecord
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Expiry by elapsed time, independent of a changed clock")
struct StoreClockTests {
    private static let day = 86400.0
    private static let year = 365 * day

    /// A machine with monotonic time, and a wall clock that can be set.
    private final class Machine: Sendable {
        struct State {
            var time = 0.0
            var offset = 800_000_000.0
            var boot = 0
            var booted = 0.0
        }
        let state = Mutex(State())
        var time: Double { state.withLock { $0.time } }
        var wall: Double { state.withLock { $0.time + $0.offset } }
        func pass(_ seconds: Double) { state.withLock { $0.time += seconds } }
        func set(by seconds: Double) { state.withLock { $0.offset += seconds } }
        /// Turns the machine off for a time, and starts it again.
        func restart(after seconds: Double) {
            state.withLock { state in
                state.time += seconds
                state.boot += 1
                state.booted = state.time
            }
        }
        func open(_ folder: TemporaryFolder) throws -> SearchIndex {
            try SearchIndex(
                directory: folder.path("store"), access: .readWrite, now: { [self] in wall },
                bootClock: BootClock { [self] in
                    state.withLock { BootClock.Reading(boot: "\($0.boot)", seconds: $0.time - $0.booted) }
                })
        }
    }

    private static func put(_ name: String, _ index: SearchIndex, _ expiration: ItemRecord.Expiration = .standard)
        async throws
    {
        var record = item(name, title: "lemon")
        record.expiration = expiration
        try await index.index([try EncodedItem(record)], in: Store.app)
    }

    private static func names(_ index: SearchIndex) async throws -> Set<String> {
        Set(try await index.search(SearchRequest("lemon")).hits.map(\.item.record.uniqueIdentifier))
    }

    @Test(
        "A clock that is years wrong at donation expires nothing after its correction, and keeps nothing too long",
        arguments: [-16 * year, -25 * year, 14 * year, 40 * year], [false, true])
    func wrongAtDonation(by error: Double, restarts: Bool) async throws {
        let folder = try TemporaryFolder()
        let machine = Machine()
        machine.set(by: error)
        var index = try machine.open(folder)
        try await Self.put("default", index)
        try await Self.put("own", index, .at(machine.wall + 10 * Self.day))
        try await Self.put("never", index, .never)
        try await index.settle()
        if restarts {
            try await index.close()
            machine.restart(after: 3600)
            machine.set(by: -error)
            index = try machine.open(folder)
        } else {
            machine.set(by: -error)
        }
        // The items are found before anything is written, and are not purged.
        #expect(try await Self.names(index) == ["default", "own", "never"])
        #expect(try await index.deleteExpired() == 0)
        #expect(try await Self.names(index) == ["default", "own", "never"])
        let stored = try #require(try await index.items(uniqueIdentifier: "default").first)
        #expect(abs((stored.expires ?? 0) - machine.wall - SearchIndex.standardLifetime) < 2 * 3600)
        machine.pass(11 * Self.day)
        #expect(try await Self.names(index) == ["default", "never"])
        machine.pass(20 * Self.day)
        #expect(try await Self.names(index) == ["never"])
        #expect(try await index.deleteExpired() == 2)
        try await index.close()
    }

    @Test("A clock that is years ahead for a while deletes nothing, and donations of that time keep their life")
    func aheadForAWhile() async throws {
        let folder = try TemporaryFolder()
        let machine = Machine()
        let index = try machine.open(folder)
        try await Self.put("before", index)
        try await index.settle()
        machine.set(by: 14 * Self.year)
        #expect(try await index.purgeStep() == 0)
        try await Self.put("during", index)
        #expect(try await Self.names(index) == ["before", "during"])
        machine.set(by: -14 * Self.year)
        #expect(try await index.purgeStep() == 0)
        #expect(try await Self.names(index) == ["before", "during"])
        machine.pass(31 * Self.day)
        #expect(try await Self.names(index).isEmpty)
        #expect(try await index.deleteExpired() == 2)
        try await index.close()
    }

    @Test("A machine that was off for a fortnight ages its items by that, and moves nothing")
    func off() async throws {
        let folder = try TemporaryFolder()
        let machine = Machine()
        var index = try machine.open(folder)
        try await Self.put("a", index)
        try await index.close()
        machine.restart(after: 14 * Self.day)
        index = try machine.open(folder)
        #expect(try await Self.names(index) == ["a"])
        machine.pass(17 * Self.day)
        #expect(try await Self.names(index).isEmpty)
        try await index.close()
    }

    @Test(
        "A read that waits while the clock is set back finds the items that have not expired",
        arguments: [-400 * day, 400 * day])
    func setWhileWaiting(by change: Double) async throws {
        let folder = try TemporaryFolder()
        let machine = Machine()
        let index = try machine.open(folder)
        let applier = try #require(index.applier)
        try await Self.put("kept", index)
        try await index.settle()
        await withCheckedContinuation { done in applier.onQueue { done.resume() } }
        func whileSet<Value: Sendable>(_ read: @escaping @Sendable () async throws -> Value) async throws -> Value {
            let gate = DispatchSemaphore(value: 0)
            applier.onQueue { gate.wait() }
            try await Self.put("new", index)
            machine.set(by: change)
            let task = Task { try await read() }
            while applier.state.withLock({ $0.waiters.isEmpty }) { await Task.yield() }
            gate.signal()
            let value = try await task.value
            // Setting the clock back is another change. The dates follow it.
            machine.set(by: -change)
            try await Self.put("new", index)
            try await index.settle()
            return value
        }
        #expect(try await whileSet { try await Self.names(index) } == ["kept", "new"])
        #expect(try await whileSet { try await index.items(matching: .and([])).items.count } == 2)
        #expect(try await whileSet { try await index.items(uniqueIdentifier: "kept").count } == 1)
        #expect(try await whileSet { try await index.itemCounts() } == [Store.app.bundle: 2])
        #expect(try await whileSet { try await index.count(matching: .and([])) } == 2)
        #expect(try await whileSet { try await index.count(SearchRequest("lemon")) } == 2)
        try await index.close()
    }

    @Test("A search continues with its next page after a change of the clock", arguments: [-400 * day, 400 * day])
    func setBetweenPages(by change: Double) async throws {
        let folder = try TemporaryFolder()
        let machine = Machine()
        let index = try machine.open(folder)
        for number in 0..<6 { try await Self.put("\(number)", index) }
        try await index.settle()
        var request = SearchRequest("lemon")
        request.limit = 2
        var found: [String] = []
        repeat {
            let page = try await index.search(request)
            found += page.hits.map(\.item.record.uniqueIdentifier)
            request.cursor = page.next
            machine.set(by: change)
            try await Self.put("later \(found.count)", index)
            try await index.settle()
        } while request.cursor != nil
        #expect(Set(found).count == found.count && Set(found).isSuperset(of: (0..<6).map(String.init)))
        try await index.close()
    }

    @Test("An app's date under a wrong clock is moved, even after a crash before it was applied")
    func appliedAfterCrash() async throws {
        let folder = try TemporaryFolder()
        let machine = Machine()
        var index = try machine.open(folder)
        machine.set(by: 14 * Self.year)
        index.hold(Store.app.bundle)
        for (name, isOwn) in [("own", true), ("default", false)] {
            var record = item(name, title: "lemon")
            if isOwn { record.expiration = .at(machine.wall + 10 * Self.day) }
            var batch = IndexBatch(scope: Store.app)
            batch.index([try EncodedItem(record)])
            try await index.commit(batch, isLowPriority: true)
        }
        index.abandon()
        machine.set(by: -14 * Self.year)
        machine.pass(2 * Self.day)
        index = try machine.open(folder)
        #expect(try await Self.names(index) == ["default", "own"])
        let stored = try #require(try await index.items(uniqueIdentifier: "own").first)
        #expect(abs((stored.expires ?? 0) - machine.wall - 8 * Self.day) < 3600)
        let standard = try #require(try await index.items(uniqueIdentifier: "default").first)
        #expect(abs((standard.expires ?? 0) - machine.wall - SearchIndex.standardLifetime + 2 * Self.day) < 3600)
        try await index.close()
    }

    @Test("The next expiry accounts for a clock that was just changed", arguments: [-14 * year, 14 * year])
    func firstExpiries(by change: Double) async throws {
        let folder = try TemporaryFolder()
        let machine = Machine()
        let index = try machine.open(folder)
        try await Self.put("kept", index)
        try await index.settle()
        machine.set(by: change)
        let first = try #require(try await index.firstExpiries()[Store.app.bundle])
        #expect(abs(first - machine.wall - SearchIndex.standardLifetime) < 3600)
        machine.set(by: -change)
        let found = try await index.expiringItems(
            of: Store.app.bundle, after: nil, through: machine.wall + 31 * Self.day, lifetime: 0, limit: 10)
        #expect(abs((found.earliest ?? 0) - machine.wall - SearchIndex.standardLifetime) < 3600)
        try await index.close()
    }

    @Test(
        "With any changes of the clock no item expires early, and none is kept too long",
        arguments: 1...20 as ClosedRange<UInt64>)
    func anySettings(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let machine = Machine()
        var random = SplitMix64(seed: seed)
        var index = try machine.open(folder)
        /// The time at which each item's lifetime ends; its removal may be later, because items may
        /// get additional time if the machine was off for very long.
        var ends: [String: Double] = [:]
        let slack = 3 * 3600.0
        for step in 0..<60 {
            switch random.below(7) {
            case 0, 1:
                let days = Double(1 + random.below(40))
                let name = "\(step)"
                let isOwn = random.below(2) == 0
                try await Self.put(name, index, isOwn ? .at(machine.wall + days * Self.day) : .standard)
                try await index.settle()
                ends[name] = machine.time + (isOwn ? days * Self.day : SearchIndex.standardLifetime)
            case 2:
                let years = Double(1 + random.below(30))
                machine.set(by: (random.below(2) == 0 ? years : -years) * Self.year)
            case 3:
                try await index.close()
                machine.restart(after: Double(random.below(5)) * Self.day)
                if random.below(2) == 0 { machine.set(by: Double(random.below(40) - 20) * Self.year) }
                index = try machine.open(folder)
            case 4: _ = try await index.deleteExpired()
            default: machine.pass(Double(random.below(20)) * Self.day / 4)
            }
            let found = try await Self.names(index)
            for (name, end) in ends {
                // After a restart, if the clock was also set, it is unknown how long the machine
                // was off.
                if machine.time < end - slack { #expect(found.contains(name), "step \(step)") }
                if machine.time > end + 5 * 20 * Self.day { #expect(!found.contains(name), "step \(step)") }
            }
        }
        machine.pass(200 * Self.day)
        _ = try await index.deleteExpired()
        #expect(try await index.itemCounts().isEmpty)
        try await index.close()
    }
}
