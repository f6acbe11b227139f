// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ItemRecord
import SearchlightEngine
import ServiceMessages
import TestSupport

/// Measures the overhead of the service, and how hostile clients affect others.
struct ServiceBenchmarks {
    let folder: String
    let seed: UInt64

    private static let itemsPerDonation = 100
    private static let donations = 200
    private static let requests = 1000
    private static let attackers = 16
    private static let clients = 50
    private static let batchesPerClient = 40

    func run() async throws -> [Measurement] {
        let place = folder + "/service"
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let service = try ServiceProcess(store: place + "/served")
        defer { service.stop() }
        var measurements = try await donations(service, place)
        measurements += try await underAttack(service)
        measurements += try await manyClients(service)
        return measurements
    }

    /// Alternates the same donations to a service and to an engine in this process.
    private func donations(_ service: ServiceProcess, _ place: String) async throws -> [Measurement] {
        let engine = try SearchlightEngine(
            EngineConfiguration(
                storeDirectory: place + "/own", access: .readWrite, extensionSearchPath: [],
                worker: WorkerConfiguration(workerPath: "/nonexistent", frameworkFolder: nil, environment: [:])))
        let receiver = engine.receiver(for: .app)
        let app = try await ServiceApp(store: service.store, bundle: "com.example.benchmark")
        var random = SplitMix64(seed: seed)
        var own: [Double] = []
        var served: [Double] = []
        for donation in 0..<Self.donations {
            let request = try Self.request(donation, Self.itemsPerDonation, &random)
            own.append(
                try await ProcessCost.measure {
                    _ = try await receiver.answer(request, from: "com.example.benchmark")
                }.wall * 1000)
            served.append(try await ProcessCost.measure { try await app.send(request) }.wall * 1000)
        }
        await engine.close()
        let (one, other) = (Percentiles(served), Percentiles(own))
        return [
            Measurement(
                name: "donation of 100 items through the service, p50", value: one.p50, unit: "ms",
                baseline: "in one process", baselineValue: other.p50, row: .servedDonation),
            Measurement(
                name: "donation of 100 items through the service, p95", value: one.p95, unit: "ms",
                baseline: "in one process",
                baselineValue: other.p95),
        ]
    }

    private func underAttack(_ service: ServiceProcess) async throws -> [Measurement] {
        let app = try await ServiceApp(store: service.store, bundle: "com.example.healthy")
        var random = SplitMix64(seed: seed &+ 1)
        let normal = try await latency(of: app, &random)
        let attackers = Attackers(Self.attackers, store: service.store)
        let attacked = try await latency(of: app, &random)
        attackers.stop()
        return [
            Measurement(
                name: "a donation and a query while \(Self.attackers) others misbehave, p99", value: attacked.p99,
                unit: "ms", baseline: "alone", baselineValue: normal.p99, row: .healthyClient),
            Measurement(
                name: "that donation and query, p50", value: attacked.p50, unit: "ms", baseline: "alone",
                baselineValue: normal.p50),
        ]
    }

    private func latency(of app: ServiceApp, _ random: inout SplitMix64) async throws -> Percentiles {
        var times: [Double] = []
        for number in 0..<Self.requests {
            let request = try Self.request(number % 50, 1, &random)
            times.append(
                try await ProcessCost.measure {
                    try await app.send(request)
                    try await app.query("title == 'item 7'")
                }.wall * 1000)
        }
        return Percentiles(times)
    }

    private func manyClients(_ service: ServiceProcess) async throws -> [Measurement] {
        let store = service.store
        let start = ProcessCost.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<Self.clients {
                group.addTask {
                    var random = SplitMix64(seed: seed &+ UInt64(client))
                    let app = try await ServiceApp(store: store, bundle: "com.example.client\(client)")
                    for batch in 0..<Self.batchesPerClient { try await app.send(try Self.request(batch, 10, &random)) }
                }
            }
            try await group.waitForAll()
        }
        let seconds = (ProcessCost.now - start).wall
        return [
            Measurement(
                name: "\(Self.clients) clients at once, batches of 10",
                value: Double(Self.clients * Self.batchesPerClient * 10) / seconds, unit: "items/s")
        ]
    }

    static func request(_ number: Int, _ count: Int, _ random: inout SplitMix64) throws -> IndexRequest {
        var batch: [UInt8] = []
        for item in 0..<count {
            let record = ItemRecord(
                uniqueIdentifier: "\(number)-\(item)",
                attributes: [
                    "title": .string("item \(item)"), "contentType": .string("public.text"),
                    "keywords": .array([.string("note"), .string("benchmark")]),
                    "textContent": .string(random.text(length: 1000)),
                ])
            RecordBatch.append(try record.encoded(), to: &batch)
        }
        return IndexRequest(.put(batch), index: nil)
    }
}
