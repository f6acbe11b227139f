// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// A plot of a replay: closed gates at the top, jobs below, and hours along the bottom.
///
/// It is readable on light and dark backgrounds. Each mark has a tooltip.
///
/// The size is bounded: it draws at most ``maximumJobs`` job rows, and merges close marks until at
/// most ``maximumMarks`` remain.
public struct TimelinePlot {
    private let trace: Trace
    private let replay: Replay
    private let clock: TraceClock

    /// The maximum number of jobs drawn. The plot states how many more there are.
    public static let maximumJobs = 40
    /// The maximum number of marks.
    public static let maximumMarks = 12_000

    /// Creates a plot of a trace's replay.
    public init(_ replay: Replay, of trace: Trace) {
        (self.replay, self.trace) = (replay, trace)
        clock = trace.clock
    }

    // MARK: Dimensions

    static let width = 1200.0
    static let left = 200.0
    static let plotWidth = width - left - 32
    private static let gateRow = 20.0
    private static let jobRow = 32.0
    /// The number of characters of a name that fit, unless most of them are wide.
    private static let longestTitle = 84

    private var length: Double { max(1, replay.end - replay.start) }
    private func x(_ moment: Double) -> Double {
        Self.left + ((moment - replay.start) / length).clamped(to: 0...1) * Self.plotWidth
    }

    /// The gates that were closed at any time, in declaration order.
    private var gateRows: [(name: String, code: String, marks: [Replay.Span<Gate>])] {
        var rows = Gate.allCases.compactMap { gate -> (name: String, code: String, marks: [Replay.Span<Gate>])? in
            let spans = replay.gates.filter { $0.kind == gate }
            return spans.isEmpty ? nil : (gate.code, gate.words, spans)
        }
        if !replay.personsWaiting.isEmpty {
            rows.insert((Gate.personWaiting.code, Gate.personWaiting.words, replay.personsWaiting), at: 0)
        }
        return rows
    }

    private var jobs: ArraySlice<Replay.JobSummary> { replay.jobs.prefix(Self.maximumJobs) }

    /// Returns the gap, in seconds, below which marks are merged. It starts at 1.5 pixels and
    /// doubles until there are few enough marks.
    private func gap() -> Double {
        var gap = 1.5 / Self.plotWidth * length
        // Throttled bundles that are not drawn are excluded, because a larger gap cannot merge
        // them.
        let bundles = Set(jobs.compactMap(\.key.bundle))
        let throttled = replay.throttled.filter { bundles.contains($0.kind) }
        func count() -> Int {
            jobs.reduce(0) { $0 + visible($1).marks(gap: gap).count }
                + gateRows.reduce(0) { $0 + $1.marks.marks(gap: gap).count } + throttled.marks(gap: gap).count
        }
        while count() > Self.maximumMarks { gap *= 2 }
        return gap
    }

    /// Returns the drawn spans of a job, except `quieting` spans narrower than a pixel. Merged
    /// spans of this kind would look like hours.
    private func visible(_ job: Replay.JobSummary) -> [Replay.Span<Replay.Activity>] {
        job.spans.filter { $0.kind != .quieting || $0.length / length * Self.plotWidth >= 1 }
    }

    // MARK: Drawing

    /// The plot as SVG.
    public var svg: String {
        let (rows, gap) = (gateRows, gap())
        let description = Self.lines(trace.description, characters: 150, most: 3)
        let top = 58.0 + Double(description.count) * 18
        let gatesHeight = rows.isEmpty ? 0 : Double(rows.count) * Self.gateRow + 34
        let jobsTop = top + gatesHeight + 26
        let bottom = jobsTop + Double(max(1, jobs.count)) * Self.jobRow + 6
        let hidden = replay.jobs.count - jobs.count
        let height = bottom + 88 + (hidden > 0 ? 18 : 0)
        var svg = SVGWriter(width: Self.width, height: height, title: trace.name, style: PlotStyle.css)
        svg.add(PlotStyle.definitions)
        svg.rectangle(0, 0, Self.width, height, "ground")
        let name = trace.name.count > Self.longestTitle ? trace.name.prefix(Self.longestTitle - 1) + "…" : trace.name
        svg.label(24, 36, name, "title")
        for (index, line) in description.enumerated() { svg.label(24, 60 + Double(index) * 18, line, "text") }
        drawHours(&svg, top: rows.isEmpty ? jobsTop : top + 24, bottom: bottom)
        drawGates(&svg, rows, top: top, gap: gap)
        drawJobs(&svg, top: jobsTop, bottom: bottom, gap: gap)
        if hidden > 0 { svg.label(24, bottom + 42, "… and \(hidden) more jobs", "text") }
        drawLegend(&svg, y: height - 30)
        svg.end()
        return svg.text
    }

