// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SearchlightEngine
import TestSupport

/// Measures how a background reindex affects foreground programs.
///
/// Uses this build's service, the real sensors, and an extension that does not cooperate: it
/// ignores throttling.
struct ForegroundBenchmarks {
    let folder: String
    let seed: UInt64

    private static let pairs = 8
    /// The duration of a run.
    private static let span = Duration.seconds(8)

    func run() async throws -> [Measurement] {
        let place = folder + "/foreground"
        try? FileManager.default.removeItem(atPath: place)
        let backlog = try Backlog(place: place, seed: seed)
        let processors = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let works: [(String, any ForegroundWork)] = [
            ("a program that computes", ProcessorWork(threads: 1)),
            ("\(processors) that compute", ProcessorWork(threads: processors)),
            ("a program that writes to the disk and reads from it", try DiskWork(folder: place)),
        ]
        var measurements: [Measurement] = []
        for (name, work) in works {
            Progress.say(name)
            measurements += try await slowdown(of: work, name, backlog)
        }
        try? FileManager.default.removeItem(atPath: place)
        return measurements
    }

    /// Alternates runs of the work alone with runs during a reindex that is in progress when the
    /// work starts. Each run with a reindex is between two runs alone, which cancels out drift of
    /// the machine. The variation among the runs alone shows the noise. In an equal number of runs,
    /// the service is killed when the work starts. Such a run shows the cost of the preceding rest,
    /// of write-back and of the machine, without any work by the service.
    func slowdown(
        of work: any ForegroundWork, _ name: String, _ backlog: some PendingWork, row: Row = .foreground
    ) async throws -> [Measurement] {
        var without = [try alone(work)]
        var (with, after): ([ForegroundRun], [ForegroundRun]) = ([], [])
        for _ in 0..<Self.pairs {
            with.append(try await beside(backlog, work))
            without.append(try alone(work))
            after.append(try await beside(backlog, work, killed: true))
            without.append(try alone(work))
        }
        let around = Array(zip(without, without.dropFirst()))
        // Returns the time per round relative to the mean of the runs before and after it.
        func ratios(_ runs: [ForegroundRun], from first: Int) -> Percentiles {
            Percentiles(
                zip(runs, stride(from: first, to: around.count, by: 2)).map { run, place in
                    (around[place].0.rate + around[place].1.rate) / 2 / run.rate
                })
        }
        let (besides, afters) = (ratios(with, from: 0), ratios(after, from: 1))
        let noise = Percentiles(around.map { max($0.rate / $1.rate, $1.rate / $0.rate) })
        let round = 1000 / Percentiles(without.map(\.rate)).p50
        let what = "\(name), \(backlog.amount)"
        func measurement(
            _ name: String, _ ratio: Double, beside baseline: String = "the same without a service, before and after",
            row: Row? = nil
        ) -> Measurement {
            Measurement(
                name: name, value: round * ratio, unit: "ms", baseline: baseline, baselineValue: round, row: row)
        }
        func used(_ name: String, _ runs: [ForegroundRun]) -> Measurement {
            func median(_ runs: [ForegroundRun]) -> Double { Percentiles(runs.map(\.others)).p50 }
            return Measurement(
                name: name, value: median(runs), unit: "s", baseline: "the same without a service",
                baselineValue: median(without))
        }
        return [
            measurement("a round of \(what) (median of \(Self.pairs))", besides.p50, row: row),
            measurement("… the worst", besides.maximum),
            measurement("… with the service killed when the work begins (median of \(Self.pairs))", afters.p50),
            measurement("… of these the worst", afters.maximum),
            measurement("… two without a service, the slower (median)", noise.p50, beside: "the quicker"),
            measurement("… the two that differ most", noise.maximum, beside: "the quicker"),
            used("… what others used of the processors in these \(Self.span.components.seconds) s (median)", with),
            used("… what others used with the service killed when the work begins (median)", after),
        ]
    }

    private func alone(_ work: any ForegroundWork) throws -> ForegroundRun {
        // Writes back pending data from earlier runs first.
        sync()
        let run = try ForegroundRun.measure(work, for: Self.span)
        Progress.say("  alone:            \(run.description)")
        return run
    }

    /// - Parameter killed: `true` to kill the service before the work begins.
    private func beside(
        _ backlog: some PendingWork, _ work: any ForegroundWork, killed: Bool = false
    ) async throws -> ForegroundRun {
        sync()
        let service = try await backlog.begin()
        defer { service.end() }
        try await Task.sleep(for: .milliseconds(500))
        if killed { service.kill() }
        let run = try ForegroundRun.measure(work, for: Self.span)
        guard !service.isDone else { throw BenchmarkError("The backlog ended before the foreground work.") }
        Progress.say("  \(killed ? "after a kill:    " : "beside the job:  ") \(run.description)")
        return run
    }
}
