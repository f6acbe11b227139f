// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import Foundation
import GRDB
import Glibc
import ItemRecord
import SearchIndex
import SearchlightEngine
import ServiceMessages
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import SearchlightService

@Suite("Checking and repairing the store of a service", .timeLimit(.minutes(10)))
struct RepairTests {
    @Test("A check finds the same as the command without a service, while donations and searches continue")
    func check() async throws {
        let service = try await TestService()
        let app = try await service.app()
        try await app.donate((0..<200).map { "item \($0)" })
        let engine = try #require(
            try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        let stops = Flag()
        let writing = Task {
            let other = try await service.app("com.example.other")
            var count = 0
            while !stops.isRaised {
                try await other.donate(["\(count)"])
                count += 1
            }
            return count
        }
        for _ in 0..<3 {
            let report = try await engine.verify()
            #expect(report.isClean, "\(report.findings)")
            #expect(report.checks.contains { $0.what.hasPrefix("item records") && $0.count ?? 0 >= 200 })
            #expect(try await app.query("title == '*'", limit: 300).identifiers.count == 200)
        }
        stops.raise()
        #expect(try await writing.value > 0)
        try await engine.perform(SettleCall())
        let served = try await engine.verify()
        await engine.close()
        await service.stop()
        let alone = try StoreCheck(TestService.engine(service.folder)).verify()
        // A service that exits writes its own files, and removes applied entries from the log.
        let isCompared = { @Sendable (check: VerificationReport.Check) in !check.what.hasPrefix("files") }
        #expect(served.checks.filter(isCompared) == alone.checks.filter(isCompared))
        #expect(served.checks.map(\.what) == alone.checks.map(\.what) && alone.isClean)
    }

    @Test("A check finds damage in the database of a running service, and a repair removes it without a restart")
    func repair() async throws {
        let service = try await TestService()
        let app = try await service.app()
        try await app.donate(["a", "b"])
        let engine = try #require(
            try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        try await engine.perform(SettleCall())
        let database = service.store + "/index.sqlite"
        chmod(database, 0o644)
        let queue = try DatabaseQueue(path: database)
        try await queue.write { try $0.execute(sql: "UPDATE item SET domain = 'wrong'") }
        try queue.close()
        let found = Set(try await engine.verify().findings.map(\.repair))
        #expect(found == [.restrictMode, .rewriteColumns])
        let repair = try await engine.repair()
        #expect(repair.after.isClean && repair.done.count >= 2, "\(repair)")
        #expect(try await engine.verify().isClean)
        try await app.donate(["c"])
        #expect(Set(try await app.query("title == '*'").identifiers) == ["a", "b", "c"])
        await engine.close()
        await service.stop()
    }

    @Test("A check whose client ends is cancelled, and leaves no copy; the next one starts at once")
    func cancelledCheck() async throws {
        let service = try await TestService()
        let app = try await service.app()
        for start in 0..<20 { try await app.donate((0..<100).map { "item \(start) \($0)" }) }
        for _ in 0..<5 {
            let engine = try #require(
                try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
            let check = Task { try await engine.verify() }
            check.cancel()
            _ = await check.result
            await engine.close()
        }
        let engine = try #require(
            try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        #expect(await eventually { (try? await engine.verify().isClean) == true })
        #expect(!FileManager.default.fileExists(atPath: service.store + "/index.sqlite.new"))
        await engine.close()
        await service.stop()
    }

    @Test("During a repair the store is free, requests wait, and continue afterwards")
    func exclusive() async throws {
        let service = try await TestService()
        let app = try await service.app()
        try await app.donate(["a"])
        let repair = try await HeldRepair(service.service.holder)
        let request = QueryRequest.query(
            number: 1,
            QueryPageRequest(text: "title == '*'", filters: [], attributes: [], cursor: [], limit: 9))
        let answer = Answer()
        app.connection.call(request.member, request.arguments) { answer.set($0) }
        let other = try SearchlightEngine(TestService.engine(service.folder))
        let counts = try await other.perform(ItemCountsCall())
        #expect(counts == ["com.example.notes": 1])
        await other.close()
        await repair.end()
        try await answer.value()
        await service.stop()
    }

