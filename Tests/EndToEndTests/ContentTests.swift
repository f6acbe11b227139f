// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import Foundation
import Promises
import SearchlightEngine
import ServiceMessages
import TestSupport
import Testing

/// Descriptors and streams as the content of promises, through a worker.
@Suite("Large content of promises", .timeLimit(.minutes(10)))
struct ContentTests {
    /// Installs the fixture with a memory limit of 128 MiB, and reindexes it.
    ///
    /// - Parameter others: The names of further fixtures to install.
    private func withContent(
        others: [String] = [], limits: WorkerConfiguration.Limits = .patient,
        clock: any Clock<Duration> = SteadyClock.shared,
        _ body: (Harness, SearchlightEngine) async throws -> Void
    ) async throws {
        let harness = try Harness()
        try harness.install(
            "com.example.content", library: try CFixture.library("content"),
            manifest: [
                "Searchlight": ["WritablePaths": ["$XDG_DOCUMENTS_DIR/marks"], "MemoryLimit": 128 << 20]
            ])
        for other in others { _ = try harness.installFixture(other) }
        try await harness.withEngine(limits: limits, clock: clock) { engine async throws in
            _ = try await engine.reindexAll("com.example.content")
            try await body(harness, engine)
        }
    }

    /// Drops an item into a file, and returns its content.
    private func drop(_ item: String, _ harness: Harness, _ engine: SearchlightEngine) async throws -> Data {
        let path = harness.folder + "/dropped-\(item)"
        let found = try await engine.item(named: item)
        _ = try await engine.drag(found, accepted: ["public.plain-text"], to: .file(path: path))
        return try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
    }

    /// Returns `true` if the bytes equal the bytes of the fixture.
    private func isRight(_ data: Data, _ count: Int) -> Bool {
        data.count == count
            && stride(from: 0, to: count, by: 997).allSatisfy { data[$0] == UInt8(truncatingIfNeeded: $0 / 1000) }
    }

    @Test(
        "Streams and unnamed files arrive whole", arguments: ["stream-0", "stream-10", "unnamed-0", "unnamed-200000"])
    func whole(item: String) async throws {
        try await withContent { harness, engine async throws in
            let count = try #require(Int(item.drop { $0 != "-" }.dropFirst()))
            #expect(isRight(try await drop(item, harness, engine), count))
            if item.hasPrefix("unnamed") {
                // The same file as data.
                let payload = try await engine.data(of: item, as: "public.text", bundle: "com.example.content")
                #expect(isRight(Data(try payload.bytes(upTo: 1 << 20)), count))
            }
        }
    }

    @Test("A stream may be larger than the worker's memory, and data may not")
    func large() async throws {
        try await withContent { harness, engine async throws in
            #expect(isRight(try await drop("stream-300000000", harness, engine), 300_000_000))
            await #expect(throws: EngineError.self) { try await drop("memory-300000000", harness, engine) }
            #expect(harness.messages == ["filled 0"])
        }
    }

    @Test("An incomplete stream is an error of the receiver, and no file appears")
    func short() async throws {
        try await withContent { harness, engine async throws in
            await #expect(throws: PromiseError.wrongLength(expected: 200_000, received: 100_000)) {
                do { _ = try await drop("short-200000", harness, engine) } catch let error as EngineError {
                    guard case .promise(let error) = error else { throw error }
                    throw error
                }
            }
            #expect(!FileManager.default.fileExists(atPath: harness.folder + "/dropped-short-200000"))
        }
    }

    @Test("Bytes beyond the length, further answers, pipes and closed descriptors are rejected")
    func misuse() async throws {
        try await withContent { harness, engine async throws in
            #expect(try await drop("long-100", harness, engine).count == 100)
            #expect(try await drop("twice-10", harness, engine).count == 10)
            #expect(try await drop("many-10", harness, engine).count == 10)
            for item in ["pipe-1", "closed-1"] {
                await #expect(throws: EngineError.self) { try await drop(item, harness, engine) }
            }
            #expect(Set(harness.messages).isSuperset(of: ["long 7", "many 0", "second 1"]))
            let rules = harness.recordedEvents.compactMap { if case .misuse(_, let rule, _) = $0 { rule } else { nil } }
            #expect(rules == [.invalidArgument, .answeredTwice, .answeredTwice, .invalidArgument])
        }
    }

    @Test("A stream that is not filled within its limit ends with its worker, and the next request gets another")
    func late() async throws {
        var limits = WorkerConfiguration.Limits.patient
        limits.stream = .milliseconds(100)
        try await withContent(limits: limits) { harness, engine async throws in
            let payload = try await engine.data(of: "paced-200000", as: "public.text", bundle: "com.example.content")
            #expect(throws: BusError.self) { try payload.bytes(upTo: 1 << 20) }
            let next = try await engine.data(of: "stream-10", as: "public.text", bundle: "com.example.content")
            #expect(isRight(Data(try next.bytes(upTo: 100)), 10))
        }
    }

    @Test("A worker that fills a stream is not idle")
    func paced() async throws {
        var limits = WorkerConfiguration.Limits.patient
        limits.linger = .milliseconds(1)
        try await withContent(others: ["drops"], limits: limits) { harness, engine async throws in
            let payload = try await engine.data(of: "paced-200000", as: "public.text", bundle: "com.example.content")
            // Each new worker makes the host check for idle ones.
            for _ in 0..<3 { _ = try await engine.reindexAll("com.example.drops") }
            try Data().write(to: URL(filePath: harness.marks + "/com.example.content.searchext.whole"))
            #expect(isRight(Data(try payload.bytes(upTo: 1 << 20)), 200_000))
            #expect(harness.messages.first == "half 0")
        }
    }
}