    private func drawHours(_ svg: inout SVGWriter, top: Double, bottom: Double) {
        let minutes = [1, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880].map { Double($0) * 60 }
        // For traces shorter than two minutes, steps of whole minutes would be too coarse.
        let step = ((length < 120 ? [1, 2, 5, 10, 15] : []) + minutes).first { length / $0 <= 16 } ?? 4 * 86400
        var moment = clock.midnight + ((replay.start - clock.midnight) / step).rounded(.up) * step
        while moment <= replay.end {
            let place = x(moment)
            svg.path("M\(SVGWriter.plain(place)) \(SVGWriter.plain(top))V\(SVGWriter.plain(bottom))", "grid")
            let time = clock.timeOfDay(moment)
            let isMidnight = time.hasPrefix("00:00:00") && length > 86400
            let day = TraceClock(midnight: moment, zone: clock.zone).date.dropFirst(5)
            let hour = time.prefix(step < 60 ? 8 : 5)
            svg.label(place, bottom + 18, isMidnight ? "\(day)" : "\(hour)", isMidnight ? "day" : "hour")
            moment += step
        }
    }

    private func drawGates(
        _ svg: inout SVGWriter, _ rows: [(name: String, code: String, marks: [Replay.Span<Gate>])], top: Double,
        gap: Double
    ) {
        guard !rows.isEmpty else { return }
        svg.label(24, top + 16, "Closed gates", "heading")
        for (index, row) in rows.enumerated() {
            let y = top + 26 + Double(index) * Self.gateRow
            svg.label(Self.left - 12, y + 12, row.name, "name", title: row.code)
            svg.rectangle(Self.left, y + 2, Self.plotWidth, 14, "lane", radius: 3)
            for mark in row.marks.marks(gap: gap) {
                bar(&svg, mark, y + 2, 14, PlotStyle.kind(of: mark.kind), 3, "\(span(mark)): \(mark.kind.words)")
            }
        }
    }

    private func drawJobs(_ svg: inout SVGWriter, top: Double, bottom: Double, gap: Double) {
        svg.label(24, top - 8, "Work", "heading")
        // Shades periods of user activity across all rows, so that work can be compared with them.
        for mark in replay.gates.filter({ $0.kind == .userActive }).marks(gap: gap) {
            let start = x(mark.start)
            svg.rectangle(start, top, max(0.5, x(mark.end) - start), bottom - top - 6, "presence")
        }
        if jobs.isEmpty { svg.label(Self.left + 8, top + 20, "No job arrived.", "text") }
        for (index, job) in jobs.enumerated() {
            let y = top + Double(index) * Self.jobRow
            svg.label(Self.left - 12, y + 20, Self.cut(job.key.shortName, 28), "name", title: job.key.name)
            for mark in replay.throttled.filter({ $0.kind == job.key.bundle }).marks(gap: gap) {
                bar(&svg, mark, y + 3, 26, "throttled", 2, "\(span(mark)): throttled by the user")
            }
            let marks = visible(job).marks(gap: gap)
            for activity in [Replay.Activity.waiting, .paused, .relaxed, .fresh, .running, .wanted, .quieting] {
                for mark in marks where mark.kind == activity {
                    let (height, kind) = PlotStyle.bar(of: activity)
                    bar(&svg, mark, y + 16 - height / 2, height, kind, height > 4 ? 2 : 0, title(mark))
                }
            }
            if let finished = job.finished, !job.isOwed {
                let (x, y) = (SVGWriter.plain(x(finished) + 3), SVGWriter.plain(y + 16))
                let took = SpokenTime.words(job.longestTime)
                svg.path(
                    "M\(x) \(y)l3.5 3.5l6 -7.5", "done",
                    title: "\(clock.timeOfDay(finished)): done, at most \(took) after the request")
            }
        }
    }

