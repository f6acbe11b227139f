// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchlightEngine
import Testing

/// Workers with faults other than a single wrong answer.
@Suite("A hostile worker", .timeLimit(.minutes(10)))
struct HostileWorkerTests {
    @Test("that started a process and crashed is reported at once, and the process is ended too")
    func forks() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("forks")
        try await harness.withEngine { engine async throws in
            let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            guard case .extension(.crashed(_, _, .signalled(SIGSEGV), _))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        let children = harness.messages.compactMap { $0.hasPrefix("child ") ? Int32($0.dropFirst(6)) : nil }
        #expect(children.count == 2)
        for child in children {
            let state = (try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8)) ?? "gone"
            #expect(!state.contains("State:\tS"), "process \(child) lives on")
        }
    }

    @Test(
        "that exits before its first message has crashed, without a memory fault, even with a large host")
    func endsBeforeItsReport() async throws {
        let harness = try Harness()
        let bundle = "com.example.small"
        try harness.install(
            bundle, library: try CFixture.library("notebook"), manifest: ["Searchlight": ["MemoryLimit": 64 << 20]])
        let worker = harness.folder + "/worker"
        try Data("#!/bin/sh\nkill -SEGV $$\n".utf8).write(to: URL(filePath: worker))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: worker)
        // More than the extension's whole limit: the kernel attributes the host's size to the
        // worker.
        let ballast = [UInt8](repeating: 1, count: 96 << 20)
        let engine = try harness.engine(worker: worker)
        let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
        await engine.close()
        guard case .extension(.crashed(_, _, .signalled(SIGSEGV), _))? = error else {
            Issue.record("\(String(describing: error)) with \(ballast.count) bytes")
            return
        }
    }

    @Test("that crashes has crashed, without a memory fault, even with a large host")
    func crashBesideALargeHost() async throws {
        let harness = try Harness()
        try harness.install(
            "com.example.small", library: try CFixture.library("crash-in-request"),
            manifest: ["Searchlight": ["MemoryLimit": 64 << 20, "WritablePaths": ["$XDG_DOCUMENTS_DIR/marks"]]])
        let ballast = [UInt8](repeating: 1, count: 96 << 20)
        try await harness.withEngine { engine async throws in
            let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll("com.example.small") }
            guard case .extension(.crashed(_, _, .signalled(SIGSEGV), _))? = error else {
                Issue.record("\(String(describing: error)) with \(ballast.count) bytes")
                return
            }
        }
    }

    @Test("that ends with donations in transit leaves none to its successor")
    func diesWithBacklog() async throws {
        for _ in 0..<5 {
            let harness = try Harness()
            let bundle = try harness.installFixture("dies-with-backlog")
            try await harness.withEngine { engine async throws in
                let count = try await engine.reindexAll(bundle)
                #expect(count == 1)
                #expect(try await engine.item(named: "new").record.uniqueIdentifier == "new")
            }
            #expect(harness.retries == 1)
        }
    }

    @Test("that logs without end is cut, and continues")
    func floods() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("floods")
        try await harness.withEngine { engine async throws in
            let count = try await engine.reindexAll(bundle)
            #expect(count == 1)
        }
        #expect(harness.messages.count <= 20_001)
        #expect(harness.messages.allSatisfy { $0.utf8.count <= 4100 })
        #expect(harness.messages.contains { $0.contains("the rest is not shown") })
    }

    @Test("that breaks the protocol and continues is ended and reported as such")
    func hangsUp() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("hangs-up")
        try await harness.withEngine { engine async throws in
            let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            guard case .extension(.crashed(_, _, .endedByHost, _))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test("that ends before it starts is reported, however often", arguments: ["/bin/false", "/bin/true"])
    func notAWorker(program: String) async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        for _ in 0..<10 {
            let engine = try harness.engine(worker: program)
            await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            await engine.close()
        }
    }
}

/// Searches during and after the replacement of all items.
@Suite("A reindex that deletes everything first", .timeLimit(.minutes(10)))
struct ReplacementTests {
    private func list(_ words: String..., in harness: Harness, of bundle: String) throws {
        let path = harness.marks + "/\(bundle).searchext.list"
        try Data((words.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
    }

    @Test("keeps the numbers of items that are donated again, and deletes the others at its end")
    func replaces() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("replaces")
        try list("apple", "pear", in: harness, of: bundle)
        try await harness.withEngine { engine async throws in
            let first = try await engine.reindexAll(bundle)
            #expect(first == 3)
            let pear = try await engine.item(named: "pear").number
            try list("plum", "pear", in: harness, of: bundle)
            let second = try await engine.reindexAll(bundle)
            #expect(second == 3)
            #expect(try await engine.item(named: "pear").number == pear)
            await #expect(throws: EngineError.self) { _ = try await engine.item(named: "apple") }
            #expect(try await engine.search("apple", bundle: nil, limit: 1).total == 0)
            #expect(try await engine.search("plum", bundle: nil, limit: 1).total == 1)
        }
    }

    @Test("leaves the old items if it fails, and is completed later")
    func fails() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("replaces")
        try list("apple", "pear", in: harness, of: bundle)
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            try list("plum", "fail", in: harness, of: bundle)
            await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            for word in ["apple", "pear", "plum"] {
                let total = try await engine.search(word, bundle: nil, limit: 1).total
                #expect(total == 1, "\(word)")
            }
            try list("plum", in: harness, of: bundle)
            let count = try await engine.reindexAll(bundle)
            #expect(count == 2)
            #expect(try await engine.search("apple", bundle: nil, limit: 1).total == 0)
        }
    }

    @Test("with a damaged list of pending jobs makes everything pending, and keeps the old file")
    func damagedJobs() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in _ = try await engine.reindexAll(bundle) }
        for text in ["garbage", "{\"formatVersion\": 99, \"queue\": {\"jobs\": []}}"] {
            try Data(text.utf8).write(to: URL(filePath: harness.store + "/jobs.json"))
            try await harness.withEngine(.readOnly) { engine async throws in
                #expect(try await engine.search("alpha", bundle: nil, limit: 1).total == 1)
            }
            try await harness.withEngine { engine async throws in
                #expect(engine.owedJobs.map(\.bundle) == [bundle])
                _ = try await engine.reindexAll(bundle)
                #expect(engine.owedJobs.isEmpty)
            }
            #expect(try String(contentsOfFile: harness.store + "/jobs.json.damaged", encoding: .utf8) == text)
        }
    }
}
