// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import Foundation
import Glibc
import ItemRecord
import Promises
import SearchlightEngine
import ServiceMessages
import SystemSupport
import Testing

/// Requests from the user while the app runs.
@Suite("A live delegate that receives a request for an item", .timeLimit(.minutes(10)))
struct DelegatePromiseTests {
    private func withNotebook(
        _ answer: @escaping FakeApp.Answer, _ body: (Harness, SearchlightEngine, FakeApp) async throws -> Void
    ) async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            let app = FakeApp(bundle, engine, answer: answer)
            try app.register()
            try await body(harness, engine, app)
        }
    }

    private func drop(_ name: String, _ engine: SearchlightEngine, in harness: Harness) async throws -> String {
        let path = harness.folder + "/drop.txt"
        _ = try await engine.drag(
            try await engine.item(named: name), accepted: ["public.plain-text"], to: .file(path: path))
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    @Test("fulfils the promise instead of its extension")
    func answers() async throws {
        try await withNotebook { _, _ throws(BusError) in
            Payload.inline(Array("from the app".utf8)).arguments
        } _: { harness, engine, app async throws in
            #expect(try await drop("alpha", engine, in: harness) == "from the app")
            #expect(app.requests == [.provideData(item: "alpha", type: "public.utf8-plain-text")])
        }
    }

    @Test(
        "and rejects it has the last word: the extension is not asked",
        arguments: [ExtensionStatus.notFound, .refused])
    func refuses(status: ExtensionStatus) async throws {
        try await withNotebook { _, _ throws(BusError) in
            throw .remote(name: status.errorName, message: "not this one")
        } _: { harness, engine, app async throws in
            let error = await #expect(throws: EngineError.self) {
                _ = try await drop("alpha", engine, in: harness)
            }
            guard case .extension(.failed(_, _, status, "not this one"))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(!FileManager.default.fileExists(atPath: harness.folder + "/drop.txt"))
        }
    }

    @Test(
        "and ends, does not serve it or answers wrongly leaves it to the extension",
        arguments: [
            BusError.disconnected, .malformed("what"),
            .remote(name: ExtensionStatus.unsupported.errorName, message: ""),
            .remote(name: BusErrorName.unknownMethod, message: "no such method"),
        ])
    func leavesIt(error: BusError) async throws {
        try await withNotebook { _, _ throws(BusError) in
            throw error
        } _: { harness, engine, app async throws in
            #expect(try await drop("alpha", engine, in: harness) == "alpha as public.utf8-plain-text")
            let preview = try await engine.preview(of: try await engine.item(named: "alpha"), query: nil)
            #expect(preview.source == .extension && preview.problem == nil)
        }
    }

    @Test("and ends during its answer leaves it to the extension; received bytes of a stream stay")
    func breaksOff() async throws {
        try await withNotebook { app, _ throws(BusError) in
            guard app.requests.count % 2 == 1 else { throw .disconnected }
            var ends: [Int32] = [-1, -1]
            #expect(pipe(&ends) == 0)
            let reading = OwnedDescriptor(adopting: ends[0])
            #expect(write(ends[1], "half", 4) == 4)
            close(ends[1])
            return Payload.stream(reading, length: 100).arguments
        } _: { harness, engine, app async throws in
            #expect(try await drop("alpha", engine, in: harness) == "alpha as public.utf8-plain-text")
            #expect(app.requests.count == 2, "it was asked once more, and had gone by then")
            try app.register()
            let path = harness.folder + "/pipe"
            #expect(mkfifo(path, 0o600) == 0)
            let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            defer { close(reader) }
            let item = try await engine.item(named: "alpha")
            let error = await #expect(throws: EngineError.self) {
                _ = try await engine.drag(item, accepted: ["public.plain-text"], to: .file(path: path))
            }
            guard case .promise(.wrongLength(expected: 100, received: 4))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(app.requests.count == 3)
        }
    }

    @Test("renders it, if it can")
    func preview() async throws {
        try await withNotebook { _, _ throws(BusError) in
            PreviewReply(
                PreviewHeader(contentType: "public.html", title: "The app's"),
                content: .inline(Array("<p>x</p>".utf8))
            )
            .arguments
        } _: { _, engine, _ async throws in
            let preview = try await engine.preview(of: try await engine.item(named: "gamma"), query: nil)
            #expect(preview.title == "The app's" && preview.source == .extension)
        }
    }

    @Test("has no extension: it is asked while it runs, and nothing is asked afterwards")
    func withoutExtension() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let bundle = "com.example.app"
            let app = FakeApp(bundle, engine) { app, request async throws(BusError) in
                guard case .provideData(let item, _) = request else {
                    throw .remote(name: ExtensionStatus.unsupported.errorName, message: "")
                }
                return Payload.inline(Array(item.utf8)).arguments
            }
            try app.register()
            try await app.donate("one")
            #expect(try await drop("one", engine, in: harness) == "one")
            let item = try await engine.item(named: "one")
            #expect(try await engine.preview(of: item, query: nil).source == .attributes)
            let data = try await engine.data(of: "one", as: "public.utf8-plain-text", bundle: bundle)
            #expect(data.length == 3)
            await #expect(throws: EngineError.self) {
                _ = try await engine.fulfil(Representation(type: "public.rtf", form: .file), of: item)
            }
            app.unregister()
            let error = await #expect(throws: EngineError.self) { _ = try await drop("one", engine, in: harness) }
            guard case .extension(.notFound)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try await engine.preview(of: item, query: nil).problem == nil)
        }
    }

    @Test("is the newest one; an older one is asked after its end, and both may be unregistered twice")
    func twoRegistrations() async throws {
        func answering(_ text: String) -> FakeApp.Answer {
            { _, _ throws(BusError) in Payload.inline(Array(text.utf8)).arguments }
        }
        try await withNotebook(answering("old")) { harness, engine, _ async throws in
            let bundle = "com.example.notebook"
            let new = FakeApp(bundle, engine, answer: answering("new"))
            let token = try new.register()
            #expect(try await drop("alpha", engine, in: harness) == "new")
            #expect(engine.unregisterDelegate(token))
            #expect(try await drop("alpha", engine, in: harness) == "old")
            let third = FakeApp(bundle, engine) { _, _ throws(BusError) in throw .disconnected }
            try third.register()
            #expect(try await drop("alpha", engine, in: harness) == "old", "one after the other is asked")
            #expect(!engine.unregisterDelegate(token), "the second time it does nothing")
            #expect(try await drop("alpha", engine, in: harness) == "old")
            #expect(third.requests.count == 1)
        }
    }

    @Test("is asked to slow down; otherwise a running worker is, and no worker is started for that")
    func throttle() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            #expect(await !engine.throttle(bundle, ThrottleNotice(reason: .requested)))
            #expect(harness.startedWorkers == 0)
            let app = FakeApp(bundle, engine)
            try app.register()
            #expect(await engine.throttle(bundle, ThrottleNotice(reason: .requested)))
            #expect(await engine.throttle(bundle, nil))
            #expect(app.requests == [.didThrottle(ThrottleNotice(reason: .requested)), .didFinishThrottle])
            app.unregister()
            #expect(await !engine.throttle(bundle, ThrottleNotice(reason: .requested)))
            _ = try await engine.reindexAll(bundle)
            #expect(await engine.throttle(bundle, ThrottleNotice(reason: .requested)))
            let deaf = FakeApp(bundle, engine) { _, _ throws(BusError) in throw .disconnected }
            try deaf.register()
            #expect(await engine.throttle(bundle, ThrottleNotice(reason: .requested)), "the worker is notified instead")
            #expect(deaf.requests == [.didThrottle(ThrottleNotice(reason: .requested))])
        }
        #expect(harness.startedWorkers == 1)
    }
}
