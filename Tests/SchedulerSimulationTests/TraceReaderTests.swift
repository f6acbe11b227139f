// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import SchedulerSimulation
import TestSupport
import Testing

@Suite("Traces as files")
struct TraceReaderTests {
    @Test("A writer reports when a trace is too long to be read")
    func endlessRecording() throws {
        let empty = try Trace(jsonLines: Array((Self.header + "\n{\"at\": \"9:00\", \"end\": true}").utf8))
        var writer = TraceWriter(empty)
        let start = empty.start
        #expect(writer.hasRoom(at: start + 1e9))
        var text = writer.header(name: "long", description: "")
        text += writer.line(Trace.Event(start, .personsWaiting(1))) ?? ""
        let last = start + Trace.longest - 2
        #expect(writer.hasRoom(at: last) && !writer.hasRoom(at: start + Trace.longest))
        text += writer.line(Trace.Event(last, .end)) ?? ""
        #expect(try Trace(jsonLines: Array(text.utf8)).events.count == 2)
    }

    @Test("Names of programs are recorded so that they are readable, with any content")
    func hostileNames() throws {
        let texts = [
            "e" + String(repeating: "\u{301}", count: 20_000), String(repeating: "\"", count: 300),
            String(repeating: "\u{1}", count: 250), String(repeating: "\u{1F469}\u{200D}", count: 200),
        ]
        var conditions = Conditions()
        conditions.inhibitors = (0..<20).map { index in
            Conditions.Inhibitor(who: "\(index)" + texts[index % 4], why: texts[(index + 1) % 4], isOwn: false)
        }
        var trace = try Trace(jsonLines: Array((Self.header + "\n{\"at\": \"9:00\", \"end\": true}").utf8))
        let kept = conditions.settled(since: Conditions())
        trace.events.insert(Trace.Event(trace.start, .conditions(kept)), at: 0)
        let again = try Trace(jsonLines: Array(trace.jsonLines.utf8))
        #expect(again.events.first?.happening == .conditions(kept) && kept.inhibitors.count == 16)
    }

    static let header = #"{"trace": 1, "name": "t", "date": "2026-03-02", "zone": "+01:00"}"#
    /// 2026-03-02 00:00 +01:00.
    static let midnight = 794_098_800.0

