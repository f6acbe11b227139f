// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import IdleScheduling
import SchedulerSimulation
import SearchlightEngine

struct SimulateCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Replay a trace of a machine, and see what the scheduler would decide.",
        discussion: """
            A trace says what a machine was like and what was asked for; “searchlight record” writes one of this machine, \
            docs/TRACES.md describes the form, and some come with this program (--list). The scheduler is the real one, the clock \
            and the work are made up: a day takes less than a second, and the same trace always gives the same result.

            Printed are the decisions, as “searchlight log” prints them, in the time zone of the trace, and what came of each job.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: ArgumentHelp("The trace: a file, the name of one that comes with this program, or - for standard input."),
        completion: .file(extensions: ["jsonl"]))
    var trace: String?
    @Flag(help: "List the traces that come with this program.")
    var list = false
    @Flag(name: .customLong("print"), help: "Print the trace itself, to begin one of your own with.")
    var printsTrace = false
    @Option(
        help: ArgumentHelp(
            "Draw a picture of it: FILE.svg, or FILE.png with rsvg-convert (Debian: librsvg2-bin).", valueName: "file"),
        completion: .file(extensions: ["svg", "png"]))
    var plot: String?
    @Option(
        help: ArgumentHelp(
            "Decide by the rules of this configuration file rather than by the trace's own.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var policy: String?
    @Flag(name: .shortAndLong, help: "Print no decisions, only what came of it.")
    var quiet = false

    func validate() throws {
        guard (trace == nil) == list else {
            throw ValidationError(
                list ? "--list takes no trace." : "Name a trace, or see with --list which come with this program.")
        }
        if trace?.isEmpty == true { throw ValidationError("The name of the trace is empty. Name one, or a file.") }
        if let plot, PlotFile.Format(plot) == nil {
            throw ValidationError("--plot takes a file whose name ends in .svg or .png.")
        }
    }

    func perform() async throws {
        guard let name = trace else { return try showList() }
        if printsTrace, let shipped = ShippedTrace(name: name) { return try Output.document(shipped.jsonLines) }
        let trace = try TraceFile.trace(name, policy: policy)
        if printsTrace { return try Output.document(trace.jsonLines) }
        let replay = SchedulerSimulator.replay(trace)
        if let plot {
            try PlotFile(plot).write(TimelinePlot(replay, of: trace).svg)
        }
        if options.json { return try Output.printJSON(JSONObject(replay, showsJournal: !quiet)) }
        try show(replay, trace)
    }

    private func showList() throws {
        if options.json {
            return try Output.printJSON(
                ["traces": ShippedTrace.all.map { ["name": $0.name, "description": $0.summary] }])
        }
        for trace in ShippedTrace.all { try Output.line("\(bold: trace.name)\n    \(trace.summary)") }
    }

    private func show(_ replay: Replay, _ trace: Trace) throws {
        if !quiet {
            let zone = TimeZone(secondsFromGMT: trace.zone) ?? .gmt
            for entry in replay.journal { try Output.line(entry.line(in: zone)) }
            if !replay.journal.isEmpty { try Output.line("") }
        }
        for job in replay.jobs { for line in job.lines { try Output.line(line) } }
        for line in replay.totals.lines { try Output.line(line) }
    }
}

extension Replay.JobSummary {
    /// The outcome of the job as lines of text.
    fileprivate var lines: [StyledText] {
        var state: StyledText =
            "\(bold: key.words): done \(done == requests ? counted(done, "time") : "\(done) of \(requests) times")"
        if isOwed { state = state + ", \(bad: "owed at the end")" }
        let wait = SpokenTime.words(longestWait)
        let began: StyledText =
            began == nil
            ? "; not begun after \(wait)" : "; begun after \(wait) and done after \(SpokenTime.words(longestTime))"
        var parts = [counted(slices, "slice") + (relaxedSlices > 0 ? " (\(relaxedSlices) past gates)" : "")]
        for (count, what) in [(pauses, "pause"), (stops, "stop"), (failures, "failure")] where count > 0 {
            parts.append(counted(count, what))
        }
        parts.append("at most \(SpokenTime.words(longestRest)) without running")
        parts.append(usage.words)
        if items > 0 { parts.append(counted(items, "item")) }
        return [state + began + (requests > 1 ? " at most" : ""), "    \(dim: parts.joined(separator: ", "))"]
    }
}

extension Replay.Totals {
    fileprivate var lines: [StyledText] {
        let share = running / max(1, seconds) * 100
        var lines: [StyledText] = [
            """
            In \(SpokenTime.words(seconds)) work ran for \(SpokenTime.words(running)) \
            (\(String(format: "%.1f", share)) % of the time), \(SpokenTime.words(runningWhileActive)) of that while somebody was \
            active, who was so for \(SpokenTime.words(active)).
            """
        ]
        if returns > 0 {
            lines.append(
                """
                Somebody came back while something ran \(counted(returns, "time")); it was quiet within \
                \(SpokenTime.words(longestToQuiet)).
                """)
        }
        lines.append("The scheduler had itself woken \(counted(ticks, "time")).")
        return lines
    }
}
