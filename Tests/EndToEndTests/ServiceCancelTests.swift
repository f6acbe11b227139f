// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ItemRecord
import Previews
import SearchlightEngine
import SystemSupport
import TestSupport
import Testing

/// When a client of `searchlightd` abandons a request, the request ends in the extension and leaves
/// nothing behind.
@Suite("Cancelled requests through searchlightd", .timeLimit(.minutes(10)))
struct ServiceCancelTests {
    /// The program with a harness. The names of its items select the behaviour of the extension.
    private final class Service: Sendable {
        let harness: Harness
        let drops: String
        private let child: ChildProcess
        private let log: String

        init() async throws {
            harness = try Harness()
            let bundle = try harness.installFixture("by-name")
            drops = harness.folder + "/drops"
            try FileManager.default.createDirectory(atPath: drops, withIntermediateDirectories: true)
            try await harness.withEngine { engine async throws in
                let records = ["wait-1", "hang-1", "quick"].map {
                    ItemRecord(
                        uniqueIdentifier: $0,
                        attributes: [
                            "title": .string($0),
                            "providerDataTypeIdentifiers": .array([.string("public.utf8-plain-text")]),
                        ])
                }
                try await QuickLookSession.donate(records, to: engine, bundle: bundle)
            }
            log = harness.folder + "/log"
            try #require(FileManager.default.createFile(atPath: log, contents: nil))
            var environment = try Command(harness: harness).environment
            environment["XDG_CACHE_HOME"] = harness.folder + "/cache"
            child = try ChildProcess(
                BuiltProducts.program("searchlightd"),
                ["--store", harness.store, "--extensions", harness.extensions, "--no-session-bus"],
                environment: environment, output: .inherited,
                errors: .file(FileHandle(forWritingTo: URL(filePath: log))))
            try await waitUntil { (try? ServiceSocket.connect(inFolder: self.harness.store)) != nil }
        }

        func waitUntil(_ condition: () -> Bool) async throws {
            let clock = ContinuousClock()
            let deadline = clock.now + .seconds(60)
            while !condition() {
                try #require(child.isRunning && clock.now < deadline, "\(text)")
                try await clock.sleep(for: .milliseconds(10))
            }
        }

        /// Waits until a line was logged N times.
        func waitFor(_ line: String, times: Int = 1) async throws {
            try await waitUntil { text.components(separatedBy: line).count > times }
        }

        var text: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
        /// The processes started as workers.
        var workers: [pid_t] {
            text.matches(of: /its worker is process (\d+)/).compactMap { pid_t($0.1) }
        }

        func client() async throws -> RemoteEngine {
            try #require(
                try await RemoteEngine.connect(
                    storeDirectory: harness.store, program: "test", patience: .seconds(60)))
        }

        /// Ends the service, and returns the files that remain in the workers' temporary folders.
        func end() throws -> [String] {
            child.send(SIGTERM)
            child.wait()
            let cache = FileManager.default.enumerator(atPath: harness.folder + "/cache")
            return (cache?.allObjects as? [String] ?? []).filter { path in
                var status = stat()
                // The folders kept for other workers are empty.
                return lstat(harness.folder + "/cache/" + path, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
            }
        }

        deinit { if child.isRunning { child.send(SIGKILL) } }
    }

    private static let text = ["public.utf8-plain-text"]

    @Test("A cancelled drag and preview end in the extension; its worker stays, and nothing is left")
    func cancelled() async throws {
        let service = try await Service()
        let client = try await service.client()
        let item = try await client.item(named: "wait-1")
        let drop = service.drops + "/drop.txt"
        let drag = Task { try await client.drag(item, accepted: Self.text, to: .file(path: drop)) }
        try await service.waitFor("waiting")
        drag.cancel()
        await #expect(throws: EngineError.self) { try await drag.value }
        try await service.waitFor("stopped")
        let preview = Task { try await client.preview(of: item, query: nil) }
        try await service.waitFor("waiting", times: 2)
        preview.cancel()
        await #expect(throws: EngineError.self) { try await preview.value }
        try await service.waitFor("stopped", times: 2)
        // The same worker answers the next request.
        let quick = try await client.item(named: "quick")
        let dropped = try await client.drag(quick, accepted: Self.text, to: .file(path: drop))
        #expect(dropped.bytes == 5)
        #expect(service.workers.count == 1 && service.workers.allSatisfy { kill($0, 0) == 0 })
        #expect(try FileManager.default.contentsOfDirectory(atPath: service.drops) == ["drop.txt"])
        await client.close()
        #expect(try service.end() == [])
    }

    @Test(
        "A client that ends or is killed has its request ended; its worker stays, and nothing is left")
    func gone() async throws {
        let service = try await Service()
        let client = try await service.client()
        let item = try await client.item(named: "wait-1")
        let preview = Task { try await client.preview(of: item, query: nil) }
        try await service.waitFor("waiting")
        await client.close()
        await #expect(throws: EngineError.self) { try await preview.value }
        try await service.waitFor("stopped")
        let command = try ChildProcess(
            BuiltProducts.program("searchlight"),
            ["drag", "wait-1", "--accept", Self.text[0], "--output", service.drops + "/drop.txt"],
            environment: try Command(harness: service.harness).environment, output: .nothing, errors: .nothing)
        try await service.waitFor("waiting", times: 2)
        command.send(SIGKILL)
        command.wait()
        try await service.waitFor("stopped", times: 2)
        let other = try await service.client()
        let shown = try await other.preview(of: try await other.item(named: "quick"), query: nil)
        #expect(!shown.content.isEmpty)
        #expect(service.workers.count == 1 && service.workers.allSatisfy { kill($0, 0) == 0 })
        #expect(try FileManager.default.contentsOfDirectory(atPath: service.drops) == [])
        await other.close()
        #expect(try service.end() == [])
    }

    @Test("An extension that ignores the cancellation loses its worker, and the next request has a new one")
    func unheeded() async throws {
        let service = try await Service()
        let client = try await service.client()
        let item = try await client.item(named: "hang-1")
        let drop = service.drops + "/drop.txt"
        let drag = Task { try await client.drag(item, accepted: Self.text, to: .file(path: drop)) }
        try await service.waitFor("hanging")
        drag.cancel()
        await #expect(throws: EngineError.self) { try await drag.value }
        let first = try #require(service.workers.first)
        try await service.waitUntil { kill(first, 0) != 0 }
        // The cancellation is not recorded as a failure of any bundle.
        let quick = try await client.item(named: "quick")
        _ = try await client.drag(quick, accepted: Self.text, to: .file(path: drop))
        #expect(service.workers.count == 2 && Set(service.workers).count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: service.drops) == ["drop.txt"])
        await client.close()
        #expect(try service.end() == [])
    }
}