    private func read(_ lines: String...) throws(TraceError) -> Trace {
        try Trace(jsonLines: Array(([Self.header] + lines).joined(separator: "\n").utf8))
    }
    private func problem(_ lines: String...) -> TraceError? {
        do throws(TraceError) {
            _ = try Trace(jsonLines: Array(([Self.header] + lines).joined(separator: "\n").utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test("Clock times count from midnight of the first day in its zone")
    func times() throws {
        let trace = try read(
            #"{"at": "-1:30", "waiting": 1}"#, #"{"at": "9:05", "waiting": 0}"#, "",
            #"{"at": "09:05:30.25", "waiting": 2}"#, #"{"at": "26:10", "end": true}"#)
        #expect(trace.midnight == Self.midnight && trace.zone == 3600)
        #expect(trace.events.map { $0.moment - Self.midnight } == [-5400, 32700, 32730.25, 94200])
        #expect(trace.clock.timeOfDay(trace.end) == "02:10:00 +1")
    }

    @Test(
        "Days are calendar days",
        arguments: ["2001-01-01", "2024-02-29", "2026-12-31", "2100-03-01", "2200-12-31"])
    func days(date: String) throws {
        let header = #"{"trace": 1, "name": "t", "date": "\#(date)", "zone": "-03:30"}"#
        let trace = try Trace(jsonLines: Array((header + "\n{\"at\": \"0:00\", \"end\": true}").utf8))
        #expect(trace.jsonLines.contains(#""date":"\#(date)","zone":"-03:30""#))
    }

    @Test("A line has only the changed conditions; null makes one unknown")
    func patches() throws {
        let trace = try read(
            #"{"at": "9:00", "conditions": {"presence": "active", "power": "battery", "percent": 80, "load": 0.5}}"#,
            #"{"at": "9:01", "conditions": {"presence": "away", "load": null}}"#,
            #"{"at": "9:02", "conditions": {"asleep": true, "presence": {"away": "8:00"}}}"#,
            #"{"at": "9:03", "conditions": {"asleep": false, "power": "mains"}}"#)
        var expected = Conditions()
        expected.presence = .active
        expected.power = .init(isOnBattery: true, percent: 80)
        expected.otherLoad = 0.5
        let states = trace.events.map { event -> Conditions? in
            if case .conditions(let conditions) = event.happening { conditions } else { nil }
        }
        #expect(states[0] == expected)
        expected.presence = .away(since: Self.midnight + 9 * 3600 + 60)
        expected.otherLoad = nil
        #expect(states[1] == expected)
        expected.presence = .away(since: Self.midnight + 8 * 3600)
        expected.isAsleep = true
        #expect(states[2] == expected)
        expected.isAsleep = false
        expected.resumed = Self.midnight + 9 * 3600 + 180
        expected.power = .init(isOnBattery: false, percent: 80)
        #expect(states[3] == expected)
    }

    @Test("The header changes the rules like the configuration file")
    func policy() throws {
        let header =
            #"{"trace": 1, "name": "t", "date": "2026-03-02", "policy": {"slice.full": 10, "gates": {"hot": false}}}"#
        let trace = try Trace(jsonLines: Array((header + "\n{\"at\": \"0:00\", \"end\": true}").utf8))
        #expect(trace.policy.sliceFull == 10 && trace.policy.switchedOff == [.hot])
        #expect(try Trace(jsonLines: Array(trace.jsonLines.utf8)) == trace)
    }

    @Test(
        "An error is reported with its line and the allowed values",
        arguments: [
            (#"{"at": "9:00", "presense": 1}"#, "no event key"),
            (#"{"at": "9:00", "end": true, "waiting": 1}"#, "several event keys"),
            (#"{"at": "9:00", "waiting": 1, "note": "x"}"#, "“note” is unknown here. Use one of at, waiting."),
            (#"{"at": "9:00", "conditions": {"presense": 1}}"#, "“conditions.presense” is unknown here"),
            (
                #"{"at": "9:00", "conditions": {"load": 1.5}}"#,
                "“conditions.load” is 1.5. Set it to a number from 0 to 1"
            ),
            (#"{"at": "9:00", "conditions": {"percent": 5}}"#, "Add \"power\""),
            (#"{"at": "9:00", "conditions": {"presence": "here"}}"#, "\"active\", \"away\""),
            (#"{"at": "9:00", "conditions": {"inhibitors": [{"why": "x"}]}}"#, "the name of a program"),
            (#"{"at": "9", "waiting": 1}"#, "“at” is “9”. Set it to a clock time"),
            (#"{"at": 9, "waiting": 1}"#, "“at” is 9"), (#"{"waiting": 1}"#, "“at” is missing"),
            (#"{"at": "9:60", "waiting": 1}"#, "a clock time"), (#"{"at": "8:00", "waiting": 1}"#, "is before 09:00"),
            (#"{"at": "800:00", "waiting": 1}"#, "31 days"),
            (#"{"at": "9:00", "waiting": 1.5}"#, "a whole number"),
            (#"{"at": "9:00", "waiting": 1, "waiting": 2}"#, "the key “waiting” twice"),
            (#"{"at": "9:00", "job": "", "cpu": 1}"#, "the identifier of a bundle"),
            (#"{"at": "9:00", "job": "a"}"#, "“cpu” is missing"),
            (#"{"at": "9:00", "job": "a", "cpu": -1}"#, "“cpu” is -1"),
            (
                #"{"at": "9:00", "job": "a", "cpu": 1, "urgency": "soon"}"#,
                "user-waiting, freshness, expiry, maintenance"
            ),
            (#"{"at": "9:00", "job": "a", "cpu": 1, "requested": "10:00"}"#, "not after the line's"),
            (#"{"at": "9:00", "run": "b"}"#, "there is no earlier job “reindex:b”. There are no earlier jobs."),
            (#"{"at": "9:00", "throttle": "vacuum"}"#, "the identifier of a bundle"),
            (#"{"at": "9:00", "job": "a", "cpu": 1, "fresh": true}"#, "files:BUNDLE"),
            (#"{"at": "9:00", "end": false}"#, "Set it to true"), ("[1]", "a JSON object"), ("{", "not valid JSON"),
            (#"{"at": "9:00", "waiting": 1} x"#, "text after the value"),
            (#"{"at": "9:00", "waiting": 1e999}"#, "out of range"),
            (#"{"at": "\u12"}"#, "four digits"), (#"{"at": "\ud800"}"#, "unpaired surrogate"),
            ("{\"at\": \"\u{1}\"}", "a control character"), (#"{"a": {"a": {"a": {"a": {"a": 1}}}}}"#, "levels"),
        ])
    func wrong(line: String, message: String) throws {
        let error = try #require(problem(#"{"at": "9:00", "waiting": 0}"#, line))
        #expect(error.line == 3 && error.description.contains(message), "\(error)")
    }

    @Test("Without a header, or with an unknown version, nothing is read")
    func headers() {
        let cases = [
            ("", "it is empty"), ("\n\n", "it is empty"), (Self.header, "it has no events"),
            (#"{"at": "9:00", "end": true}"#, "is not a header"), (#"{"trace": 2}"#, "“trace” is 2. Set it to 1"),
            (#"{"trace": 1, "name": "t"}"#, "“date” and “zone”"),
            (#"{"trace": 1, "name": "t", "date": "2026-02-29"}"#, "“date” and “zone”"),
            (#"{"trace": 1, "name": "t", "date": "2026-02-28", "zone": "CET"}"#, "“date” and “zone”"),
            (#"{"trace": 1, "name": "t", "date": "2026-02-28", "policy": {"slice.fool": 1}}"#, "slice.fool"),
            (#"{"trace": 1, "name": "t", "date": "2026-02-28", "colour": 1}"#, "“colour” is unknown"),
        ]
        for (text, message) in cases {
            #expect { try Trace(jsonLines: Array(text.utf8)) } throws: { "\($0)".contains(message) }
        }
    }

    @Test("Nothing follows the end")
    func afterEnd() {
        let error = problem(#"{"at": "9:00", "end": true}"#, #"{"at": "9:01", "waiting": 1}"#)
        #expect(error?.line == 3 && error?.problem.contains("after the end of the trace") == true)
    }

    @Test("Too large input is rejected: a file, a line, jobs")
    func tooMuch() {
        let file = [UInt8](repeating: 0x20, count: Trace.maximumBytes + 1)
        #expect { try Trace(jsonLines: file) } throws: { "\($0)".contains("16 MiB") }
        let long = #"{"at": "9:00", "throttle": ""# + String(repeating: "x", count: Trace.maximumLineBytes) + "\"}"
        #expect(problem(long)?.problem.contains("the limit is 16384") == true)
        let jobs = (0...Trace.maximumJobs).map { #"{"at": "9:00", "job": "a\#($0)", "cpu": 1}"# }
        #expect(problem(jobs.joined(separator: "\n"))?.line == Trace.maximumJobs + 2)
    }

    @Test(
        "A damaged trace is read or rejected, and a read one is written unchanged",
        arguments: 1...12 as ClosedRange<UInt64>)
    func fuzz(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let shipped = random.pick(ShippedTrace.all)
        var readable = 0
        for _ in 0..<40 {
            var bytes = Array(shipped.jsonLines.utf8)
            for _ in 0..<random.below(4) {
                let place = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[place] = UInt8(random.below(256))
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(random.pick(Array("0123456789{}[]\":,.-e\\ut\n".utf8)), at: place)
                default: bytes.removeSubrange(place..<min(bytes.count, place + random.below(40)))
                }
            }
            guard let trace = try? Trace(jsonLines: bytes) else { continue }
            readable += 1
            let again = try Trace(jsonLines: Array(trace.jsonLines.utf8))
            #expect(again.jsonLines == trace.jsonLines, "seed \(seed)")
            #expect(again.end == trace.end && again.policy == trace.policy)
            let replay = SchedulerSimulator.replay(trace)
            #expect(replay.totals.running <= replay.totals.seconds + 1e-3, "seed \(seed)")
        }
        #expect(readable > 0)
    }

    /// Returns random conditions, without times that are too old to be written as a clock time.
    private func conditions(_ random: inout SplitMix64, at now: Double) -> Conditions {
        var conditions = Conditions.random(&random, at: now)
        if conditions.presence == Conditions.idle.presence { conditions.presence = .away(since: now - 500) }
        return conditions
    }

    @Test("Random events are unchanged after writing and reading", arguments: 1...20 as ClosedRange<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var trace = Trace(name: random.text(length: 8), description: "d\n\"", midnight: Self.midnight, zone: 3600)
        var now = Self.midnight
        for number in 0..<200 {
            now += Double(random.below(3_600_000)) / 1000
            let bundle = "app.\(number % 7)"
            let happening: Trace.Happening =
                switch number < 7 ? 1 : random.below(6) {
                case 0: .personsWaiting(random.below(3))
                case 1:
                    .job(
                        {
                            let key =
                                number < 7 || random.below(2) == 0
                                ? ScheduledJob.Key.reindex(bundle: bundle) : .files(bundle: bundle)
                            var job = TracedJob(key: key, cpu: Double(random.below(1000)) / 8)
                            if case .files = key { job.isFresh = random.below(2) == 0 }
                            job.urgency = random.pick(Urgency.allCases)
                            job.seconds = Double(random.below(1000)) / 4
                            (job.written, job.items) = (UInt64(random.below(1 << 40)), random.below(10000))
                            (job.isResumable, job.isCooperative) = (random.below(2) == 0, random.below(2) == 0)
                            job.failures = random.below(3)
                            return job
                        }())
                case 2: .throttled(bundle: bundle, random.below(2) == 0)
                case 3: .runNow(.reindex(bundle: bundle))
                case 4: .cancel(.reindex(bundle: bundle))
                default: .conditions(conditions(&random, at: now.rounded()))
                }
            trace.events.append(Trace.Event(((now - Self.midnight) * 1000).rounded() / 1000 + Self.midnight, happening))
        }
        trace.events.append(Trace.Event(trace.end, .end))
        let again = try Trace(jsonLines: Array(trace.jsonLines.utf8))
        #expect(again.name == trace.name && again.description == trace.description)
        // Unchanged conditions are not written.
        var last: Trace.Happening?
        let told = trace.events.filter { event in
            guard case .conditions = event.happening else { return true }
            defer { last = event.happening }
            return event.happening != last ?? .conditions(Conditions())
        }
        #expect(again.events == told)
    }
}
