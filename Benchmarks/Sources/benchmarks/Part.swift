// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation

/// A part of the benchmarks. Each part runs in its own process, so that no part affects the next.
enum Part: String, CaseIterable, Codable, ExpressibleByArgument {
    case types, spelling, bindings, registry, watching, promises, content, workers, kits, calls, boundary, previews,
        service,
        idle,
        returns,
        backlog, foreground, relevance, protection, log, meaning, index

    /// Measures the part in this process.
    func measure(_ options: Benchmarks) async throws -> Report {
        let (folder, seed) = (options.folder, options.seed)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        switch self {
        case .types: return Report(measurements: try TypeBenchmarks.run(isShort: options.check))
        case .spelling:
            return Report(measurements: try await SpellingBenchmarks(folder: folder, seed: seed).run())
        case .bindings: return Report(measurements: try CallBenchmark.run())
        case .registry:
            return Report(measurements: try RegistryBenchmarks(folder: folder, isShort: options.check).run())
        case .watching:
            return Report(measurements: try WatchingBenchmarks(folder: folder, isShort: options.check).run())
        case .promises: return Report(measurements: try PromiseBenchmarks(folder: folder, isShort: options.check).run())
        case .content: return Report(measurements: try await ContentBenchmarks(folder: folder).run())
        case .workers: return Report(measurements: try await HostBenchmarks(folder: folder, seed: seed).starts())
        case .kits: return Report(measurements: try await KitBenchmarks(folder: folder).run())
        case .calls: return Report(measurements: try await HostBenchmarks(folder: folder, seed: seed).calls())
        case .boundary: return Report(measurements: try await HostBenchmarks(folder: folder, seed: seed).boundary())
        case .previews:
            return Report(measurements: try await PreviewBenchmarks(folder: folder, journal: options.journal).run())
        case .service:
            return Report(measurements: try await ServiceBenchmarks(folder: folder, seed: seed).run())
        case .idle:
            let idle = IdleBenchmarks(
                folder: folder, seed: seed, items: options.check ? IdleBenchmarks.fewItems : options.items,
                seconds: options.check ? IdleBenchmarks.shortSeconds : options.seconds)
            return Report(measurements: try await idle.run())
        case .returns: return Report(measurements: try await ReturnBenchmarks(folder: folder).run())
        case .backlog: return Report(measurements: try await BacklogBenchmarks(folder: folder, seed: seed).run())
        case .foreground:
            return Report(measurements: try await ForegroundBenchmarks(folder: folder, seed: seed).run())
        case .relevance:
            return try await RelevanceBenchmarks(folder: folder, seed: seed, collection: options.judgedCollection).run()
        case .protection:
            return Report(
                measurements: try await ProtectionBenchmarks(folder: folder, seed: seed, isShort: options.check).run())
        case .log:
            return Report(
                measurements: try await LogBenchmarks(folder: folder, seed: seed).run())
        case .meaning:
            return try await MeaningBenchmarks(
                folder: folder, seed: seed, rows: min(options.items, 100_000), model: options.model
            ).run()
        case .index:
            let index = IndexBenchmarks(
                items: options.items, seed: seed, folder: folder, keepsStores: options.keep,
                fillsRawTables: !options.withoutRawTables, compared: options.compared,
                searchClasses: options.searchClasses)
            return try await index.run()
        }
    }

    /// Returns the time limit for the part, which exceeds its time on a slow machine. It prevents a
    /// part that hangs from blocking the others.
    func limit(items: Int) -> Duration {
        .seconds(self == .foreground || self == .backlog || self == .meaning ? 3600 : 600)
            + Duration.milliseconds(self == .index || self == .idle ? 3 : 0) * items
    }
}
