// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import QuickLookServer
import SearchlightEngine
import Testing

/// When the user moves through the results, previews that are no longer shown are cancelled, down
/// to the extension.
@Suite("A preview that is no longer shown", .timeLimit(.minutes(10)))
struct QuickLookCancelTests {
    /// Runs a body with an engine and its output. The engine has items of an extension that renders
    /// items named “wait” until it is cancelled.
    private func withWaiting(
        _ body: (SearchlightEngine, AsyncStream<String>.Iterator) async throws -> Void
    ) async throws -> Harness {
        let harness = try Harness()
        let bundle = try harness.installFixture("by-name")
        let (said, saying) = AsyncStream.makeStream(of: String.self)
        harness.listen { if case .log(_, _, let line) = $0 { saying.yield(line) } }
        // On a busy machine, an extension needs more time to react.
        var limits = WorkerConfiguration.Limits.patient
        limits.cancelGrace = .seconds(60)
        try await harness.withEngine(limits: limits) { engine async throws in
            let records = ["wait-1", "wait-2", "quick"].map {
                ItemRecord(uniqueIdentifier: $0, attributes: ["title": .string($0)])
            }
            try await QuickLookSession.donate(records, to: engine, bundle: bundle)
            try await body(engine, said.makeAsyncIterator())
        }
        return harness
    }

    private func starts(_ harness: Harness) -> Int {
        harness.recordedEvents.count { if case .started = $0 { true } else { false } }
    }

    @Test("is ended in the extension by the next one, and the worker stays")
    func next() async throws {
        let harness = try await withWaiting { engine, said in
            var said = said
            let session = QuickLookSession(engine)
            let first = try await session.number(of: "wait-1")
            let stale = Task { try await session.get("api/preview/\(first)", ["page": "p", "n": "1"]) }
            #expect(await said.next() == "waiting")
            let second = try await session.number(of: "wait-2")
            let another = Task { try await session.get("api/preview/\(second)", ["page": "p", "n": "2"]) }
            #expect(try await stale.value.status == 499)
            #expect(Set([await said.next(), await said.next()]) == ["stopped", "waiting"])
            let quick = try await session.number(of: "quick")
            let shown = try await session.get("api/preview/\(quick)", ["page": "p", "n": "3"])
            #expect(shown.status == 200)
            #expect(try await another.value.status == 499)
            #expect(await said.next() == "stopped")
            // A request that was sent earlier arrives only now.
            #expect(try await session.get("api/preview/\(first)", ["page": "p", "n": "2"]).status == 409)
        }
        #expect(starts(harness) == 1)
    }

    @Test("is ended in the extension if the browser closes the connection")
    func closed() async throws {
        let harness = try await withWaiting { engine, said in
            var said = said
            let number = try await engine.item(named: "wait-1").number
            let (ready, readying) = AsyncStream.makeStream(of: QuickLookServer.Invitation.self)
            let server = QuickLookServer(engine)
            let serving = Task { try await server.run { readying.yield($0) } }
            var iterator = ready.makeAsyncIterator()
            let browser = try RawBrowser(try #require(await iterator.next()))
            try browser.send("api/preview/\(number)?page=p&n=1")
            #expect(await said.next() == "waiting")
            browser.close()
            #expect(await said.next() == "stopped")
            serving.cancel()
            try await serving.value
        }
        #expect(starts(harness) == 1)
    }

    @Test("More requests than a page may have are rejected, and running ones continue")
    func many() async throws {
        _ = try await withWaiting { engine, said in
            var said = said
            let session = QuickLookSession(engine)
            let number = try await session.number(of: "wait-1")
            let waiting = (0..<QuickLookRoutes.maximumRequests).map { _ in
                Task { try await session.get("api/preview/\(number)") }
            }
            #expect(await said.next() == "waiting")
            // If another request arrived earlier, it could take the slot of one of these requests.
            for _ in 0..<6000 where session.routes.requestsUnderWay < waiting.count {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(session.routes.requestsUnderWay == waiting.count)
            #expect(try await session.get("nothing").status == 503)
            for task in waiting { task.cancel() }
            for task in waiting { #expect(try await task.value.status == 499) }
            #expect(try await session.get("nothing").status == 404)
        }
    }
}
