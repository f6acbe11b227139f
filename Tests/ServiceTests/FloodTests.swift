// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchIndex
import SearchlightEngine
import ServiceMessages
import Synchronization
import TestSupport
import Testing

/// The real service program, flooded by apps over real sockets.
@Suite(
    "A flood of donations", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Alone.isSo, Comment(rawValue: Alone.hint)))
struct FloodTests {
    /// The additional time that a user's request may take, in milliseconds.
    private static let slack = 50.0
    /// The maximum resident memory of the service, in bytes.
    private static let memory = 256 << 20
    private static let memoryOfLargest = 336 << 20
    /// The duration of a measurement, and the minimum number of requests.
    private static let time = Duration.seconds(8)
    private static let fewest = 40
    /// The maximum number of runs. Other processes may disturb a run, so one quick run is enough.
    private static let attempts = 3

    @Test(
        "While apps donate 12 × 15 MiB each, a search, a drag and a preview do not wait, and memory is bounded",
        arguments: [(Flood.Shape.oneItem, 1), (.manyItems, 1), (.oneItem, 4)])
    func flood(shape: Flood.Shape, apps: Int) async throws {
        try await Self.check(shape, apps, memory: Self.memory)
    }

    @Test("Batches close to their limit of 32 MiB take a little more")
    func largestBatches() async throws {
        try await Self.check(.twoItems, 4, memory: Self.memoryOfLargest)
    }

    private static func check(_ shape: Flood.Shape, _ apps: Int, memory: Int) async throws {
        for attempt in 1...attempts {
            let measured = try await measure(shape, apps)
            print("A flood of \(shape) by \(apps): \(measured)")
            #expect(measured.hasReported, "A search during the flood says what it does not include.")
            if Sanitizer.current == nil {
                #expect(measured.peakBytes <= memory, "\(measured.peakBytes >> 20) MiB")
            }
            let isQuick = measured.during <= measured.normal + slack
            if isQuick { return }
            #expect(attempt < attempts, "\(measured)")
        }
    }

    private struct Measured: CustomStringConvertible {
        /// The 95th percentiles, in milliseconds.
        var normal = 0.0
        var during = 0.0
        var kinds: [(name: String, during: Double)] = []
        var peakBytes = 0
        var hasReported = false
        /// The longest time for a small donation by another app, in milliseconds.
        var donation = 0.0

        var description: String {
            let times = String(format: "p95 %.1f ms, normally %.1f; a small donation %.1f", during, normal, donation)
            let each = kinds.map { String(format: "\($0.name) %.1f", $0.during) }.joined(separator: ", ")
            return "\(times); \(each); peak \(peakBytes >> 20) MiB"
        }
    }

    private static func measure(_ shape: Flood.Shape, _ apps: Int) async throws -> Measured {
        let program = try await Program(folder: try TemporaryFolder())
        let app = try await program.app()
        app.onCall { $0.reply(Payload.inline(Array("promised".utf8)).arguments) }
        _ = try await app.connection.call(DelegateRequest.register.member, [])
        try await app.donate((0..<100).map { "small \($0)" })
        let shell = try #require(
            try await RemoteEngine.connect(storeDirectory: program.folder.path("store"), program: "test"))
        try await shell.perform(SettleCall())
        let client = try TestClient(store: program.folder.path("store"))
        try await client.hello(.shell, bundle: nil)
        var measured = Measured()
        let normal = Times()
        for _ in 0..<fewest { _ = try await ask(shell, client, normal) }
        measured.normal = normal.percentile()
        let floods = (0..<apps).map { number in
            Task {
                let bundle = "com.example.flood\(number)"
                let flooder = try await program.app(bundle)
                return try await Flood.run(bundle: bundle, shape, flooder)
            }
        }
        // The flood has started when a part of it is pending.
        _ = try await eventually { try await !shell.perform(PendingCall()).isEmpty }
        let during = Times()
        let end = ContinuousClock.now + time
        var number = 0
        while ContinuousClock.now < end || during.count < 3 * fewest {
            if try await ask(shell, client, during) { measured.hasReported = true }
            let start = ContinuousClock.now
            try await app.donate(["more \(number)"])
            measured.donation = max(measured.donation, (ContinuousClock.now - start) / .milliseconds(1))
            number += 1
        }
        measured.during = during.percentile()
        measured.kinds = ["search", "drag", "preview"].map { kind in (kind, during.percentile(kind)) }
        // An app finds the donations that it has waited for.
        let own = try await app.query("title == 'more \(number - 1)'").identifiers
        #expect(own == ["more \(number - 1)"])
        measured.peakBytes = peakBytes(of: program.process) ?? .max
        program.send(SIGKILL)
        _ = await program.wait()
        for flood in floods { _ = try? await flood.value }
        return measured
    }

    /// Sends a user's requests: a search, a drag and a preview.
    ///
    /// - Returns: `true` if the search reported that it omitted results.
    private static func ask(_ shell: RemoteEngine, _ client: TestClient, _ times: Times) async throws -> Bool {
        let page = try await times.measure("search") { try await shell.find(ItemSearch("small")) }
        #expect(!page.hits.isEmpty)
        try await times.measure("drag") {
            _ = try await shell.item(named: "small 7", bundle: "com.example.notes")
            let fetch = PromiseRequest.fetchData(bundle: "com.example.notes", item: "small 7", type: "public.text")
            _ = try await client.connection.call(fetch.member, fetch.arguments)
        }
        try await times.measure("preview") {
            let item = try await shell.item(named: "small 3", bundle: "com.example.notes")
            _ = try await shell.preview(of: item, query: "small")
        }
        return page.pending != nil
    }
}

private final class Times: Sendable {
    private let times = Mutex<[(kind: String, milliseconds: Double)]>([])
    var count: Int { times.withLock { $0.count } }

    /// Returns the 95th percentile, in milliseconds, of all requests or of one kind.
    func percentile(_ kind: String? = nil) -> Double {
        let sorted = times.withLock { $0.filter { kind == nil || $0.kind == kind }.map(\.milliseconds).sorted() }
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * 95 / 100)]
    }

    func measure<Value>(_ kind: String, _ body: () async throws -> Value) async rethrows -> Value {
        let start = ContinuousClock.now
        let value = try await body()
        let time = (ContinuousClock.now - start) / .milliseconds(1)
        times.withLock { $0.append((kind, time)) }
        return value
    }
}