    @Test("A client that connects during a repair is accepted at once, and gets the service's facts")
    func connectingDuringRepair() async throws {
        let service = try await TestService()
        let repair = try await HeldRepair(service.service.holder)
        let app = try await service.app()
        let engine = try #require(
            try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        #expect(try await engine.perform(FactsCall()).clients == 2)
        async let donation: Void = app.donate(["a"])
        await repair.end()
        try await donation
        await engine.close()
        await service.stop()
    }

    @Test("A caller that waits until the engine is closed is notified if the engine stays open")
    func staysAfterAll() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let stays = Mutex(0)
        let holder = try EngineHolder(
            ServiceLimits(), clock: clock,
            opening: { () throws(EngineError) in try SearchlightEngine(TestService.engine(folder)) },
            onReopen: { _ in Issue.record("It was not opened again.") }, onStay: { _ in stays.withLock { $0 += 1 } })
        let (ending, end) = AsyncStream.makeStream(of: Void.self)
        let using = Task { await holder.useNow { _ in for await _ in ending {} } }
        #expect(await eventually { holder.state.withLock { $0.users == 1 } })
        async let problem = problem(of: holder)
        await clock.waitForSleepers()
        #expect(holder.current == nil)
        clock.advance(by: ServiceLimits().drainTime)
        guard case .inUse? = await problem else {
            Issue.record("It was closed.")
            return
        }
        #expect(holder.current != nil && stays.withLock { $0 } == 1)
        end.finish()
        await using.value
        _ = await holder.stop()
    }

    private func problem(of holder: EngineHolder) async -> EngineUnavailable? {
        do throws(EngineUnavailable) { try await holder.exclusively {} } catch { return error }
        return nil
    }

    @Test("A socket-activated service waits for a store in use, for a bounded time")
    func startsLater() async throws {
        for isGivenBack in [true, false] {
            let folder = try TemporaryFolder()
            let clock = ManualClock()
            let other = try SearchlightEngine(TestService.engine(folder))
            let socket = try ServiceSocket.listen(inFolder: folder.path("store"))
            var limits = ServiceLimits()
            limits.startTime = .seconds(1)
            let starting = Task { [limits] in
                try await TestService(folder: folder, limits: limits) {
                    $0.clock = clock
                    $0.inheritedSocket = socket
                }
            }
            await clock.waitForSleepers()
            if isGivenBack {
                await other.close()
                clock.advance(by: .milliseconds(200))
                let service = try await starting.value
                #expect(service.lines.contains("Waiting for the store."))
                await service.stop()
            } else {
                for _ in 0..<5 {
                    await clock.waitForSleepers()
                    clock.advance(by: .milliseconds(200))
                }
                await #expect(throws: ServiceStartError.self) { try await starting.value }
                await other.close()
            }
        }
    }

    @Test("A service that is stopped before its start does not wait for a store in use")
    func endsBeforeItBegins() async throws {
        let folder = try TemporaryFolder()
        let other = try SearchlightEngine(TestService.engine(folder))
        let socket = try ServiceSocket.listen(inFolder: folder.path("store"))
        await #expect(throws: ServiceStartError.self) {
            _ = try await TestService(folder: folder) {
                $0.clock = ManualClock()
                $0.inheritedSocket = socket
                $0.isStopWanted = { true }
            }
        }
        await other.close()
    }

    @Test("Only one repair is in progress")
    func oneRepair() async throws {
        let service = try await TestService()
        let repair = try await HeldRepair(service.service.holder)
        let engine = try #require(
            try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        await #expect {
            _ = try await engine.repair()
        } throws: { "\($0)".contains("repair of the store is already in progress") }
        await repair.end()
        #expect(try await engine.repair().after.isClean)
        await engine.close()
        await service.stop()
    }

    @Test("Requests wait a bounded time, and a bounded number of them")
    func bounds() async throws {
        var limits = ServiceLimits()
        limits.waitingForRepair = 2
        let clock = ManualClock()
        let service = try await TestService(limits: limits) { $0.clock = clock }
        let app = try await service.app()
        let repair = try await HeldRepair(service.service.holder)
        async let refused = refusal { try await app.donate(["a"]) }
        await clock.waitForSleepers()
        clock.advance(by: limits.repairTime)
        #expect(await refused == ExtensionStatus.unavailable.errorName)
        await repair.end()
        try await app.donate(["a"])
        await service.stop()
    }

    @Test("A registered app is registered again with the engine that is opened after a repair")
    func delegateComesBack() async throws {
        let service = try await TestService()
        let app = try await service.app()
        try await app.donate(["a"])
        app.onCall { call in call.reply() }
        _ = try await app.connection.call(DelegateRequest.register.member, [])
        let shell = try await service.shell()
        try await HeldRepair(service.service.holder).end()
        let fetch = PromiseRequest.fetchData(bundle: "com.example.notes", item: "a", type: "public.text")
        app.onCall { $0.reply(Payload.inline(Array("text".utf8)).arguments) }
        var arguments = BusArguments(
            try await shell.connection.call(fetch.member, fetch.arguments), of: fetch.member.member)
        let payload = try Payload(&arguments)
        #expect(payload.length == 4)
        await service.stop()
    }

    @Test("Donations of a delegate during its reindex are accepted though a repair waits for the store")
    func repairDuringReindex() async throws {
        var limits = ServiceLimits()
        limits.drainTime = .seconds(60)
        let service = try await TestService(limits: limits)
        let app = try await service.app()
        try await app.donate(["a"])
        let asked = Mutex<IncomingCall?>(nil)
        app.onCall { call in asked.withLock { $0 = call } }
        _ = try await app.connection.call(DelegateRequest.register.member, [])
        let engine = try #require(
            try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        async let count = engine.perform(ReindexCall(bundle: "com.example.notes"))
        #expect(await eventually { asked.withLock { $0 != nil } })
        let repair = Task { try await HeldRepair(service.service.holder).end() }
        #expect(await eventually { service.service.holder.current == nil })
        try await app.donate(["b", "c"])
        asked.withLock { $0 }?.reply()
        let reindexed = try await count
        #expect(reindexed == 3)
        try await repair.value
        await engine.close()
        await service.stop()
    }

    @Test("Waiting donations of an ended app are dropped during a repair, and their slot is free at once")
    func goneWhileWaiting() async throws {
        let service = try await TestService()
        let app = try await service.app()
        let repair = try await HeldRepair(service.service.holder)
        let request = IndexRequest(.deleteAll, index: nil)
        var batch: [UInt8] = []
        RecordBatch.append(try record("late"), to: &batch)
        let donation = IndexRequest(.put(batch), index: nil)
        app.connection.call(request.member, request.arguments) { _ in }
        app.connection.call(donation.member, donation.arguments) { _ in }
        #expect(await eventually { service.service.heldBytes > 1024 })
        app.connection.close()
        #expect(await eventually { service.service.sessionCount == 0 && service.service.heldBytes == 0 })
        await repair.end()
        let again = try await service.app()
        try await again.donate(["new"])
        let found = try await again.query("title == '*'").identifiers
        #expect(found == ["new"])
        await service.stop()
    }

    /// Returns a holder whose engine cannot be reopened at the first attempt, because the disk is
    /// read-only at that time.
    private func failing(
        _ folder: TemporaryFolder, _ clock: ManualClock, _ openings: Counter
    ) throws -> EngineHolder {
        try EngineHolder(
            ServiceLimits(), clock: clock,
            opening: { () throws(EngineError) in
                guard openings.next() != 2 else {
                    throw .storeFile(path: "lock", operation: "Opening", detail: "Read-only file system")
                }
                return try SearchlightEngine(TestService.engine(folder))
            })
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func next() -> Int {
            value.withLock { value in
                value += 1
                return value
            }
        }
    }

    private func hasFailed(_ holder: EngineHolder) async -> Bool {
        do throws(EngineUnavailable) {
            try await holder.use({ $0 }) { (_) throws(EngineUnavailable) in }
            return false
        } catch {
            if case .failed = error { return true } else { return false }
        }
    }

    @Test("A store that could not be opened again is opened on request, but not at each request")
    func openedLater() async throws {
        let (folder, clock, openings) = (try TemporaryFolder(), ManualClock(), Counter())
        let holder = try failing(folder, clock, openings)
        try await HeldRepair(holder).end()
        await clock.waitForSleepers()
        #expect(await hasFailed(holder))
        #expect(await hasFailed(holder))
        #expect(openings.count == 2)
        clock.advance(by: ServiceLimits().reopenPause)
        #expect(await eventually { holder.state.withLock { $0.mayTryAgain } })
        #expect(await !hasFailed(holder))
        #expect(openings.count == 3)
        #expect(await holder.stop())
    }

    @Test("A store that could not be opened again can be repaired")
    func repairedAfterFailure() async throws {
        let (folder, clock, openings) = (try TemporaryFolder(), ManualClock(), Counter())
        let holder = try failing(folder, clock, openings)
        try await HeldRepair(holder).end()
        #expect(await hasFailed(holder))
        let repair = try await HeldRepair(holder)
        #expect(await holder.useNow { _ in true } == nil)
        await repair.end()
        #expect(await !hasFailed(holder))
        #expect(openings.count == 3)
        #expect(await holder.stop())
    }

    @Test("A caller that does not want to wait for a repair gets an error at once")
    func notNow() async throws {
        let folder = try TemporaryFolder()
        let holder = try EngineHolder(
            ServiceLimits(), clock: ManualClock(),
            opening: { () throws(EngineError) in try SearchlightEngine(TestService.engine(folder)) })
        #expect(await holder.useNow { _ in true } == true)
        let repair = try await HeldRepair(holder)
        #expect(await holder.useNow { _ in true } == nil)
        await repair.end()
        #expect(await holder.useNow { _ in true } == true)
        #expect(await holder.stop())
        #expect(await holder.useNow { _ in true } == nil)
    }

    @Test("A stop while a repair waits for the store lets running work end")
    func stopBeforeRepair() async throws {
        let folder = try TemporaryFolder()
        let holder = try EngineHolder(
            ServiceLimits(), clock: ContinuousClock(),
            opening: { () throws(EngineError) in try SearchlightEngine(TestService.engine(folder)) })
        let (isInside, mayEnd, hasEnded) = (Flag(), Flag(), Flag())
        let use = Task {
            try await holder.use({ $0 }) { (_) throws(EngineUnavailable) in
                isInside.raise()
                _ = await eventually { mayEnd.isRaised }
                hasEnded.raise()
            }
        }
        #expect(await eventually { isInside.isRaised })
        let repair = Task { try? await holder.exclusively { _ = Issue.record("It was repaired.") } }
        #expect(await eventually { holder.current == nil })
        let stop = Task {
            let isDone = await holder.stop()
            return isDone && hasEnded.isRaised
        }
        _ = await eventually { hasStopped(holder) }
        mayEnd.raise()
        #expect(await stop.value)
        try await use.value
        await repair.value
    }

    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isRaised: Bool { value.withLock { $0 } }
        func raise() { value.withLock { $0 = true } }
    }

    private func hasStopped(_ holder: EngineHolder) -> Bool { holder.state.withLock { $0.isStopping } }

    @Test("A service that is stopped during a repair ends after it")
    func stopDuringRepair() async throws {
        let service = try await TestService()
        let repair = try await HeldRepair(service.service.holder)
        service.service.requestStop()
        #expect(await eventually { service.service.holder.state.withLock { $0.isStopping } })
        await repair.end()
        #expect(await service.ending() == .stopped)
        #expect(!service.lines.contains("were cancelled"))
    }
}
