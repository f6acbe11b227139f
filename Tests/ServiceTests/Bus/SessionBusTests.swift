// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import ExtensionHost
import Glibc
import ItemRecord
import SearchlightEngine
import ServiceMessages
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import CoreSpotlight
@testable import SearchlightService

/// Rejecting another user's process cannot be tested here, because a private bus admits no other
/// user.
@Suite("The service on the session bus", .enabled(if: PrivateBus.isAvailable), .timeLimit(.minutes(10)))
struct SessionBusTests {
    private func service(_ bus: PrivateBus, limits: ServiceLimits = ServiceLimits()) async throws -> TestService {
        try await TestService(limits: limits) { $0.sessionBus = bus.address }
    }

    @Test("An app donates, queries and answers for its bundle over the bus, and only the service can call it")
    func app() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus)
        let callers = Mutex<Set<String?>>([])
        let app = try await BusTestClient(bus) { call in
            callers.withLock { _ = $0.insert(call.sender) }
            let isRight = (try? WorkerRequest(call)) == .provideData(item: "a", type: "public.text")
            call.reply(Payload.inline(Array((isRight ? "mine" : "?").utf8)).arguments)
        }
        let early = await refusal { try await app.donate(["early"]) }
        #expect(early == ServiceErrorName.accessDenied)
        let welcome = try await app.hello(.app, bundle: "com.example.notes")
        #expect(welcome.bundle == "com.example.notes")
        try await app.donate(["a", "b"])
        let found = try await app.query("title == '*'")
        #expect(found == ["a", "b"])
        _ = try await app.call(DelegateRequest.register.member, [])
        let shell = try await service.shell()
        let fetch = PromiseRequest.fetchData(bundle: "com.example.notes", item: "a", type: "public.text")
        var answer = BusArguments(
            try await shell.connection.call(fetch.member, fetch.arguments), of: fetch.member.member)
        guard case .inline(let bytes) = try Payload(&answer) else { throw BusError.disconnected }
        #expect(bytes == Array("mine".utf8))
        #expect(callers.withLock { $0 } == [app.service])
        // Another sender is another client, with its own bundle.
        let other = try await BusTestClient(bus)
        try await other.hello(.app, bundle: "com.example.other")
        let others = try await other.query("title == '*'")
        #expect(others == [])
        let all = await refusal { _ = try await other.search("a") }
        #expect(all == ServiceErrorName.accessDenied)
        await service.stop()
        #expect(service.service.senderCount == 0)
    }

    @Test("If another service has the name, the service stays on its socket")
    func nameTaken() async throws {
        let bus = try PrivateBus()
        let other = try MessageBus(address: bus.address, name: "other", onCall: { _ in }, onDisconnect: { _ in })
        let outcome = try await other.requestName(MessageBus.serviceName)
        #expect(outcome == .acquired)
        let service = try await service(bus)
        #expect(await eventually { service.lines.contains("Another service has the name") })
        let app = try await service.app()
        try await app.donate(["a"])
        await service.stop()
    }

    @Test("A missing bus, and one that ends, are logged, and the socket still works")
    func noBus() async throws {
        let lost = try await TestService { $0.sessionBus = "unix:path=/nonexistent/bus" }
        #expect(await eventually { lost.lines.contains("Not on the session bus") })
        let app = try await lost.app()
        try await app.donate(["a"])
        await lost.stop()
        let bus = try PrivateBus()
        let service = try await service(bus)
        let client = try await BusTestClient(bus)
        try await client.hello(.app, bundle: "com.example.notes")
        bus.stop()
        #expect(await eventually { service.lines.contains("Disconnected from the session bus") })
        #expect(await eventually { service.service.sessionCount == 0 && service.service.senderCount == 0 })
        let direct = try await service.app()
        try await direct.donate(["a"])
        await service.stop()
    }

    @Test("A client that dies during requests frees its resources, and callers that wait for it are answered")
    func dies() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus)
        let asked = Mutex<[IncomingCall]>([])
        let app = try await BusTestClient(bus) { call in asked.withLock { $0.append(call) } }
        try await app.hello(.app, bundle: "com.example.notes")
        try await app.donate(["a"])
        _ = try await app.call(DelegateRequest.register.member, [])
        let shell = try await service.shell()
        async let fetched = refusal {
            let fetch = PromiseRequest.fetchData(bundle: "com.example.notes", item: "a", type: "public.text")
            _ = try await shell.connection.call(fetch.member, fetch.arguments)
        }
        #expect(await eventually { asked.withLock { !$0.isEmpty } })
        var batch: [UInt8] = []
        RecordBatch.append(try record("large", title: String(repeating: "x", count: 1 << 20)), to: &batch)
        let request = IndexRequest(.put(batch), index: nil)
        for _ in 0..<20 { app.bus.call(app.service, request.member, request.arguments) { _ in } }
        app.bus.close()
        let name = await fetched
        #expect(name == ExtensionStatus.notFound.errorName || name == ExtensionStatus.unavailable.errorName)
        #expect(await eventually { service.service.senderCount == 0 && service.service.heldBytes == 0 })
        #expect(await eventually { service.service.sessionCount == 1 })
        let again = try await BusTestClient(bus)
        try await again.hello(.app, bundle: "com.example.notes")
        let found = try await again.query("title == 'a'")
        #expect(found == ["a"])
        await service.stop()
    }

    @Test("Senders that flood are rejected, including senders beyond the limit, and a healthy sender is served")
    func flood() async throws {
        let bus = try PrivateBus()
        var limits = ServiceLimits()
        limits.busClients = 2
        // The hostile client never identifies itself, and keeps its slot for the duration of the
        // test.
        limits.helloTime = .seconds(3600)
        let service = try await service(bus, limits: limits)
        let healthy = try await BusTestClient(bus)
        try await healthy.hello(.app, bundle: "com.example.notes")
        let hostile = try await BusTestClient(bus)
        let answers = Mutex(0)
        let junk = [BusValue.bytes([UInt8](repeating: 7, count: 100_000))]
        for number in 0..<2000 {
            let member = BusMember("com.searchlight.Index1", number.isMultiple(of: 2) ? "Commit" : "Nonsense")
            hostile.bus.call(hostile.service, member, junk) { result in
                if case .failure(.remote) = result { answers.withLock { $0 += 1 } }
            }
            // Calls that expect no reply are not counted.
            hostile.bus.post(hostile.service, member, junk)
        }
        for number in 0..<20 { try await healthy.donate(["item \(number)"]) }
        #expect(await eventually { answers.withLock { $0 } == 2000 })
        let third = try await BusTestClient(bus)
        let refused = await refusal { try await third.hello(.app, bundle: "com.example.third") }
        #expect(refused == BusErrorName.limitsExceeded)
        hostile.bus.close()
        #expect(await eventually { service.service.senderCount == 1 })
        try await third.hello(.app, bundle: "com.example.third")
        await service.stop()
    }

    @Test("A client without an introduction keeps its slot for a limited time")
    func silent() async throws {
        let bus = try PrivateBus()
        let clock = ManualClock()
        var limits = ServiceLimits()
        limits.helloTime = .seconds(5)
        let service = try await TestService(limits: limits) {
            $0.sessionBus = bus.address
            $0.clock = clock
        }
        let silent = try await BusTestClient(bus)
        let refused = await refusal { try await silent.donate(["a"]) }
        #expect(refused == ServiceErrorName.accessDenied)
        #expect(service.service.senderCount == 1)
        // Until then, joining the bus has its own time limit.
        #expect(await eventually { service.lines.contains("On the session bus") })
        let isGone = await eventually {
            clock.advance(by: .seconds(1))
            return service.service.senderCount == 0 && service.service.sessionCount == 0
        }
        #expect(isGone)
        await service.stop()
    }

    @Test("The library uses the bus if it cannot see the socket, and continues with the next service")
    func library() async throws {
        let bus = try PrivateBus()
        let service = try await service(bus)
        _ = try await BusTestClient(bus)
        var finder = ServiceFinder(location: StoreLocation(folder: "/nonexistent/store"))
        finder.activate = { () throws(BusError) in try SessionBusLink.startService(address: bus.address) }
        finder.sessionBus = bus.address
        let app = LibraryApp(store: "", finder: finder)
        try await app.index().indexSearchableItems([LibraryApp.item("a")])
        let found = try await app.found("title == 'a'")
        #expect(found == ["a"])
        #expect(service.service.senderCount >= 1)
        await service.stop()
        let next = try await TestService(folder: service.folder) { $0.sessionBus = bus.address }
        try await app.index().indexSearchableItems([LibraryApp.item("b")])
        let both = try await app.found("title == '*'")
        #expect(both == ["a", "b"])
        await next.stop()
    }

    @Test("The reason of a missing bus is reported each time, on any thread")
    func reasonEachTime() async throws {
        let failures = await onThread {
            (0..<500).map { _ -> String in
                do throws(BusError) {
                    try SessionBusLink.startService(address: "unix:path=/nonexistent/bus")
                    return "nothing failed"
                } catch {
                    return error.description
                }
            }
        }
        #expect(Set(failures.map { $0.contains("No such file") }) == [true], "\(Set(failures))")
    }

    @Test("Without a bus, or a service on it, the library reports what it tried")
    func explained() async throws {
        let bus = try PrivateBus()
        for (address, text) in [("unix:path=/nonexistent/bus", "No such file"), (bus.address, "not provided")] {
            var finder = ServiceFinder(location: StoreLocation(folder: "/nonexistent/store"))
            finder.activate = { () throws(BusError) in try SessionBusLink.startService(address: address) }
            finder.sessionBus = address
            let failure = await onThread { [finder] () -> BusError? in
                do throws(BusError) {
                    _ = try finder.open(onCall: { _ in }, onDisconnect: {})
                    return nil
                } catch {
                    return error
                }
            }
            #expect(failure?.advice.contains("/nonexistent/store/socket") == true)
            #expect(failure?.advice.contains(text) == true, "\(failure?.advice ?? "")")
            #expect(failure?.advice.contains("run searchlightd") == true)
        }
    }
}
