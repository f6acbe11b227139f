// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import JSONText

/// Writes traces line by line. Of conditions, it writes only the changes.
/// ``Trace/init(jsonLines:)`` reads the same trace back, with times rounded to milliseconds.
public struct TraceWriter: Sendable {
    private let clock: TraceClock
    private var conditions = Conditions()
    private let policy: String?
    /// The time of the first event.
    private var start: Double?

    /// Creates a writer for a trace. The trace's events are ignored.
    public init(_ trace: Trace) {
        clock = trace.clock
        policy = trace.policyChanges
    }

    /// Returns the header line, including its line break.
    public func header(name: String, description: String) -> String {
        var fields = [
            JSONValue.Field(key: "trace", value: .number(Double(Trace.formatVersion))),
            JSONValue.Field(key: "name", value: .text(name)),
            JSONValue.Field(key: "description", value: .text(description)),
            JSONValue.Field(key: "date", value: .text(clock.date)),
            JSONValue.Field(key: "zone", value: .text(clock.zoneText)),
        ]
        if description.isEmpty { fields.remove(at: 2) }
        let line = JSONValue.object(fields).json
        guard let policy else { return line + "\n" }
        return line.dropLast() + ",\"policy\":\(policy)}\n"
    }

    /// Returns `true` if an event at a time is within the maximum length of a trace. The clock may
    /// have been set far ahead.
    public func hasRoom(at moment: Double) -> Bool { start.map { moment - $0 < Trace.longest - 1 } ?? true }

    /// Returns the line for an event, including its line break; `nil` for unchanged conditions.
    public mutating func line(_ event: Trace.Event) -> String? {
        var fields = [JSONValue.Field(key: "at", value: .text(clock.text(event.moment)))]
        func add(_ key: String, _ value: JSONValue) { fields.append(JSONValue.Field(key: key, value: value)) }
        switch event.happening {
        case .conditions(let new):
            let changes = new.changes(since: conditions, at: event.moment, clock)
            conditions = new
            guard !changes.isEmpty else { return nil }
            add("conditions", .object(changes))
        case .job(let job):
            add("job", .text(job.key.name))
            add("urgency", .text(job.urgency.rawValue))
            if let requested = job.requested { add("requested", .text(clock.text(requested))) }
            if let deadline = job.deadline { add("deadline", .text(clock.text(deadline))) }
            add("cpu", .number(job.cpu))
            if job.seconds != job.cpu { add("seconds", .number(job.seconds)) }
            if job.written > 0 { add("written", .number(Double(job.written))) }
            if job.items > 0 { add("items", .number(Double(job.items))) }
            add("pages", .bool(job.isResumable))
            if job.isFresh { add("fresh", .bool(true)) }
            if !job.isCooperative { add("cooperative", .bool(false)) }
            if job.failures > 0 { add("fails", .number(Double(job.failures))) }
        case .personsWaiting(let count): add("waiting", .number(Double(count)))
        case .throttled(let bundle, let isThrottled):
            add(isThrottled ? "throttle" : "unthrottle", .text(ScheduledJob.Key.reindex(bundle: bundle).name))
        case .runNow(let key): add("run", .text(key.name))
        case .cancel(let key): add("cancel", .text(key.name))
        case .end: add("end", .bool(true))
        }
        start = start ?? event.moment
        return JSONValue.object(fields).json + "\n"
    }
}

extension Trace {
    /// The whole trace as the text of a trace file.
    public var jsonLines: String {
        var writer = TraceWriter(self)
        return events.reduce(into: writer.header(name: name, description: description)) { text, event in
            text += writer.line(event) ?? ""
        }
    }
}
