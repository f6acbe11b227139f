// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SchedulerSimulation

/// A replay as `--json` prints it: times in UTC, lengths in seconds to a millisecond.
struct SimulationReport: Encodable {
    var name: String
    var start: String
    var end: String
    var journal: [JournalLine]?
    var jobs: [Job]
    /// When which gates of the machine were closed.
    var gates: [Span]
    /// When a person waited.
    var waiting: [Span]
    /// When which extension was throttled.
    var throttled: [Span]
    var totals: Replay.Totals

    struct Span: Encodable {
        var start: String
        var end: String
        var kind: String
        var gates: [String]?

        init<Kind>(_ span: Replay.Span<Kind>, _ kind: String) {
            (start, end, self.kind) = (SimulationReport.text(span.start), SimulationReport.text(span.end), kind)
            gates = span.gates.isEmpty ? nil : span.gates.map(\.code)
        }
    }
    struct Job: Encodable {
        var job: String
        var requests: Int
        var done: Int
        var owed: Bool
        var requested: String
        var began: String?
        var finished: String?
        var longestWait: Double
        var longestTime: Double
        var longestRest: Double
        var slices: Int
        var relaxedSlices: Int
        var pauses: Int
        var stops: Int
        var failures: Int
        var cpu: Double
        var written: UInt64
        var items: Int
        var spans: [Span]

        init(_ job: Replay.JobSummary) {
            (self.job, requests, done, owed) = (job.key.name, job.requests, job.done, job.isOwed)
            requested = SimulationReport.text(job.requested)
            began = job.began.map(SimulationReport.text)
            finished = job.finished.map(SimulationReport.text)
            longestWait = SimulationReport.rounded(job.longestWait)
            longestTime = SimulationReport.rounded(job.longestTime)
            longestRest = SimulationReport.rounded(job.longestRest)
            (slices, relaxedSlices, pauses, stops) = (job.slices, job.relaxedSlices, job.pauses, job.stops)
            (failures, cpu, written) = (job.failures, SimulationReport.rounded(job.usage.cpu), job.usage.written)
            (items, spans) = (job.items, job.spans.map { Span($0, $0.kind.rawValue) })
        }
    }

    init(_ replay: Replay, showsJournal: Bool) {
        (name, start, end) = (replay.name, Self.text(replay.start), Self.text(replay.end))
        journal = showsJournal ? replay.journal.map(JournalLine.init) : nil
        jobs = replay.jobs.map(Job.init)
        gates = replay.gates.map { Span($0, $0.kind.code) }
        waiting = replay.personsWaiting.map { Span($0, $0.kind.code) }
        throttled = replay.throttled.map { Span($0, $0.kind) }
        totals = replay.totals
        for path in [
            \Replay.Totals.seconds, \.running, \.active, \.runningWhileActive, \.longestToQuiet, \.cpu,
        ] {
            totals[keyPath: path] = Self.rounded(totals[keyPath: path])
        }
    }

    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    private static func text(_ moment: Double) -> String {
        Date(timeIntervalSinceReferenceDate: moment).formatted(style)
    }

    private static func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
}
