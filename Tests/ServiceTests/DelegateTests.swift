// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Glibc
import SearchlightEngine
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import SearchlightService

@Suite("Apps that answer for their bundle", .timeLimit(.minutes(10)))
struct DelegateTests {
    private static let fetch = PromiseRequest.fetchData(bundle: "com.example.notes", item: "a", type: "public.text")

    @Test("A registered app gets requests over its connection, for its connection's bundle")
    func asked() async throws {
        let service = try await TestService()
        let app = try await service.app()
        let other = try await service.app("com.example.other")
        try await app.donate(["a"])
        app.onCall { call in
            let isRight = (try? WorkerRequest(call)) == .provideData(item: "a", type: "public.text")
            call.reply(Payload.inline(Array((isRight ? "mine" : "?").utf8)).arguments)
        }
        other.onCall { $0.reply(Payload.inline(Array("stolen".utf8)).arguments) }
        // The second delegate to register, for its own bundle: an app cannot name another bundle.
        _ = try await app.connection.call(DelegateRequest.register.member, [])
        _ = try await other.connection.call(DelegateRequest.register.member, [])
        let withBundle = await refusal {
            _ = try await other.connection.call(DelegateRequest.register.member, [.string("com.example.notes")])
        }
        #expect(withBundle == BusErrorName.invalidArguments)
        let shell = try await service.shell()
        let bytes = try await fetched(shell)
        #expect(bytes == Array("mine".utf8))
        let fromApp = try await fetched(other)
        #expect(fromApp == Array("mine".utf8))
        _ = try await app.connection.call(DelegateRequest.unregister.member, [])
        let gone = await refusal { _ = try await fetched(shell) }
        #expect(gone == ExtensionStatus.notFound.errorName)
        await service.stop()
    }

    private func fetched(_ client: TestClient) async throws -> [UInt8] {
        let answer = try await client.connection.call(Self.fetch.member, Self.fetch.arguments)
        var arguments = BusArguments(answer, of: Self.fetch.member.member)
        guard case .inline(let bytes) = try Payload(&arguments) else { return [] }
        return bytes
    }

    @Test("An app that ends during a request leaves it to others, and the service continues")
    func goesWhileAsked() async throws {
        let service = try await TestService()
        let app = try await service.app()
        try await app.donate(["a"])
        app.onCall { [weak app] call in
            app?.connection.close()
            withExtendedLifetime(call) {}
        }
        _ = try await app.connection.call(DelegateRequest.register.member, [])
        let shell = try await service.shell()
        let gone = await refusal { _ = try await fetched(shell) }
        #expect(gone == ExtensionStatus.notFound.errorName || gone == ExtensionStatus.unavailable.errorName)
        let again = try await service.app()
        try await again.donate(["b"])
        await service.stop()
    }

    @Test("An app that registers gets its pending reindex at once")
    func owed() async throws {
        let folder = try TemporaryFolder()
        do {
            let service = try await TestService(folder: folder)
            let app = try await service.app()
            try await app.donate(["a", "b"])
            await service.stop()
        }
        // The service still knows the app, but its donations are lost.
        try #require(unlink(folder.path("store/index.sqlite")) == 0)
        _ = unlink(folder.path("store/index.sqlite-wal"))
        for name in try folder.names where name == "never" { Issue.record("\(name)") }
        let service = try await TestService(folder: folder)
        let app = try await service.app()
        app.onCall { [weak app] call in
            guard case .reindexAll? = try? WorkerRequest(call) else { return call.reply() }
            Task {
                try await app?.donate(["c"])
                call.reply()
            }
        }
        _ = try await app.connection.call(DelegateRequest.register.member, [])
        #expect(await eventually { (try? await app.query("title == 'c'").identifiers) == ["c"] })
        await service.stop()
    }
}
