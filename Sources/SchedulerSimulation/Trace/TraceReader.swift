// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import JSONText

extension Trace {
    /// Parses a trace: a header, then one JSON object for each event. Parsing is strict: values
    /// that are unknown, out of range, out of order or too many are rejected. The error states the
    /// line and the allowed values.
    public init(jsonLines bytes: [UInt8]) throws(TraceError) {
        guard bytes.count <= Self.maximumBytes else { throw TraceError(line: nil, Self.tooLarge) }
        var reader: TraceReader?
        var number = 0
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            guard line.contains(where: { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }) else { continue }
            guard line.count <= Self.maximumLineBytes else {
                throw TraceError(
                    line: number, "it has \(line.count) bytes; the limit is \(Self.maximumLineBytes).")
            }
            do throws(JSONProblem) {
                guard case .object(let fields) = try JSONValue(reading: line, maximumDepth: 4) else {
                    throw JSONProblem("it is not a JSON object: {\"at\": …}.")
                }
                if reader == nil {
                    reader = TraceReader(try Trace(header: fields))
                } else {
                    try reader?.take(fields)
                }
            } catch {
                throw TraceError(line: number, error.text)
            }
        }
        guard let reader else {
            throw TraceError(
                line: nil,
                #"it is empty. Begin it with a header: {"trace": 1, "name": "my trace", "date": "2026-03-02"}"#)
        }
        guard !reader.trace.events.isEmpty else {
            throw TraceError(line: nil, #"it has no events. Add a line such as {"at": "9:00", "end": true}"#)
        }
        self = reader.trace
    }

    /// The message for a file that exceeds ``maximumBytes``.
    public static let tooLarge = "it is larger than the limit of \(maximumBytes >> 20) MiB."

    private init(header: [JSONValue.Field]) throws(JSONProblem) {
        let fields = TraceFields(header, clock: nil)
        guard fields.has("trace") else {
            throw JSONProblem(
                #"the first line is not a header: {"trace": 1, "name": "my trace", "date": "2026-03-02"}"#)
        }
        guard fields["trace"]?.number == Double(Self.formatVersion) else {
            throw fields.refuse(
                "trace", allowed: "\(Self.formatVersion), the version of the format that this program reads")
        }
        try fields.allow(["trace", "name", "description", "date", "zone", "policy"])
        guard let name = try fields.text("name", bytes: 128), !name.isEmpty else {
            throw fields.refuse("name", allowed: "a text of 1 to 128 bytes")
        }
        let zone = try fields.text("zone", bytes: 16) ?? "Z"
        guard let clock = TraceClock(date: try fields.text("date", bytes: 16) ?? "", zone: zone) else {
            throw JSONProblem(
                "“date” and “zone” are not a day and a time zone, as in \"date\": \"2026-03-02\", \"zone\": \"+01:00\"."
            )
        }
        self.init(
            name: name, description: try fields.text("description", bytes: 4096) ?? "", midnight: clock.midnight,
            zone: clock.zone)
        guard let changes = fields["policy"] else { return }
        do throws(PolicyError) {
            try change(policy: changes.json)
        } catch {
            throw JSONProblem("\(error)")
        }
    }

    /// Changes the policy used to replay the trace.
    ///
    /// - Parameter changes: A JSON object in the configuration format.
    public mutating func change(policy changes: String) throws(PolicyError) {
        policy = try SchedulingPolicy(configuration: Data(changes.utf8))
        policyChanges = changes
    }
}

/// Parses the lines after the header.
private struct TraceReader {
    var trace: Trace
    private var conditions = Conditions()
    private var jobs: Set<ScheduledJob.Key> = []
    private let clock: TraceClock

    private static let kinds = ["conditions", "job", "waiting", "throttle", "unthrottle", "run", "cancel", "end"]

    init(_ trace: Trace) {
        self.trace = trace
        clock = trace.clock
    }

    mutating func take(_ line: [JSONValue.Field]) throws(JSONProblem) {
        let fields = TraceFields(line, clock: clock)
        let kinds = line.map(\.key).filter(Self.kinds.contains)
        guard kinds.count == 1, let kind = kinds.first else {
            let all = Self.kinds.joined(separator: ", ")
            throw JSONProblem(
                "it has \(kinds.isEmpty ? "no event key" : "several event keys"). Use one of \(all)."
            )
        }
        guard let moment = try fields.moment("at") else { throw fields.refuse("at", allowed: TraceFields.times) }
        let last = trace.events.last
        if last?.happening == .end { throw JSONProblem("it is after the end of the trace. Remove it.") }
        if let last, moment < last.moment {
            throw JSONProblem(
                "\(clock.text(moment)) is before \(clock.text(last.moment)), the time of the previous line. Sort the lines by time."
            )
        }
        guard moment - trace.start <= Trace.longest || last == nil else {
            throw JSONProblem("it is more than \(Int(Trace.longest / 86400)) days after the first line.")
        }
        guard trace.events.count < Trace.maximumEvents else {
            throw JSONProblem("there are more than \(Trace.maximumEvents) lines.")
        }
        trace.events.append(Trace.Event(moment, try happening(kind, fields, moment)))
    }

    private mutating func happening(
        _ kind: String, _ fields: TraceFields, _ moment: Double
    ) throws(JSONProblem) -> Trace.Happening {
        if kind != "job" { try fields.allow(["at", kind]) }
        switch kind {
        case "conditions":
            guard case .object(let changes)? = fields[kind] else {
                throw fields.refuse(kind, allowed: #"an object with the changes: {"presence": "active"}"#)
            }
            try conditions.take(TraceFields(changes, clock: clock, prefix: "conditions."), at: moment)
            return .conditions(conditions)
        case "job": return .job(try job(fields, moment))
        case "waiting":
            guard let count = try fields.count(kind, 0...1000) else { throw fields.refuse(kind, allowed: "a number") }
            return .personsWaiting(count)
        case "throttle", "unthrottle":
            guard case .reindex(let bundle) = try key(kind, fields) else {
                throw fields.refuse(kind, allowed: "the identifier of a bundle")
            }
            return .throttled(bundle: bundle, kind == "throttle")
        case "run", "cancel":
            let key = try key(kind, fields)
            guard jobs.contains(key) else {
                throw JSONProblem("there is no earlier job “\(key.name.cut)”. \(Self.known(jobs))")
            }
            return kind == "run" ? .runNow(key) : .cancel(key)
        default:
            guard fields[kind] == .bool(true) else { throw fields.refuse(kind, allowed: "true") }
            return .end
        }
    }

    private static func known(_ jobs: Set<ScheduledJob.Key>) -> String {
        jobs.isEmpty
            ? "There are no earlier jobs."
            : "Earlier jobs: \(jobs.sorted().prefix(8).map(\.name).joined(separator: ", "))."
    }

    private func key(_ field: String, _ fields: TraceFields) throws(JSONProblem) -> ScheduledJob.Key {
        guard case .text(let name)? = fields[field], let key = ScheduledJob.Key(name: name) else {
            let tasks = MaintenanceTask.allCases.map(\.rawValue).joined(separator: ", ")
            throw fields.refuse(
                field,
                allowed: """
                    the identifier of a bundle (of 1 to 255 bytes), files:BUNDLE, encrypted:BUNDLE, or one of \(tasks)
                    """)
        }
        return key
    }

    private mutating func job(_ fields: TraceFields, _ moment: Double) throws(JSONProblem) -> TracedJob {
        try fields.allow([
            "at", "job", "urgency", "requested", "deadline", "cpu", "seconds", "written", "items", "pages", "fresh",
            "cooperative", "fails",
        ])
        let key = try key("job", fields)
        guard jobs.count < Trace.maximumJobs || jobs.contains(key) else {
            throw JSONProblem("there are more than \(Trace.maximumJobs) different jobs.")
        }
        jobs.insert(key)
        guard let cpu = try fields.number("cpu", 0...1e6) else {
            throw fields.refuse("cpu", allowed: "the processor time of the job, in seconds")
        }
        var job = TracedJob(key: key, cpu: cpu, seconds: try fields.number("seconds", 0...1e6))
        if let text = try fields.text("urgency", bytes: 64) {
            guard let urgency = Urgency(rawValue: text) else {
                throw fields.refuse("urgency", allowed: Urgency.allCases.map(\.rawValue).joined(separator: ", "))
            }
            job.urgency = urgency
        }
        job.requested = try fields.moment("requested")
        if let requested = job.requested, requested > moment {
            throw fields.refuse("requested", allowed: "a time that is not after the line's time")
        }
        job.deadline = try fields.moment("deadline")
        job.written = UInt64(try fields.number("written", 0...1e15) ?? 0)
        job.items = try fields.count("items", 0...1_000_000_000) ?? 0
        job.isResumable = try fields.bool("pages") ?? job.isResumable
        job.isFresh = try fields.bool("fresh") ?? false
        if job.isFresh {
            guard case .files = key else { throw fields.refuse("fresh", allowed: "true only for a job “files:BUNDLE”") }
        }
        job.isCooperative = try fields.bool("cooperative") ?? true
        job.failures = try fields.count("fails", 0...1000) ?? 0
        return job
    }
}
