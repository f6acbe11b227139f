// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import BusTransport
@testable import ServiceMessages
@testable import SystemSupport

@Suite("A message bus", .enabled(if: PrivateBus.isAvailable), .timeLimit(.minutes(10)))
struct MessageBusTests {
    private static let echo = BusMember("com.searchlight.Test1", "Echo")

    private func client(
        _ bus: PrivateBus, limits: SenderLimits = SenderLimits(),
        onCall: @escaping BusConnection.CallHandler = { $0.reply($0.arguments) },
        onEnd: @escaping BusConnection.EndHandler = { _ in }
    ) throws -> MessageBus {
        try MessageBus(address: bus.address, name: "test-bus", limits: limits, onCall: onCall, onDisconnect: onEnd)
    }

    /// Returns the unique name of a client, as another client sees it.
    private func owner(_ client: MessageBus, _ name: String) async throws -> String {
        let outcome = try await client.requestName(name)
        #expect(outcome == .acquired)
        return try await client.owner(of: name)
    }

    @Test("A name has one owner, and the next owner after it is released")
    func names() async throws {
        let bus = try PrivateBus()
        let (one, two) = (try client(bus), try client(bus))
        let first = try await one.requestName("com.example.A")
        let second = try await two.requestName("com.example.A")
        let again = try await one.requestName("com.example.A")
        #expect([first, second, again] == [.acquired, .taken, .acquired])
        try await one.releaseName("com.example.A")
        let third = try await two.requestName("com.example.A")
        #expect(third == .acquired)
    }

    @Test("Calls carry the sender, arguments and descriptors, and errors are returned")
    func calls() async throws {
        let bus = try PrivateBus()
        let senders = Mutex<[String?]>([])
        let one = try client(bus) { call in
            senders.withLock { $0.append(call.sender) }
            if call.arguments.isEmpty {
                call.refuse(name: "com.example.Error", message: "no")
            } else {
                call.reply(call.arguments)
            }
        }
        let two = try client(bus)
        let (here, there) = (try await owner(two, "com.example.B"), try await owner(one, "com.example.A"))
        let number = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
        let file = OwnedDescriptor(adopting: number)
        let answer = try await two.call(there, Self.echo, [.dictionary(["a": .double(0.5)]), .descriptor(file)])
        #expect(answer.map(\.signature) == ["a{sv}", "h"])
        let refused = await refusal { _ = try await two.call(there, Self.echo, []) }
        #expect(refused?.name == "com.example.Error" && refused?.message == "no")
        #expect(senders.withLock { $0 } == [here, here])
    }

    @Test("A client is identified by process and user, and its end is reported once")
    func identity() async throws {
        let bus = try PrivateBus()
        let (one, two) = (try client(bus), try client(bus))
        let name = try await owner(two, "com.example.B")
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        try await one.watch(name) { continuation.yield() }
        let identity = try await one.identity(of: name)
        #expect(identity.process == getpid())
        #expect(identity.user == getuid())
        two.close()
        for await _ in ends { break }
        await #expect(throws: BusError.self) { _ = try await one.identity(of: name) }
    }

    @Test("A bus that is missing or ends is reported with a reason, and calls fail")
    func unreachable() async throws {
        let (ends, continuation) = AsyncStream.makeStream(of: BusEnd.self)
        let nowhere = try MessageBus(
            address: "unix:path=/nonexistent/bus", name: "test-bus", onCall: { _ in },
            onDisconnect: { continuation.yield($0) })
        await #expect(throws: BusError.self) { _ = try await nowhere.requestName("com.example.A") }
        for await end in ends {
            #expect(end.description.contains("No such file"))
            break
        }
        let bus = try PrivateBus()
        let one = try client(bus, onEnd: { continuation.yield($0) })
        _ = try await one.requestName("com.example.A")
        bus.stop()
        for await end in ends {
            #expect(end == .peerClosed)
            break
        }
        await #expect(throws: BusError.self) { _ = try await one.requestName("com.example.A") }
    }

    /// The proxy of a Flatpak sandbox ends a connection that goes on before it has the replies.
    @Test(
        "A connection works through xdg-dbus-proxy, which forwards one step of the authentication at a time",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/xdg-dbus-proxy")),
        // A proxy that does not start fails the test instead of holding it up.
        .timeLimit(.minutes(2)))
    func proxy() async throws {
        let bus = try PrivateBus()
        let path = bus.folder.path("proxy")
        let proxy = try ChildProcess("/usr/bin/xdg-dbus-proxy", [bus.address, path])
        defer { proxy.send(SIGKILL) }
        while !FileManager.default.fileExists(atPath: path) { try await Task.sleep(for: .milliseconds(10)) }
        let server = try client(bus, onCall: { $0.reply($0.arguments) })
        #expect(try await server.requestName("com.example.Echo") == .acquired)
        for _ in 0..<20 {
            let inside = try MessageBus(
                address: "unix:path=\(path)", name: "test-proxy", onCall: { $0.reply([.string("back")]) },
                onDisconnect: { _ in })
            let owner = try await inside.owner(of: "com.example.Echo")
            let answer = try await inside.call(owner, BusMember("com.example.Echo", "Echo"), [.string("hello")])
            guard case .string("hello")? = answer.first else {
                Issue.record("\(answer)")
                return
            }
            inside.close()
        }
    }

