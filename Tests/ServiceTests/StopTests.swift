// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import SearchlightEngine
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import SearchlightService

@Suite("Start and exit of a service", .timeLimit(.minutes(10)))
struct StopTests {
    @Test("A stop during donations keeps all acknowledged ones, and removes the socket")
    func stopWhileDonating() async throws {
        let folder = try TemporaryFolder()
        let service = try await TestService(folder: folder)
        let acknowledged = Collected()
        await withTaskGroup(of: Void.self) { group in
            for client in 0..<8 {
                group.addTask {
                    guard let app = try? await service.app("com.example.a\(client)") else { return }
                    for number in 0..<10_000 {
                        guard (try? await app.donate(["\(client)-\(number)"])) != nil else { return }
                        let count = acknowledged.add("\(client)-\(number)")
                        if count == 200 { service.service.requestStop() }
                    }
                }
            }
        }
        #expect(await service.ending() == .stopped)
        #expect(!FileManager.default.fileExists(atPath: folder.path("store/socket")))
        let engine = try SearchlightEngine(TestService.engine(folder))
        var found: Set<String> = []
        for client in 0..<8 {
            let page = try await engine.items(
                matching: .and([]), bundle: "com.example.a\(client)", limit: 10_000, after: nil)
            found.formUnion(page.items.map(\.record.uniqueIdentifier))
        }
        #expect(acknowledged.all.isSubset(of: found))
        await engine.close()
    }

    @Test("A stop waits for a bounded time for a request that does not end")
    func stopWhileReindexing() async throws {
        var limits = ServiceLimits()
        limits.stopTime = .milliseconds(100)
        let service = try await TestService(limits: limits)
        let app = try await service.app()
        try await app.donate(["a"])
        let asked = Mutex(false)
        let kept = Mutex<[IncomingCall]>([])
        app.onCall { call in
            kept.withLock { $0.append(call) }
            asked.withLock { $0 = true }
        }
        _ = try await app.connection.call(DelegateRequest.register.member, [])
        let shell = try await service.shell()
        let fetch = PromiseRequest.fetchData(bundle: "com.example.notes", item: "a", type: "public.text")
        let answer = Answer()
        shell.connection.call(fetch.member, fetch.arguments) { answer.set($0) }
        #expect(await eventually { asked.withLock { $0 } })
        #expect(await service.stop() == .stopped)
        let ended = await refusal { try await answer.value() }
        #expect(ended != nil)
    }

    @Test("A donation that waits during a stop is not rejected: its connection ends, so that the next service gets it")
    func donationsDuringAStop() async throws {
        var limits = ServiceLimits()
        limits.stopTime = .seconds(1)
        let service = try await TestService(limits: limits)
        let app = try await service.app()
        try await app.donate(["a"])
        let asked = Mutex<[IncomingCall]>([])
        app.onCall { call in asked.withLock { $0.append(call) } }
        _ = try await app.connection.call(DelegateRequest.register.member, [])
        let shell = try await service.shell()
        let fetch = PromiseRequest.fetchData(bundle: "com.example.notes", item: "a", type: "public.text")
        shell.connection.call(fetch.member, fetch.arguments) { _ in }
        #expect(await eventually { asked.withLock { !$0.isEmpty } })
        let other = try await service.app("com.example.other")
        service.service.requestStop()
        var refused: String?
        while refused == nil { refused = await refusal { try await other.donate(["b"]) } }
        #expect(refused == "\(BusError.disconnected)")
        #expect(await service.ending() == .stopped)
    }

    @Test("A second service of the same store names the first")
    func second() async throws {
        let service = try await TestService()
        let configuration = ServiceConfiguration(
            engine: TestService.engine(service.folder), log: ServiceLog { _, _ in })
        await #expect {
            _ = try await Daemon(configuration)
        } throws: { error in
            guard case ServiceStartError.engine(.storeInUse(_, let process)) = error else { return false }
            return process == "\(ProcessInfo.processInfo.processIdentifier)"
        }
        let app = try await service.app()
        try await app.donate(["a"])
        await service.stop()
    }

    @Test("An idle service ends by itself, one with a client does not")
    func idleExit() async throws {
        let clock = ManualClock()
        let limit = Duration.seconds(60)
        let service = try await TestService {
            $0.idleExit = limit
            $0.clock = clock
        }
        await clock.waitForSleepers()
        let app = try await service.app()
        clock.advance(by: limit * 2)
        try await app.donate(["a"])
        app.connection.close()
        // Work that starts or ends before the service rests restarts its idle time.
        let moving = Task {
            while !Task.isCancelled {
                clock.advance(by: limit)
                await Task.yield()
            }
        }
        #expect(await service.ending() == .idle)
        moving.cancel()
    }

    @Test("A client without an introduction is disconnected with a reason")
    func silence() async throws {
        let clock = ManualClock()
        let service = try await TestService { $0.clock = clock }
        let client = try service.connect()
        await clock.waitForSleepers()
        #expect(client.isConnected)
        clock.advance(by: ServiceLimits().helloTime)
        #expect(await eventually { !client.isConnected })
        #expect(service.lines.contains("it did not identify itself"))
        await service.stop()
    }

    @Test("The service manager is notified of the start and the end, and of life only during work")
    func notifications() async throws {
        let said = TestService.Lines()
        let service = try await TestService { configuration in
            configuration.notify = { said.add($0) }
            configuration.watchdog = .milliseconds(150)
        }
        #expect(said.all.first?.hasPrefix("READY=1\nWATCHDOG_USEC=0\n") == true)
        let app = try await service.app()
        try await app.donate(["a"])
        #expect(said.contains("WATCHDOG_USEC=150000\nWATCHDOG=1"))
        #expect(await eventually { said.all.last == ServiceWatchdog.disarming })
        await service.stop()
        #expect(said.all.last?.hasPrefix("STOPPING=1") == true)
    }

    @Test("No sign of life is sent before the service is ready or after its end, during any work")
    func betweenReadyAndTheEnd() async {
        let (said, clock) = (TestService.Lines(), ManualClock())
        let watchdog = ServiceWatchdog(
            limit: .seconds(3), clock: clock, notify: { said.add($0) }, activity: { .init(requests: 1) },
            prove: { said.add("proved") })
        watchdog.update()
        #expect(said.all.isEmpty)
        watchdog.begin(saying: "READY=1")
        watchdog.update()
        #expect(said.all == ["READY=1", "WATCHDOG_USEC=3000000\nWATCHDOG=1"])
        await clock.waitForSleepers()
        watchdog.end()
        clock.advance(by: .seconds(2))
        watchdog.update()
        #expect(await eventually { said.contains("proved") })
        for _ in 0..<100 { await Task.yield() }
        #expect(said.all.count == 3)
    }
}
