// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SchedulerSimulation
import TestSupport
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("The plot of a replay")
struct TimelinePlotTests {
    /// Parses XML and counts its elements; `nil` if the text is not well formed.
    private final class Elements: NSObject, XMLParserDelegate {
        var counts: [String: Int] = [:]
        var text = ""
        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String] = [:]
        ) { counts[name, default: 0] += 1 }
        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

        static func read(_ svg: String) -> Elements? {
            let (elements, parser) = (Elements(), XMLParser(data: Data(svg.utf8)))
            parser.delegate = elements
            return parser.parse() ? elements : nil
        }
    }
    private func plot(_ trace: Trace) -> String { TimelinePlot(SchedulerSimulator.replay(trace), of: trace).svg }

    @Test("The plot of each shipped trace is valid, small, and names its jobs and gates", arguments: ShippedTrace.all)
    func shipped(_ shipped: ShippedTrace) throws {
        let trace = try shipped.trace()
        let svg = plot(trace)
        let elements = try #require(Elements.read(svg))
        #expect(svg.utf8.count < 64 << 10)
        let replay = SchedulerSimulator.replay(trace)
        for job in replay.jobs { #expect(elements.text.contains(job.key.name)) }
        for gate in replay.gates { #expect(elements.text.contains(gate.kind.code)) }
        #expect(elements.text.contains(trace.name) && (elements.counts["rect"] ?? 0) > replay.jobs.count)
        #expect(svg.contains("prefers-color-scheme: dark"))
    }

    @Test("More throttled bundles than are drawn do not prevent the plot")
    func manyThrottles() throws {
        let lines = (0..<13_000).map { #"{"at": "9:00", "throttle": "org.example.b\#($0)"}"# }
        let text =
            [#"{"trace": 1, "name": "throttles", "date": "2026-03-02"}"#] + lines + [#"{"at": "10:00", "end": true}"#]
        #expect(plot(try Trace(jsonLines: Array(text.joined(separator: "\n").utf8))).utf8.count < 64 << 10)
    }

    @Test("An empty day, an instant and a trace without conditions have a plot too")
    func small() throws {
        for lines in [
            ["{\"at\": \"9:00\", \"end\": true}"],
            ["{\"at\": \"9:00\", \"conditions\": {\"hot\": true}}", "{\"at\": \"33:00\", \"end\": true}"],
            ["{\"at\": \"9:00\", \"job\": \"a\", \"cpu\": 0}", "{\"at\": \"9:00\", \"end\": true}"],
        ] {
            let text = ([TraceReaderTests.header] + lines).joined(separator: "\n")
            #expect(Elements.read(plot(try Trace(jsonLines: Array(text.utf8)))) != nil)
        }
    }

    @Test("Half a minute has seconds, a long name stays within the plot, and the mark of the end is explained")
    func short() throws {
        var trace = Trace(name: String(repeating: "x", count: 128), description: "", midnight: 0)
        trace.events = [Trace.Event(0, .job(TracedJob(key: .reindex(bundle: "a"), cpu: 5))), Trace.Event(30, .end)]
        let svg = plot(trace)
        #expect(svg.contains(">00:00:02</text>") && svg.contains(">00:00:30</text>"))
        #expect(svg.contains("xx…</text>") && svg.contains("<title>\(trace.name)</title>"))
        #expect(svg.contains(">all done</text>"))
        trace.events[1] = Trace.Event(3, .end)
        #expect(!plot(trace).contains("all done"))
    }

    @Test("Any name stays text", arguments: 1...10 as ClosedRange<UInt64>)
    func hostileNames(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let name = random.text(length: 40) + "<script>alert(1)</script>]]>&\"'"
        var trace = Trace(name: name, description: name + name, midnight: 0)
        trace.events = [
            Trace.Event(0, .job(TracedJob(key: .reindex(bundle: "a<b>&\"\u{1}\u{202E}" + name), cpu: 5))),
            Trace.Event(100, .throttled(bundle: name, true)), Trace.Event(200, .end),
        ]
        let svg = plot(trace)
        let elements = try #require(Elements.read(svg))
        #expect(elements.counts["script"] == nil && !svg.contains("<script"))
    }

    @Test("The size is bounded with any number of events")
    func bounded() throws {
        var random = SplitMix64(seed: 7)
        var trace = Trace(name: "busy", midnight: 0)
        for number in 0..<42 {
            var job = TracedJob(key: .reindex(bundle: "app.\(number)"), cpu: 3000)
            job.isResumable = true
            trace.events.append(Trace.Event(Double(number), .job(job)))
        }
        for moment in 0..<1500 {
            trace.events.append(
                Trace.Event(Double(100 + moment * 100), .conditions(.random(&random, at: Double(moment * 100)))))
        }
        let svg = plot(trace)
        #expect(Elements.read(svg) != nil && svg.utf8.count < 4 << 20)
        #expect(svg.contains("and 2 more jobs"))
    }

    @Test("Durations are short")
    func lengths() {
        let lengths = [0, 0.05, 0.5, 5, 9.94, 42, 60, 330, 3600, 11100, 86400, 187_200, .nan, -1]
        #expect(
            lengths.map(SpokenTime.words) == [
                "0 s", "0.05 s", "0.5 s", "5 s", "9.94 s", "42 s", "1 min", "5 min 30 s", "1 h", "3 h 05 min", "1 d",
                "2 d 4 h", "–",
                "–",
            ])
    }
}
