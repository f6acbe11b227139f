// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ItemRecord
import SearchlightEngine
import TestSupport

/// Measures protected indexes in three parts. The runs that are compared alternate.
///
/// - Donations to a protected and to an unprotected index.
/// - Donations and searches without protection, in stores with and without protected indexes.
/// - The time from unlocking a store until all its items are searchable.
struct ProtectionBenchmarks {
    let folder: String
    let seed: UInt64
    let isShort: Bool

    private static let itemsPerDonation = 10
    private static let passphrase = Array("benchmark".utf8)

    /// The number of items in the store that is unlocked.
    private var items: Int { isShort ? 1000 : 20_000 }

    func run() async throws -> [Measurement] {
        let (protected, plain) = try await donations()
        let pair = try await unprotected()
        let filled = try await unlock(fromImage: false)
        let restored = try await unlock(fromImage: true)
        return [
            Measurement(
                name: "durable donation of \(Self.itemsPerDonation) items to a protected index, p50",
                value: protected * 1e6, unit: "µs", baseline: "to an index without protection",
                baselineValue: plain * 1e6, row: .protectedDonation),
            Measurement(
                name:
                    "durable donation of \(Self.itemsPerDonation) items without protection, p50, beside protected indexes",
                value: pair.donation.beside * 1e6, unit: "µs", baseline: "in a store without them",
                baselineValue: pair.donation.alone * 1e6, row: isShort ? nil : .unprotectedDonation),
            Measurement(
                name: "search without protection, p50, beside locked indexes", value: pair.search.beside * 1e6,
                unit: "µs", baseline: "in a store without them", baselineValue: pair.search.alone * 1e6,
                row: isShort ? nil : .unprotectedSearch),
            Measurement(
                name: "unlock from the image, until \(items) protected items are searchable",
                value: restored.time * 1e3,
                unit: "ms", baseline: "from the records, without an image", baselineValue: filled.time * 1e3,
                row: isShort ? nil : .unlock),
            Measurement(
                name: "index in memory of \(items) protected items", value: Double(restored.memory) / 1_048_576,
                unit: "MiB"),
        ]
    }

    /// The median times of an operation in a store beside protected indexes and in one without.
    private struct Pair {
        var (beside, alone) = (0.0, 0.0)
    }

    /// Donations and searches of items without protection. Both stores take turns, in an order that
    /// alternates. During donations, the protected indexes are unlocked; during searches, they are
    /// locked.
    private func unprotected() async throws -> (donation: Pair, search: Pair) {
        let beside = try engine("beside")
        let alone = try engine("alone")
        var random = SplitMix64(seed: seed)
        try await beside.unlock(passphrase: Self.passphrase, creates: true)
        try await beside.commit(try batch(0..<100, index: "protected", .complete, &random))
        var (donations, searches): ([(Double, Double)], [(Double, Double)]) = ([], [])
        let rounds = isShort ? 20 : 400
        for round in 0..<rounds {
            let numbers = round * Self.itemsPerDonation..<(round + 1) * Self.itemsPerDonation
            let batch = try batch(numbers, index: "plain", nil, &random)
            donations.append(
                try await turns(round, beside, alone) { engine in try await engine.commit(batch) })
        }
        await beside.lock()
        for round in 0..<rounds {
            let search = ItemSearch("word\(random.below(20_000)) word\(random.below(20_000))")
            // The first search in each store waits for the donations.
            let times = try await turns(round, beside, alone) { engine in _ = try await engine.find(search) }
            if round > 0 { searches.append(times) }
        }
        await beside.close()
        await alone.close()
        func pair(_ times: [(Double, Double)]) -> Pair {
            Pair(beside: Percentiles(times.map(\.0)).p50, alone: Percentiles(times.map(\.1)).p50)
        }
        return (pair(donations), pair(searches))
    }

