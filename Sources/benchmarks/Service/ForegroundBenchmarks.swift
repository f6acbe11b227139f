// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SearchlightEngine
import ServiceProtocol
import TestSupport

/// What a reindex in the background costs those who work at the machine, and what it costs the reindex that it gives way.
///
/// The service of this build, the real sensors, and an extension that does not cooperate: it never asks whether it is throttled.
struct ForegroundBenchmarks {
    let folder: String
    let seed: UInt64

    private static let batches = 200
    private static let itemsPerBatch = 500
    private static let pairs = 8
    private static let rates = 3
    /// How long foreground work goes on.
    private static let span = Duration.seconds(8)
    /// Without work of others the job has begun, and then ended, by then.
    private static let patience = Duration.seconds(120)

    func run() async throws -> [Measurement] {
        let place = folder + "/foreground"
        try? FileManager.default.removeItem(atPath: place)
        let backlog = try Backlog(place: place, batches: Self.batches, of: Self.itemsPerBatch, seed: seed)
        let processors = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let disk = try DiskWork(folder: place)
        let works: [(String, any ForegroundWork)] = [
            ("a program that computes", ProcessorWork(threads: 1)),
            ("\(processors) that compute", ProcessorWork(threads: processors)),
            ("a program that writes to the disk and reads from it", disk),
        ]
        var measurements: [Measurement] = []
        for (name, work) in works { measurements += try await slowdown(of: work, name, backlog) }
        disk.remove()
        measurements.append(try await rate(backlog))
        try? FileManager.default.removeItem(atPath: place)
        return measurements
    }

    // MARK: Slowdown

    /// The same work with and without a service whose reindex is under way when the work begins, by turns.
    private func slowdown(
        of work: any ForegroundWork, _ name: String, _ backlog: Backlog
    ) async throws -> [Measurement] {
        var (with, without): ([Double], [Double]) = ([], [])
        for pair in 0..<Self.pairs {
            for isServed in pair.isMultiple(of: 2) ? [false, true] : [true, false] {
                // What others have still to write is none of either's.
                sync()
                guard isServed else {
                    without.append(try work.run(for: Self.span))
                    continue
                }
                let service = try await backlog.begin()
                try await Task.sleep(for: .milliseconds(500))
                with.append(try work.run(for: Self.span))
                guard !service.isDone else { throw BenchmarkError("The backlog was done before the work was.") }
                service.end()
            }
        }
        // What a round takes.
        let ratios = Percentiles(zip(without, with).map { $0 / $1 })
        let alone = 1000 / Percentiles(without).p50
        let what = "\(name), \(Self.batches * Self.itemsPerBatch) items waiting"
        return [
            Measurement(
                name: "a round of \(what) (median of \(Self.pairs) pairs)", value: alone * ratios.p50, unit: "ms",
                baseline: "the same without a service", baselineValue: alone, row: .foreground),
            Measurement(
                name: "… of the worst pair", value: alone * ratios.maximum, unit: "ms",
                baseline: "the same without a service", baselineValue: alone),
        ]
    }

    // MARK: Rate

    /// The whole backlog in the background of an idle machine, and by a person's command, by turns.
    private func rate(_ backlog: Backlog) async throws -> Measurement {
        var (background, person): ([Double], [Double]) = ([], [])
        for _ in 0..<Self.rates {
            sync()
            let service = try await backlog.begin()
            background.append(try await service.reindexed(within: Self.patience))
            service.end()
            sync()
            person.append(try backlog.reindexByPerson())
        }
        let items = Double(Self.batches * Self.itemsPerBatch)
        return Measurement(
            name: "the backlog in the background of an idle machine", value: items / Percentiles(background).p50,
            unit: "items/s", baseline: "searchlight reindex", baselineValue: items / Percentiles(person).p50,
            row: .backgroundRate)
    }
}
