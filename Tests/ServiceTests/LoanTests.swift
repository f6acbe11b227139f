// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import SearchlightEngine
import ServiceMessages
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import SearchlightService

@Suite("Lending the store", .timeLimit(.minutes(10)))
struct LoanTests {
    private func borrow(_ shell: TestClient) async throws {
        _ = try await shell.connection.call(ShellRequest.borrowStore.member, [])
    }

    @Test("While the store is lent it is free for others, requests wait, and go on when it is given back")
    func loan() async throws {
        let service = try await TestService()
        let app = try await service.app()
        let shell = try await service.shell()
        try await app.donate(["a"])
        try await borrow(shell)
        let request = QueryRequest.query(
            number: 1,
            QueryPageRequest(text: "title == '*'", filters: [], attributes: [], cursor: [], limit: 9))
        let answer = Answer()
        app.connection.call(request.member, request.arguments) { answer.set($0) }
        let borrowed = try SearchlightEngine(TestService.engine(service.folder))
        let counts = try await borrowed.itemCounts()
        #expect(counts == ["com.example.notes": 1])
        await borrowed.close()
        _ = try await shell.connection.call(ShellRequest.returnStore.member, [])
        try await answer.value()
        let twice = await refusal { _ = try await shell.connection.call(ShellRequest.returnStore.member, []) }
        #expect(twice == ExtensionStatus.refused.errorName)
        await service.stop()
    }

    @Test("A borrower that dies gives the store back")
    func death() async throws {
        let service = try await TestService()
        let shell = try await service.shell()
        try await borrow(shell)
        let app = try service.connect()
        let hello = Answer()
        let arguments = Hello(role: .app, bundle: "com.example.notes", program: "t").arguments
        app.connection.call(Hello.member, arguments) { hello.set($0) }
        shell.connection.close()
        try await hello.value()
        try await app.donate(["a"])
        await service.stop()
    }

    @Test("Who connects while the store is lent is let in at once, and is told of the service")
    func connectingMeanwhile() async throws {
        let service = try await TestService()
        let shell = try await service.shell()
        try await borrow(shell)
        let app = try await service.app()
        let engine = try #require(
            try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        #expect(try await engine.facts().clients == 3)
        async let donation: Void = app.donate(["a"])
        _ = try await shell.connection.call(ShellRequest.returnStore.member, [])
        try await donation
        await engine.close()
        await service.stop()
    }