    /// The times of an operation in both stores, in seconds.
    private func turns(
        _ round: Int, _ first: SearchlightEngine, _ second: SearchlightEngine,
        _ body: (SearchlightEngine) async throws -> Void
    ) async throws -> (Double, Double) {
        let isFirst = round.isMultiple(of: 2)
        let one = try await ProcessCost.measure { try await body(isFirst ? first : second) }.wall
        let two = try await ProcessCost.measure { try await body(isFirst ? second : first) }.wall
        return isFirst ? (one, two) : (two, one)
    }

    private func engine(_ name: String) throws -> SearchlightEngine {
        try SearchlightEngine(
            EngineConfiguration(
                storeDirectory: folder + "/" + name, access: .readWrite, extensionSearchPath: [],
                worker: WorkerConfiguration(workerPath: "/nonexistent", frameworkFolder: nil, environment: [:])))
    }

    private func batch(
        _ numbers: Range<Int>, index: String, _ protection: ProtectionClass?, _ random: inout SplitMix64
    ) throws -> IndexBatch {
        var batch = IndexBatch(
            scope: IndexScope(bundle: "com.example.benchmark", index: index), protection: protection)
        batch.index(
            try numbers.map { number in
                let words = (0..<120).map { _ in "word\(random.below(20_000))" }
                return try EncodedItem(
                    ItemRecord(
                        uniqueIdentifier: "item \(number)",
                        attributes: [
                            "title": .string(words.prefix(6).joined(separator: " ")),
                            "textContent": .string(words.joined(separator: " ")),
                        ]))
            })
        return batch
    }

    /// Returns the median times of a donation to a protected and to an unprotected index, in
    /// seconds. They alternate, so that the disk is equally busy.
    private func donations() async throws -> (protected: Double, plain: Double) {
        let engine = try engine("donations")
        try await engine.unlock(passphrase: Self.passphrase, creates: true)
        var random = SplitMix64(seed: seed)
        var times: (protected: [Double], plain: [Double]) = ([], [])
        for round in 0..<(isShort ? 20 : 300) {
            let numbers = round * Self.itemsPerDonation..<(round + 1) * Self.itemsPerDonation
            let first = try batch(numbers, index: "protected", .complete, &random)
            let second = try batch(numbers, index: "plain", nil, &random)
            times.protected.append(try await ProcessCost.measure { try await engine.commit(first) }.wall)
            times.plain.append(try await ProcessCost.measure { try await engine.commit(second) }.wall)
        }
        await engine.close()
        return (Percentiles(times.protected).p50, Percentiles(times.plain).p50)
    }

    /// Returns the time to unlock with the standard passphrase cost, in seconds, and the memory of
    /// the index in bytes. An engine writes the image when it closes.
    private func unlock(fromImage: Bool) async throws -> (time: Double, memory: Int) {
        let name = fromImage ? "unlock" : "fill"
        var engine = try engine(name)
        try await engine.unlock(passphrase: Self.passphrase, creates: true)
        var random = SplitMix64(seed: seed)
        for start in stride(from: 0, to: items, by: 100) {
            try await engine.commit(try batch(start..<start + 100, index: "protected", .complete, &random))
        }
        // A search waits until the donations are in the index. Otherwise the engine may end before
        // that and write no image.
        _ = try await engine.find(ItemSearch("word1"))
        await engine.close()
        let image = folder + "/" + name + "/protected/image"
        guard isShort || FileManager.default.fileExists(atPath: image) else {
            throw BenchmarkError("no image was written")
        }
        if !fromImage { try? FileManager.default.removeItem(atPath: image) }
        engine = try self.engine(name)
        let opened = engine
        let items = items
        var memory = 0
        let cost = try await ProcessCost.measure {
            let report = try await opened.unlock(passphrase: Self.passphrase, creates: false)
            guard report.items == items else { throw BenchmarkError("\(report.items) of \(items) items were unlocked") }
            let found = try await opened.find(ItemSearch("word1"))
            guard isShort || !found.hits.isEmpty else { throw BenchmarkError("no protected item was found") }
            memory = report.memory?.bytes ?? 0
        }
        await engine.close()
        return (cost.wall, memory)
    }
}