    private func bar<Kind>(
        _ svg: inout SVGWriter, _ mark: PlotMark<Kind>, _ y: Double, _ height: Double, _ kind: StaticString,
        _ radius: Double, _ title: String
    ) {
        let start = x(mark.start)
        svg.rectangle(
            start, y, max(1, x(mark.end) - start), height, kind, radius: min(radius, max(0, (x(mark.end) - start) / 3)),
            title: title)
    }

    private func span<Kind>(_ mark: PlotMark<Kind>) -> String {
        let times = "\(clock.timeOfDay(mark.start)) – \(clock.timeOfDay(mark.end))"
        guard mark.count > 1 else { return "\(times) (\(SpokenTime.words(mark.seconds)))" }
        return "\(times) (\(mark.count) times, \(SpokenTime.words(mark.seconds)) together)"
    }

    private func title(_ mark: PlotMark<Replay.Activity>) -> String {
        let reasons = mark.gates.map(\.words).joined(separator: "; ")
        switch mark.kind {
        case .waiting: return "\(span(mark)): waits"
        case .paused: return "\(span(mark)): paused" + (reasons.isEmpty ? "" : ": \(reasons)")
        case .running: return "\(span(mark)): runs"
        case .relaxed: return "\(span(mark)): runs at low rate, although \(reasons)"
        case .fresh:
            return "\(span(mark)): runs at once: changed files" + (reasons.isEmpty ? "" : ", although \(reasons)")
        case .wanted: return "\(span(mark)): runs: requested by the user"
        case .quieting: return "\(span(mark)): is pausing"
        }
    }

    private func drawLegend(_ svg: inout SVGWriter, y: Double) {
        svg.path("M24 \(SVGWriter.plain(y - 22))H\(SVGWriter.plain(Self.width - 24))", "grid")
        var place = 24.0
        let shown = jobs.flatMap { visible($0).map(\.kind) }
        for entry in PlotStyle.legend where entry.activity.map(shown.contains) ?? isShown(entry.gate) {
            svg.rectangle(place, y - entry.height / 2, 22, entry.height, entry.kind, radius: entry.height > 4 ? 2 : 0)
            svg.label(place + 29, y + 4, entry.words, "text")
            place += 29 + Double(entry.words.count) * 6.3 + 24
        }
        if jobs.contains(where: { $0.finished != nil && !$0.isOwed }) {
            svg.path("M\(SVGWriter.plain(place + 2)) \(SVGWriter.plain(y))l3.5 3.5l6 -7.5", "done")
            svg.label(place + 19, y + 4, "all done", "text")
        }
    }

    /// Returns `true` if the plot contains marks of a gate that is shown in job rows.
    private func isShown(_ gate: Gate?) -> Bool {
        gate == .throttled ? !replay.throttled.isEmpty : replay.gates.contains { $0.kind == gate }
    }

    // MARK: Texts

    private static func cut(_ text: String, _ characters: Int) -> String {
        text.count <= characters ? text : "…" + text.suffix(characters - 1)
    }

    /// Wraps a text into lines of approximately `characters` characters.
    private static func lines(_ text: String, characters: Int, most: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(whereSeparator: \.isWhitespace) {
            if let last = lines.last, last.count + word.count < characters {
                lines[lines.count - 1] += " " + word
            } else if lines.count == most {
                lines[most - 1] += " …"
                break
            } else {
                lines.append(String(word.prefix(characters)))
            }
        }
        return lines
    }
}

extension ScheduledJob.Key {
    /// The bundle or task without the prefix, except for file deliveries and encrypted items.
    fileprivate var shortName: String {
        switch self {
        case .reindex(let bundle): bundle
        case .files, .encrypted: name
        case .maintenance(let task): task.rawValue
        }
    }
}
