// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchlightEngine
import SemanticEmbedding
import Synchronization
import TestSupport

/// Measures embeddings: the model, scans over the embeddings of real texts, and background work
/// while other programs run.
struct MeaningBenchmarks {
    let folder: String
    let seed: UInt64
    /// The number of rows with real texts.
    let rows: Int
    /// The folder of a model with its trained weights; `nil` leaves the part out.
    let model: String?

    private static let (queries, passages, pauses) = (40, 10, 60)

    func run() async throws -> Report {
        guard let model else {
            let reason = "left out: name the folder of a model with SEARCHLIGHT_MODEL (docs/SEMANTIC.md)"
            Progress.say("  Embeddings are \(reason).")
            return Report(facts: [Fact(name: "embeddings", value: reason)])
        }
        let snippets = try SnippetFile(path: "\(folder)/snippets.v1")
        guard snippets.count > rows + ScanMeasurement.queries else {
            throw BenchmarkError("Only \(snippets.count) snippets of text were found. Use fewer --items.")
        }
        let small = folder + "/meaning-model"
        try? FileManager.default.removeItem(atPath: small)
        try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: true)
        try ModelQuantization.write(try ModelFolder(path: model), to: small)
        var report = Report(facts: [Fact(name: "kernels", value: KernelLevel.best.rawValue)])
        report.measurements += try times(small)
        report.measurements += try ScanMeasurement(folder: folder, seed: seed, rows: rows).run(
            model: small, titles: { snippets[$0].title })
        // Passages of typical length, enough for all runs.
        let texts = (0..<6000).map { number in
            (
                title: snippets[number].title,
                text: (0..<3).map { snippets[(number * 3 + $0) % snippets.count].text }.joined(separator: "\n\n")
            )
        }
        report.measurements += try await pauses(texts: Array(texts.prefix(600)), model)
        let backlog = try await EmbeddingBacklog(place: folder + "/meaning", texts: texts, model: model)
        report.measurements += try memory(backlog)
        report.measurements += try await ForegroundBenchmarks(folder: folder, seed: seed).slowdown(
            of: ProcessorWork(threads: 1), "a program that computes", backlog, row: .meaningSlowdown)
        try? FileManager.default.removeItem(atPath: folder + "/meaning")
        return report
    }

    // MARK: The model

    private func times(_ model: String) throws -> [Measurement] {
        let embedder = try TextEmbedder(folder: try ModelFolder(path: model))
        let query = "when does the last boat from the old port to the big island leave"
        let tokens = embedder.tokenizer.tokens(of: query, prefix: "", limit: 64).count
        let text = String(repeating: query + ". ", count: 40)
        guard let passage = embedder.passages(title: "", text: text).first else {
            throw BenchmarkError("The model makes no passage.")
        }
        func least(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
            try (0..<count).map { _ in try ProcessCost.measure(body).cpu * 1000 }.min() ?? 0
        }
        return [
            Measurement(
                name: "a query of \(tokens) tokens, processor time",
                value: try least(Self.queries) { _ = try embedder.embed(query: query) }, unit: "ms",
                row: .meaningQuery),
            Measurement(
                name: "a passage of \(passage.tokens.count) tokens, processor time",
                value: try least(Self.passages) { _ = try embedder.embed(passage) }, unit: "ms", row: .meaningPassage),
        ]
    }

    // MARK: Work in the background

    /// Measures the time from a pause until the thread that runs the model has exited.
    private func pauses(texts: [(title: String, text: String)], _ model: String) async throws -> [Measurement] {
        let store = folder + "/meaning-pauses"
        try? FileManager.default.removeItem(atPath: store)
        try await MeaningStore.fill(store, texts)
        _ = try ModelInstallation(store: store).install(from: model, name: "model", origin: model, now: 0)
        var configuration = EngineConfiguration(
            storeDirectory: store, access: .readWrite, extensionSearchPath: [],
            worker: WorkerConfiguration(workerPath: "/nonexistent", frameworkFolder: nil, environment: [:]))
        configuration.tracksExtensions = false
        let engine = try SearchlightEngine(configuration)
        var random = SplitMix64(seed: seed)
        var times: [Double] = []
        for _ in 0..<Self.pauses {
            let paused = Mutex(false)
            async let step = engine.embedStep(isPaused: { paused.withLock { $0 } })
            try await Task.sleep(for: .milliseconds(random.below(150)))
            let start = ContinuousClock.now
            paused.withLock { $0 = true }
            guard try await step else { break }
            times.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        await engine.close()
        try? FileManager.default.removeItem(atPath: store)
        let found = Percentiles(times)
        return [
            Measurement(
                name: "embedding work paused, p99 of \(found.count)", value: found.p99, unit: "ms", row: .meaningPaused),
            Measurement(name: "… the median", value: found.p50, unit: "ms"),
        ]
    }

    /// Measures the memory that the service needs for queries and background work together.
    private func memory(_ backlog: EmbeddingBacklog) throws -> [Measurement] {
        let service = try backlog.service()
        defer { service.stop() }
        // The first search loads everything except the model.
        try backlog.ask(["search", "old boat"])
        let before = try Self.resident(service.identifier)
        try backlog.ask(["search", "when does the last boat to the island leave"])
        let asked = try Self.resident(service.identifier)
        try backlog.ask(["semantic", "status"])
        return [
            Measurement(
                name: "memory of the model, after a question", value: asked - before, unit: "MB",
                row: .meaningMemory)
        ]
    }

    /// Returns a process's resident memory in megabytes.
    private static func resident(_ process: pid_t) throws -> Double {
        let lines = try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("Rss:") }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
        else { throw BenchmarkError("The memory of process \(process) is unknown.") }
        return kilobytes / 1024
    }
}
