// SPDX-License-Identifier: Apache-2.0
import Foundation
import SearchIndex

/// Measures the index with a corpus of natural text: filling, small batches, searches, opening,
/// size and memory.
struct IndexBenchmarks {
    var items: Int
    var seed: UInt64
    /// The folder for corpora and stores.
    var folder: String
    /// `true` to reuse the stores of an earlier run and keep them for a later one.
    var keepsStores: Bool
    var fillsRawTables: Bool
    /// The minimum number of queries per class whose results are compared with a ranking of all
    /// items; 0 for no comparison.
    var compared: Int
    /// The only classes of searches to measure; empty for everything.
    var searchClasses: [String] = []

    private var storePath: String { "\(folder)/store-\(items)-\(seed)" }
    private var rawPath: String { "\(folder)/raw-\(items)-\(seed).sqlite" }
    private var plainPath: String { "\(folder)/plain-\(items)-\(seed).sqlite" }
    /// The file that marks a kept store as filled; it contains the number of donated bytes.
    private var filledPath: String { "\(storePath).filled" }

    func run() async throws -> Report {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var report = Report()
        Self.say("Reading the corpus of \(items) items")
        let corpus = try Corpus(count: items, seed: seed, folder: folder)
        report.facts.append(
            Fact(name: "corpus", value: "\(items) items, \(corpus.realCount) of them real snippets, seed \(seed)"))
        if !keepsStores { removeStores() }
        defer { if !keepsStores { removeStores() } }

        let kept = (try? String(contentsOfFile: filledPath, encoding: .utf8)).flatMap { Int($0) }
        let donatedBytes: Int
        if let kept {
            donatedBytes = kept
        } else {
            removeStores()
            (donatedBytes, report.measurements) = try await fill(corpus)
            // Measured before the writers add more items.
            report.measurements += try StoreSize.run(store: storePath, donatedBytes: donatedBytes)
            try "\(donatedBytes)".write(toFile: filledPath, atomically: true, encoding: .utf8)
        }
        Self.say("Opening")
        report.measurements += try Opening.run(store: storePath)
        let (measurements, searches) = try await search(corpus)
        report.measurements += measurements
        report.measurements += SearchLatency.slowest(of: searches, items: items)
        report.searches = searches
        return report
    }

    /// Fills the store and the baseline with the same rows.
    private func fill(_ corpus: Corpus) async throws -> (donatedBytes: Int, [Measurement]) {
        Self.say("Filling the store")
        PeakMemory.reset()
        let index = try SearchIndex(directory: storePath, access: .readWrite)
        let (cost, donatedBytes) = try await Filling.fill(index, from: corpus)
        // The size is measured after the store has merged its segments, as a store at rest has on a
        // disk.
        while index.isApplying { try await Task.sleep(for: .milliseconds(20)) }
        try await index.close()
        let peak = PeakMemory.megabytes
        guard fillsRawTables else {
            let time = Measurement(
                name: "processor time of an item", value: cost.cpu / Double(corpus.count) * 1e6, unit: "µs")
            return (donatedBytes, [time])
        }
        Self.say("Filling the same tables through SQLite’s C API")
        let raw = try fillBaseline(merges: true)
        let unmerged = try fillBaseline(merges: false)
        let count = Double(corpus.count)
        let baseline = "the same tables through SQLite’s C API"
        return (
            donatedBytes,
            [
                Measurement(
                    name: "\(items) items in bulk", value: count / cost.wall, unit: "items/s", baseline: baseline,
                    baselineValue: count / raw.wall, row: .bulk),
                Measurement(
                    name: "\(items) items in bulk, beside less work", value: count / cost.wall, unit: "items/s",
                    baseline: baseline + ", never merging", baselineValue: count / unmerged.wall),
                Measurement(
                    name: "processor time of an item", value: cost.cpu / count * 1e6, unit: "µs", baseline: baseline,
                    baselineValue: raw.cpu / count * 1e6),
                Measurement(name: "peak memory while filling", value: peak, unit: "MB"),
            ]
        )
    }

    private func fillBaseline(merges: Bool) throws -> ProcessCost {
        removeFiles(rawPath)
        defer { removeFiles(rawPath) }
        return try RawStore(
            copying: storePath + "/index.sqlite", to: rawPath, cacheKiB: SearchIndex.writerCacheKiB, merges: merges
        ).fill().cost
    }

    private func search(_ corpus: Corpus) async throws -> ([Measurement], [SearchLatency]) {
        let plain = try PlainStore(path: plainPath, cacheKiB: SearchIndex.writerCacheKiB)
        if plain.count == 0 {
            Self.say("Filling a plain FTS5 table")
            try plain.fill(from: corpus)
        }
        var classes = try QueryClasses(corpus: corpus, plain: plain)
        let queries = try chosen(from: classes.all())
        PeakMemory.reset()
        let index = try SearchIndex(directory: storePath, access: .readWrite)
        var latencies: [SearchLatency] = []
        for queries in queries {
            Self.say("Searching: \(queries.name)")
            latencies.append(try await SearchLatency(queries, index: index, plain: plain, compared: compared))
        }
        guard searchClasses.isEmpty else {
            try await index.close()
            return ([], latencies)
        }
        Self.say("Metadata queries")
        var measurements = try await MetadataSearches.run(index: index, corpus: corpus)
        Self.say("Suggestions")
        measurements += try await Suggesting.run(index: index, classes: queries, items: items)
        Self.say("Cancelling")
        measurements += try await Cancelling.run(index: index)
        let writer = try ContinuousWriter(index: index, corpus: corpus, suffix: "w\(plain.count)")
        for place in queries.indices {
            Self.say("Searching while writing: \(queries[place].name)")
            try await latencies[place].measureWhileWriting(queries[place], index: index)
        }
        measurements += try await writer.stop()
        measurements.append(
            Measurement(name: "peak memory while searching and writing", value: PeakMemory.megabytes, unit: "MB"))
        Self.say("Small batches")
        measurements += try await SmallBatches.run(index: index, plain: plain, corpus: corpus)
        try await index.close()
        return (measurements, latencies)
    }

    private func chosen(from classes: [QueryClass]) throws -> [QueryClass] {
        guard !searchClasses.isEmpty else { return classes }
        for name in searchClasses where !classes.contains(where: { $0.name == name }) {
            let known = classes.map { "“\($0.name)”" }.joined(separator: ", ")
            throw BenchmarkError("There is no class of searches “\(name)”. The classes are \(known).")
        }
        return classes.filter { searchClasses.contains($0.name) }
    }

    private func removeStores() {
        for path in [storePath, rawPath, plainPath, filledPath] { removeFiles(path) }
    }

    private func removeFiles(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private static func say(_ text: String) { Progress.say("  \(text) …") }
}