    @Test("Addresses of Unix sockets are read; sd-bus reads others")
    func addresses() {
        func paths(_ address: String) -> [String]? {
            BusHandshake.socketPaths(in: address)?.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(paths("unix:path=/run/user/7/bus") == ["/run/user/7/bus"])
        #expect(paths("unix:abstract=/tmp/dbus-1,guid=00;unix:path=/a%20b%2Cc") == ["\0/tmp/dbus-1", "/a b,c"])
        let long = String(repeating: "x", count: 200)
        for other in [
            "", "unix:", "tcp:host=x", "unix:path=/a;tcp:host=x", "unix:runtime=yes", "unix:path=%2", "unix:path=%zz",
            "unix:path=%+1",
            "unix:path=%00", "unix:path", "unix:path=/\(long)",
        ] {
            #expect(paths(other) == nil, "\(other)")
        }
    }

    @Test("A sender that floods is limited to its share, and other senders are served")
    func flood() async throws {
        let bus = try PrivateBus()
        let held = Mutex<[IncomingCall]>([])
        var limits = SenderLimits()
        limits.maximumUnanswered = 4
        limits.maximumMessageBytes = 1000
        let service = try client(bus, limits: limits) { call in
            if case .string("hold")? = call.arguments.first { return held.withLock { $0.append(call) } }
            call.reply(call.arguments)
        }
        let (hostile, healthy) = (try client(bus), try client(bus))
        let name = try await owner(service, "com.example.A")
        let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let refused = await refusal { _ = try await hostile.call(name, Self.echo, [.string("hold")]) }
                    return refused?.name == BusErrorName.limitsExceeded
                }
            }
            var count = 0
            for try await isRefused in group where isRefused {
                count += 1
                guard count == 16 else { continue }
                let answer = try await healthy.call(name, Self.echo, [.string("x")])
                #expect(answer.count == 1)
                for call in held.withLock({ $0 }) { call.reply() }
            }
            return count
        }
        #expect(refused == 16)
        // Answered calls no longer count towards the limit. Only the call that is too large is
        // rejected.
        let large = await refusal {
            _ = try await hostile.call(name, Self.echo, [.bytes([UInt8](repeating: 0, count: 2000))])
        }
        #expect(large?.name == BusErrorName.limitsExceeded)
        let after = try await hostile.call(name, Self.echo, [.string("y")])
        #expect(after.count == 1)
    }

    @Test("Shares are returned, and removed with the last call")
    func shares() {
        var shares = SenderShares(SenderLimits())
        for index in 0..<100 { #expect(shares.take(10, of: ":1.\(index)") == nil) }
        for index in 0..<100 { shares.give(10, of: ":1.\(index)") }
        // No state is kept for senders without pending calls.
        #expect(shares.senders == 0)
    }

    @Test(
        "Tools of the bus understand the introspection data, and unknown types are named",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/gdbus")))
    func tools() async throws {
        let bus = try PrivateBus()
        let service = try client(bus) { call in
            if !Introspection.answer(call) { call.reply(call.arguments) }
        }
        _ = try await owner(service, "com.example.A")
        let target = ["--address", bus.address, "--dest", "com.example.A", "--object-path", "/com/searchlight"]
        let (status, document) = try await run("/usr/bin/gdbus", ["introspect"] + target)
        #expect(status == 0, "\(document)")
        let interfaces = [
            LauncherRequest.interface: LauncherRequest.Method.allCases.map(\.rawValue),
            QueryRequest.interface: QueryRequest.Method.allCases.map(\.rawValue),
            Hello.member.interface: [Hello.member.member], IndexRequest.interface: ["Commit", "Record"],
            DelegateRequest.register.member.interface: ["Register", "Unregister"],
            ShellSearchRequest.interface: ShellSearchRequest.Method.allCases.map(\.rawValue),
            RunnerRequest.interface: RunnerRequest.Method.allCases.map(\.rawValue),
        ]
        for (name, methods) in interfaces {
            #expect(document.contains("interface \(name)"))
            for method in methods { #expect(document.contains("\(method)(")) }
        }
        #expect(document.contains("in  a{sv} options"))
        let ping = try await run("/usr/bin/gdbus", ["call"] + target + ["--method", "org.freedesktop.DBus.Peer.Ping"])
        #expect(ping.status == 0)
        let odd = try await run(
            "/usr/bin/gdbus", ["call"] + target + ["--method", "com.searchlight.Test1.Echo", "[(1, 'a')]"])
        #expect(odd.status != 0)
        #expect(odd.output.contains("a(is)"), "\(odd.output)")
        let nested = try await run(
            "/usr/bin/gdbus",
            ["call"] + target + ["--method", "com.searchlight.Test1.Echo", "{'a': <{'b': <[byte 1]>}>, 'c': <(1,)>}"])
        #expect(nested.output.contains("(i)"), "\(nested.output)")
    }

    private func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        let (ending, output) = try ChildProcess.run(program, arguments)
                        return (ending.status, output)
                    })
            }
        }
    }
}
