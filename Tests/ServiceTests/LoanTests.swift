// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine
import ServiceProtocol
import TestSupport
import Testing

@testable import SearchlightService

@Suite("Lending the store", .timeLimit(.minutes(2)))
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
        limits.storeTime = .milliseconds(50)
        limits.waitingForStore = 2
        let service = try await TestService(limits: limits)
        let app = try await service.app()
        let shell = try await service.shell()
        try await borrow(shell)
        let refused = await refusal { try await app.donate(["a"]) }
        #expect(refused == ExtensionStatus.unavailable.errorName)
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

    @Test("A service that is stopped while its store is lent ends at once")
    func stopWhileLent() async throws {
        let service = try await TestService()
        let shell = try await service.shell()
        try await borrow(shell)
        #expect(await service.stop() == .stopped)
    }
}
