// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import BusTransport

@Suite("A service on a message bus", .enabled(if: DBusMock.isAvailable), .timeLimit(.minutes(10)))
struct BusServiceTests {
    private static let (name, path) = ("com.example.Odd", "/com/example/Odd")

    private let bus: PrivateBus
    private let mock: DBusMock
    private let client: MessageBus
    private let service: BusService
    private let events: AsyncStream<BusService.Event>

    init() async throws {
        bus = try PrivateBus()
        mock = try DBusMock(bus, name: Self.name, path: Self.path, interface: Self.name)
        client = try MessageBus(address: bus.address, name: "test-bus", onCall: { _ in }, onDisconnect: { _ in })
        service = BusService(Self.name, on: client)
        let (stream, continuation) = AsyncStream.makeStream(of: BusService.Event.self)
        events = stream
        service.begin(hearing: [BusService.Signals(BusMember(Self.name, "Told"), argument: "yes")]) {
            continuation.yield($0)
        }
        for await event in events {
            if case .appeared = event { break }
        }
    }

    /// Returns the values of `ret` that the Python code sets in its answer to a method.
    private func answer(_ types: String, _ code: String) async throws -> [ForeignValue] {
        try mock.addMethod(Self.path, Self.name, "Ask", ("", types), code)
        return try await withCheckedContinuation { continuation in
            service.call(Self.path, BusMember(Self.name, "Ask")) { continuation.resume(returning: $0) }
        }.get()
    }

    @Test("Values of all types are read, even in variants, and unnamed types are left out")
    func types() async throws {
        let values = try await answer("a(sub)", "ret = [('a', 1, True), ('b', 2, False)]")
        #expect(
            values == [
                .list([
                    .list([.text("a"), .unsigned(1), .boolean(true)]),
                    .list([.text("b"), .unsigned(2), .boolean(false)]),
                ])
            ])
        #expect(try await answer("v", "ret = dbus.Int16(-3, variant_level=3)") == [.signed(-3)])
        #expect(
            try await answer("a{sv}", "ret = {'a': dbus.Double(0.5), 'b': 'x'}") == [
                .entries(["a": .double(0.5), "b": .text("x")])
            ])
        #expect(try await answer("a{us}", "ret = {1: 'a'}") == [.skipped])
        #expect(try await answer("d", "ret = float('nan')").first?.finite == nil)
    }

    @Test("Values are kept within bounds, and the rest of the message is still read")
    func bounds() async throws {
        let many = try await answer("as", "ret = ['x'] * 10000")
        #expect(many.first?.members.count == ForeignValue.Bounds.values - 1)
        let long = try await answer("as", "ret = ['y' * 60000, 'z' * 60000, 'end']")
        #expect(long.first?.members.map { $0.text?.utf8.count } == [60000, nil, 3])
        let deep = try await answer("v", "ret = dbus.String('x', variant_level=20)")
        #expect(deep == [.skipped])
    }

    @Test("Signals of other senders are ignored, even if they are sent to this client alone")
    func strangers() async throws {
        _ = try await client.requestName("com.example.Me")
        let me = try await client.owner(of: "com.example.Me")
        for to in [nil, me] { try DBusMock.emitAsStranger(bus, to: to, Self.path, "\(Self.name).Told", "'yes'") }
        try mock.emit(Self.path, Self.name, "Told", "ss", "[<'no'>, <'unasked'>]")
        try mock.emit(Self.path, Self.name, "Told", "ss", "[<'yes'>, <'true'>]")
        for await case .signal(let signal) in events {
            #expect(signal.arguments == [.text("yes"), .text("true")])
            break
        }
    }

    @Test("Calls fail at once while the name has no owner, and an exit of the owner is reported")
    func absence() async throws {
        mock.stop()
        for await event in events {
            if case .gone = event { break }
        }
        let result = Mutex<Result<[ForeignValue], BusError>?>(nil)
        service.call(Self.path, BusMember(Self.name, "Ask")) { answer in result.withLock { $0 = answer } }
        guard case .failure(.disconnected)? = result.withLock({ $0 }) else {
            Issue.record("A call to nobody did not fail.")
            return
        }
    }
}
