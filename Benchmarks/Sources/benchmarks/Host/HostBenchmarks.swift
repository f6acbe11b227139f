// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import Foundation
import Glibc
import SearchlightEngine
import ServiceMessages
import Synchronization
import TestSupport

/// Measures the cost of running extensions in separate processes.
struct HostBenchmarks {
    let folder: String
    let seed: UInt64

    private static let starts = 60
    private static let calls = 5000
    private static let batches = 40
    private static let itemsPerBatch = 500
    private static let runs = 9

    private func compiled() throws -> MeasuredExtensions {
        let place = folder + "/host"
        try? FileManager.default.removeItem(atPath: place)
        return try MeasuredExtensions(folder: place)
    }

    // MARK: Starting

    /// Measures the time from a call to an extension without a worker to its answer; the extension
    /// itself takes no time.
    func starts() async throws -> [Measurement] {
        let extensions = try compiled()
        var (c, swift, program): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<Self.starts {
            c.append(try await start(extensions.c, of: extensions))
            swift.append(try await start(extensions.swift, of: extensions))
            program.append(try Self.milliseconds { try SpawnedProgram.run("/bin/true") })
        }
        let (cTimes, swiftTimes, programTimes) = (Percentiles(c), Percentiles(swift), Percentiles(program))
        func rows(_ name: String, _ times: Percentiles, _ row: Row) -> [Measurement] {
            [
                Measurement(
                    name: "cold worker to the first answer, \(name), p50", value: times.p50, unit: "ms",
                    baseline: "/bin/true", baselineValue: programTimes.p50, row: row),
                Measurement(
                    name: "cold worker to the first answer, \(name), p95", value: times.p95, unit: "ms",
                    baseline: "/bin/true", baselineValue: programTimes.p95, row: row),
            ]
        }
        return rows("C", cTimes, .coldWorker) + rows("Swift", swiftTimes, .coldSwiftWorker)
    }

    private func start(_ bundle: String, of extensions: MeasuredExtensions) async throws -> Double {
        let host = extensions.host()
        let cost = try await ProcessCost.measure {
            let payload = try await host.data(item: "one", type: "public.data", bundle)
            guard payload.length == 1024 else { throw BenchmarkError("\(bundle) answered \(payload.length) bytes.") }
        }
        await host.shutdown()
        return cost.wall * 1000
    }