    @Test("Who looked for the engine while it was to be lent is told that it stays, if it does")
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
        clock.advance(by: ServiceLimits().lendTime)
        guard case .inUse? = await problem else {
            Issue.record("It was lent.")
            return
        }
        #expect(holder.current != nil && stays.withLock { $0 } == 1)
        end.finish()
        await using.value
        _ = await holder.stop()
    }

    private func problem(of holder: EngineHolder) async -> EngineAbsence? {
        do throws(EngineAbsence) { try await holder.lend(to: 1) } catch { return error }
        return nil
    }

    @Test("A service that was started through its socket waits for a store that is in use, for a bounded time")
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

    @Test("A service that is to end before it has begun does not wait for a store that is in use")
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

    @Test("Only one borrows, and nobody gives back what another has")
    func oneBorrower() async throws {
        let service = try await TestService()
        let first = try await service.shell()
        let second = try await service.shell()
        try await borrow(first)
        let refused = await refusal { try await borrow(second) }
        #expect(refused == ExtensionStatus.unavailable.errorName)
        let stolen = await refusal { _ = try await second.connection.call(ShellRequest.returnStore.member, []) }
        #expect(stolen == ExtensionStatus.refused.errorName)
        _ = try await first.connection.call(ShellRequest.returnStore.member, [])
        try await borrow(second)
        await service.stop()
    }

    @Test("Requests wait a bounded time, and a bounded number of them")
    func bounds() async throws {
        var limits = ServiceLimits()
        limits.waitingForStore = 2
        let clock = ManualClock()
        let service = try await TestService(limits: limits) { $0.clock = clock }
        let app = try await service.app()
        let shell = try await service.shell()
        try await borrow(shell)
        async let refused = refusal { try await app.donate(["a"]) }
        await clock.waitForSleepers()
        clock.advance(by: limits.storeTime)
        #expect(await refused == ExtensionStatus.unavailable.errorName)
        _ = try await shell.connection.call(ShellRequest.returnStore.member, [])
        try await app.donate(["a"])
        await service.stop()
    }

    @Test("A registered app is registered again with the engine that is opened after a loan")
    func delegateComesBack() async throws {
        let service = try await TestService()
        let app = try await service.app()
        try await app.donate(["a"])
        app.onCall { call in call.reply() }
        _ = try await app.connection.call(AppRequest.register.member, [])
        let shell = try await service.shell()
        try await borrow(shell)
        _ = try await shell.connection.call(ShellRequest.returnStore.member, [])
        let fetch = AppRequest.fetchData(bundle: "com.example.notes", item: "a", type: "public.text")
        app.onCall { $0.reply(Payload.inline(Array("text".utf8)).arguments) }
        var arguments = BusArguments(
            try await shell.connection.call(fetch.member, fetch.arguments), of: fetch.member.member)
        let payload = try Payload(&arguments)
        #expect(payload.length == 4)
        await service.stop()
    }

    @Test("What a delegate donates while it reindexes is taken though somebody waits to borrow the store")
    func loanDuringReindex() async throws {
        var limits = ServiceLimits()
        limits.lendTime = .seconds(60)
        let service = try await TestService(limits: limits)
        let app = try await service.app()
        try await app.donate(["a"])
        let asked = Mutex<IncomingCall?>(nil)
        app.onCall { call in asked.withLock { $0 = call } }
        _ = try await app.connection.call(AppRequest.register.member, [])
        let engine = try #require(
            try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        async let count = engine.reindexAll("com.example.notes")
        #expect(await eventually { asked.withLock { $0 != nil } })
        let shell = try await service.shell()
        let loans = Mutex<[Bool]>([])
        // As soon as there is one wish, another is refused.
        for _ in 0..<2 {
            shell.connection.call(ShellRequest.borrowStore.member, []) { result in
                loans.withLock { $0.append((try? result.get()) != nil) }
            }
        }
        #expect(await eventually { loans.withLock { $0 == [false] } })
        try await app.donate(["b", "c"])
        asked.withLock { $0 }?.reply()
        let reindexed = try await count
        #expect(reindexed == 3)
        #expect(await eventually { loans.withLock { $0 == [false, true] } })
        await engine.close()
        await service.stop()
    }

    @Test("What an app that is gone had waiting for a lent store is dropped, and its place is free at once")
    func goneWhileWaiting() async throws {
        let service = try await TestService()
        let app = try await service.app()
        let shell = try await service.shell()
        try await borrow(shell)
        let request = IndexRequest(.deleteAll, index: nil)
        var batch: [UInt8] = []
        RecordBatch.append(try record("late"), to: &batch)
        let donation = IndexRequest(.indexRecords(batch), index: nil)
        app.connection.call(request.member, request.arguments) { _ in }
        app.connection.call(donation.member, donation.arguments) { _ in }
        #expect(await eventually { service.service.heldBytes > 1024 })
        app.connection.close()
        #expect(await eventually { service.service.sessionCount == 1 && service.service.heldBytes == 0 })
        _ = try await shell.connection.call(ShellRequest.returnStore.member, [])
        let again = try await service.app()
        try await again.donate(["new"])
        let found = try await again.query("title == '*'").identifiers
        #expect(found == ["new"])
        await service.stop()
    }

    @Test("A store whose borrower has not let go of its lock yet is opened as soon as it has")
    func lockThatLingers() async throws {
        let folder = try TemporaryFolder()
        let openings = Mutex(0)
        let holder = try EngineHolder(
            ServiceLimits(), clock: ContinuousClock(),
            opening: { () throws(EngineError) in
                let count = openings.withLock { count in
                    count += 1
                    return count
                }
                // As of a process that is ending: its connection was closed before its lock.
                if (2...4).contains(count) { throw .storeInUse(path: "store", process: nil) }
                return try SearchlightEngine(TestService.engine(folder))
            })
        try await holder.lend(to: 1)
        await holder.takeBack(from: 1)
        let generation = try await holder.use({ $0 }) { (engine) throws(EngineAbsence) in
            do throws(EngineError) { return try await engine.generation() } catch { throw .failed(error) }
        }
        #expect(generation >= 0 && openings.withLock { $0 } == 5)
        _ = await holder.stop()
    }

    /// An engine that cannot be opened again the first time, since its disk can only be read then.
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
        do throws(EngineAbsence) {
            try await holder.use({ $0 }) { (_) throws(EngineAbsence) in }
            return false
        } catch {
            if case .failed = error { return true } else { return false }
        }
    }

    @Test("A store that could not be opened again is, once who asks has it tried; not at each request")
    func openedLater() async throws {
        let (folder, clock, openings) = (try TemporaryFolder(), ManualClock(), Counter())
        let holder = try failing(folder, clock, openings)
        try await holder.lend(to: 1)
        await holder.takeBack(from: 1)
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

    @Test("A store that could not be opened again can be borrowed, to be mended")
    func borrowedToBeMended() async throws {
        let (folder, clock, openings) = (try TemporaryFolder(), ManualClock(), Counter())
        let holder = try failing(folder, clock, openings)
        try await holder.lend(to: 1)
        await holder.takeBack(from: 1)
        #expect(await hasFailed(holder))
        try await holder.lend(to: 2)
        #expect(await holder.useNow { _ in true } == nil)
        #expect(await holder.takeBack(from: 2))
        #expect(await !hasFailed(holder))
        #expect(openings.count == 3)
        #expect(await holder.stop())
    }

    @Test("Who would rather not wait for a lent store is told so at once")
    func notNow() async throws {
        let folder = try TemporaryFolder()
        let holder = try EngineHolder(
            ServiceLimits(), clock: ManualClock(),
            opening: { () throws(EngineError) in try SearchlightEngine(TestService.engine(folder)) })
        #expect(await holder.useNow { _ in true } == true)
        try await holder.lend(to: 1)
        #expect(await holder.useNow { _ in true } == nil)
        await holder.takeBack(from: 1)
        #expect(await holder.useNow { _ in true } == true)
        #expect(await holder.stop())
        #expect(await holder.useNow { _ in true } == nil)
    }

    @Test("A stop while somebody waits to borrow the store lets what is under way end")
    func stopBeforeLoan() async throws {
        let folder = try TemporaryFolder()
        let holder = try EngineHolder(
            ServiceLimits(), clock: ContinuousClock(),
            opening: { () throws(EngineError) in try SearchlightEngine(TestService.engine(folder)) })
        let (isInside, mayEnd, hasEnded) = (Flag(), Flag(), Flag())
        let use = Task {
            try await holder.use({ $0 }) { (_) throws(EngineAbsence) in
                isInside.raise()
                _ = await eventually { mayEnd.isRaised }
                hasEnded.raise()
            }
        }
        #expect(await eventually { isInside.isRaised })
        let loan = Task { try? await holder.lend(to: 1) }
        #expect(await eventually { holder.current == nil })
        let stop = Task {
            let isDone = await holder.stop()
            return isDone && hasEnded.isRaised
        }
        _ = await eventually { hasStopped(holder) }
        mayEnd.raise()
        #expect(await stop.value)
        try await use.value
        await loan.value
    }

    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isRaised: Bool { value.withLock { $0 } }
        func raise() { value.withLock { $0 = true } }
    }

    private func hasStopped(_ holder: EngineHolder) -> Bool { holder.state.withLock { $0.isStopping } }

    @Test("A service that is stopped while its store is lent ends at once")
    func stopWhileLent() async throws {
        let service = try await TestService()
        let shell = try await service.shell()
        try await borrow(shell)
        #expect(await service.stop() == .stopped)
    }
}
