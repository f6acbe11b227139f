// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SearchlightEngine
import ServiceProtocol
import TestSupport

/// What a reindex in the background costs those who work at the machine, and what it costs the reindex that it gives way.
///
/// The service of this build, the real sensors, and an extension that does not cooperate: it never asks whether it is
/// throttled.
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
        for (name, work) in works {
            Progress.say(name)
            measurements += try await slowdown(of: work, name, backlog)
        }
        disk.remove()
        measurements.append(try await rate(backlog))
        try? FileManager.default.removeItem(atPath: place)
        return measurements
    }

    // MARK: Slowdown

    /// The same work with and without a service whose reindex is under way when the work begins, by turns. Each run with
    /// one is beside the two without that stand around it, so that what the machine gains or loses over minutes is in
    /// neither; and how much these differ among themselves tells what a difference means.
    private func slowdown(
        of work: any ForegroundWork, _ name: String, _ backlog: Backlog
    ) async throws -> [Measurement] {
        var without = [try alone(work)]
        var with: [ForegroundRun] = []
        for _ in 0..<Self.pairs {
            with.append(try await beside(backlog, work))
            without.append(try alone(work))
        }
        let around = zip(without, without.dropFirst())
        // What a round takes.
        let ratios = Percentiles(zip(around, with).map { ($0.0.rate + $0.1.rate) / 2 / $1.rate })
        let noise = Percentiles(around.map { max($0.rate / $1.rate, $1.rate / $0.rate) })
        let round = 1000 / Percentiles(without.map(\.rate)).p50
        let what = "\(name), \(Self.batches * Self.itemsPerBatch) items waiting"
        let baseline = "the same without a service, before and after"
        return [
            Measurement(
                name: "a round of \(what) (median of \(Self.pairs))", value: round * ratios.p50, unit: "ms",
                baseline: baseline, baselineValue: round, row: .foreground),
            Measurement(
                name: "… the worst", value: round * ratios.maximum, unit: "ms", baseline: baseline,
                baselineValue: round),
            Measurement(
                name: "… two without a service, the slower (median)", value: round * noise.p50, unit: "ms",
                baseline: "the quicker", baselineValue: round),
            Measurement(
                name: "… the two that differ most", value: round * noise.maximum, unit: "ms",
                baseline: "the quicker", baselineValue: round),
        ]
    }

    private func alone(_ work: any ForegroundWork) throws -> ForegroundRun {
        // What others have still to write is none of its.
        sync()
        let run = try ForegroundRun.measure(work, for: Self.span)
        Progress.say("  alone:            \(run.description)")
        return run
    }

    private func beside(_ backlog: Backlog, _ work: any ForegroundWork) async throws -> ForegroundRun {
        sync()
        let service = try await backlog.begin()
        defer { service.end() }
        try await Task.sleep(for: .milliseconds(500))
        let run = try ForegroundRun.measure(work, for: Self.span)
        guard !service.isDone else { throw BenchmarkError("The backlog was done before the work was.") }
        Progress.say("  beside a reindex: \(run.description)")
        return run
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
