// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SchedulerSimulation

extension JSONObject {
    /// A replay as JSON: times in UTC, durations in seconds, rounded to milliseconds.
    init(_ replay: Replay, showsJournal: Bool) {
        var totals = replay.totals
        for path in [
            \Replay.Totals.seconds, \.running, \.active, \.runningWhileActive, \.longestToQuiet, \.cpu,
        ] {
            totals[keyPath: path] = Self.rounded(totals[keyPath: path])
        }
        self = [
            "name": replay.name, "start": Self.text(replay.start), "end": Self.text(replay.end),
            "journal": showsJournal ? replay.journal.map(JournalLine.init) : nil,
            "jobs": replay.jobs.map(JSONObject.init),
            // The periods in which machine gates were closed, interactive requests were waiting,
            // and extensions were throttled.
            "gates": replay.gates.map { JSONObject($0, $0.kind.code) },
            "waiting": replay.personsWaiting.map { JSONObject($0, $0.kind.code) },
            "throttled": replay.throttled.map { JSONObject($0, $0.kind) }, "totals": totals,
        ]
    }

    private init<Kind>(_ span: Replay.Span<Kind>, _ kind: String) {
        self = [
            "start": Self.text(span.start), "end": Self.text(span.end), "kind": kind,
            "gates": span.gates.isEmpty ? nil : span.gates.map(\.code),
        ]
    }

    private init(_ job: Replay.JobSummary) {
        self = [
            "job": job.key.name, "requests": job.requests, "done": job.done, "owed": job.isOwed,
            "requested": Self.text(job.requested), "began": job.began.map(Self.text),
            "finished": job.finished.map(Self.text), "longestWait": Self.rounded(job.longestWait),
            "longestTime": Self.rounded(job.longestTime), "longestRest": Self.rounded(job.longestRest),
            "slices": job.slices, "relaxedSlices": job.relaxedSlices, "pauses": job.pauses, "stops": job.stops,
            "failures": job.failures, "cpu": Self.rounded(job.usage.cpu), "written": job.usage.written,
            "items": job.items, "spans": job.spans.map { JSONObject($0, $0.kind.rawValue) },
        ]
    }

    private static func text(_ moment: Double) -> String {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return Date(timeIntervalSinceReferenceDate: moment).formatted(style)
    }

    private static func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
}