    private static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        try ProcessCost.measure(body).wall * 1000
    }

    // MARK: Calling

    /// Measures a 1 KiB promise from a running worker. The baseline is the same number of bytes
    /// between two processes.
    func calls() async throws -> [Measurement] {
        let extensions = try compiled()
        let host = extensions.host()
        let echo = try EchoProcess()
        let (frames, bus) = (try FrameProcess(), try BusEchoProcess())
        var (asked, echoed, framed, bussed): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for call in 0..<(Self.calls + 200) {
            let cost = try await ProcessCost.measure {
                _ = try await host.data(item: "one", type: "public.data", extensions.c)
            }
            let bare = try ProcessCost.measure { try echo.roundTrip() }
            let frame = try await ProcessCost.measure { try await frames.roundTrip() }
            let message = try await ProcessCost.measure { try await bus.roundTrip() }
            // The first calls are warm-up.
            guard call >= 200 else { continue }
            asked.append(cost.wall * 1e6)
            echoed.append(bare.wall * 1e6)
            framed.append(frame.wall * 1e6)
            bussed.append(message.wall * 1e6)
        }
        let wakings = try await wakings(extensions.lastWorker.load(ordering: .relaxed)) {
            _ = try await host.data(item: "one", type: "public.data", extensions.c)
        }
        let frameWakings = try await self.wakings(frames.identifier) { try await frames.roundTrip() }
        let busWakings = try await self.wakings(bus.identifier) { try await bus.roundTrip() }
        await host.shutdown()
        echo.stop()
        frames.stop()
        bus.stop()
        let (call, bare, frame) = (Percentiles(asked), Percentiles(echoed), Percentiles(framed))
        let message = Percentiles(bussed)
        return [
            Measurement(
                name: "promise of 1 KiB from a warm worker, p50", value: call.p50, unit: "µs",
                baseline: "bare socket", baselineValue: bare.p50, row: .warmCall),
            Measurement(
                name: "promise of 1 KiB from a warm worker, p99", value: call.p99, unit: "µs", baseline: "bare socket",
                baselineValue: bare.p99, row: .slowestWarmCall),
            Measurement(
                name: "threads woken for one such promise, in both processes", value: wakings, unit: "",
                baseline: "bare socket", baselineValue: 2),
            Measurement(
                name: "1 KiB from another process over sd-bus, without a host, p50", value: message.p50, unit: "µs",
                baseline: "over plain frames", baselineValue: frame.p50),
            Measurement(
                name: "1 KiB from another process over sd-bus, without a host, p99", value: message.p99, unit: "µs",
                baseline: "over plain frames", baselineValue: frame.p99),
            Measurement(
                name: "threads woken for such an exchange, in both processes", value: busWakings, unit: "",
                baseline: "over plain frames", baselineValue: frameWakings),
        ]
    }

    /// Returns the number of context switches, and so wake-ups, of one call in this process and
    /// another. Each takes about half the time of the bare round trip.
    private func wakings(_ worker: Int32, _ call: () async throws -> Void) async throws -> Double {
        let before = (Wakings.of(getpid()), Wakings.of(worker))
        for _ in 0..<Self.calls { try await call() }
        let count = Wakings.of(getpid()) - before.0 + Wakings.of(worker) - before.1
        return Double(count) / Double(Self.calls)
    }

    // MARK: Indexing

    /// Donates the same records in the same reindex through a worker and through a delegate in this
    /// process. The runs alternate, and each fills a new store.
    func boundary() async throws -> [Measurement] {
        let (extensions, place) = (try compiled(), folder + "/host")
        var random = SplitMix64(seed: seed)
        let batches = try (0..<Self.batches).map { try MeasuredExtensions.batch($0, of: Self.itemsPerBatch, &random) }
        try extensions.writeRecords(batches)
        var (through, direct): ([ProcessCost], [ProcessCost]) = ([], [])
        for run in 0..<(Self.runs + 1) {
            let worker = try await index(extensions, place + "/through-\(run)") { engine in
                try Self.expectAll(try await engine.reindexAll(extensions.c))
            }
            let own = try await index(extensions, place + "/direct-\(run)") { engine in
                let donor = DonorInProcess(engine, batches, bundle: extensions.c)
                let token = try engine.registerDelegate(donor, for: extensions.c)
                donor.begin(as: token)
                try Self.expectAll(try await engine.reindexAll(extensions.c))
            }
            guard run > 0 else { continue }
            through.append(worker)
            direct.append(own)
        }
        func median(_ costs: [ProcessCost], _ value: (ProcessCost) -> Double) -> Double {
            Percentiles(costs.map(value)).p50 * 1000
        }
        return [
            Measurement(
                name: "reindex of \(Self.batches * Self.itemsPerBatch) items through a worker",
                value: median(through, \.wall), unit: "ms", baseline: "the same in one process",
                baselineValue: median(direct, \.wall), row: .boundary),
            Measurement(
                name: "that reindex, processor time of the host", value: median(through, \.cpu), unit: "ms",
                baseline: "the same in one process", baselineValue: median(direct, \.cpu)),
        ]
    }

    /// Checks the number of items, because a comparison requires equal donations.
    private static func expectAll(_ count: Int) throws {
        guard count == batches * itemsPerBatch else {
            throw BenchmarkError("A reindex donated \(count) of \(batches * itemsPerBatch) items.")
        }
    }

    private func index(
        _ extensions: MeasuredExtensions, _ store: String, _ body: (SearchlightEngine) async throws -> Void
    ) async throws -> ProcessCost {
        let engine = try SearchlightEngine(
            EngineConfiguration(
                storeDirectory: store, access: .readWrite, extensionSearchPath: [extensions.folder],
                worker: extensions.configuration))
        // Starts the worker first, because its start is measured separately.
        _ = try await engine.data(of: "one", as: "public.data", bundle: extensions.c)
        let cost = try await ProcessCost.measure {
            try await body(engine)
            try await engine.settle()
        }
        await engine.close()
        try FileManager.default.removeItem(atPath: store)
        return cost
    }
}

/// Donates records in this process, without a connection, when it is asked for a full reindex.
private final class DonorInProcess: LiveDelegate {
    private let engine: SearchlightEngine
    private let batches: [[UInt8]]
    private let bundle: String
    private let token = Mutex<DelegateToken?>(nil)

    init(_ engine: SearchlightEngine, _ batches: [[UInt8]], bundle: String) {
        (self.engine, self.batches, self.bundle) = (engine, batches, bundle)
    }

    func begin(as token: DelegateToken) { self.token.withLock { $0 = token } }

    func perform(_ request: WorkerRequest) async throws(BusError) -> [BusValue] {
        guard request == .reindexAll, let token = token.withLock({ $0 }) else {
            throw .remote(name: BusErrorName.unknownMethod, message: "")
        }
        let receiver = engine.receiver(for: .delegate(token))
        for batch in batches {
            _ = try await receiver.answer(IndexRequest(.put(batch), index: nil), from: bundle)
        }
        return []
    }

    func settle() async {}
    func takeLoss() -> BusError? { nil }
}
