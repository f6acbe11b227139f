// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import SearchlightEngine
import TestSupport

/// Measures protected indexes: donations, alternating with donations to an unprotected index, and
/// the time from unlocking a store until all its items are searchable.
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
        let unlocked = try await unlock()
        return [
            Measurement(
                name: "durable donation of \(Self.itemsPerDonation) items to a protected index, p50",
                value: protected * 1e6, unit: "µs", baseline: "to an index without protection",
                baselineValue: plain * 1e6, row: .protectedDonation),
            Measurement(
                name: "unlock, until \(items) protected items are searchable", value: unlocked * 1e3, unit: "ms",
                row: isShort ? nil : .unlock),
        ]
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

    /// Returns the time to unlock with the standard passphrase cost, in seconds.
    private func unlock() async throws -> Double {
        var engine = try engine("unlock")
        try await engine.unlock(passphrase: Self.passphrase, creates: true)
        var random = SplitMix64(seed: seed)
        for start in stride(from: 0, to: items, by: 100) {
            try await engine.commit(try batch(start..<start + 100, index: "protected", .complete, &random))
        }
        await engine.close()
        engine = try self.engine("unlock")
        let opened = engine
        let items = items
        let cost = try await ProcessCost.measure {
            let report = try await opened.unlock(passphrase: Self.passphrase, creates: false)
            guard report.items == items else { throw BenchmarkError("\(report.items) of \(items) items were unlocked") }
        }
        await engine.close()
        return cost.wall
    }
}
