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
        abstract: "Replay a trace of a machine, and show the decisions of the scheduler.",
        discussion: """
            A trace records the conditions of a machine and the requested jobs. “searchlight record” writes a trace of this \
            machine, docs/TRACES.md describes the format, and --list shows the traces of this program. The scheduler is real; \
            the clock and the work are simulated: a day takes less than a second, and a trace always gives the same result.

            Prints the decisions as “searchlight log” does, in the time zone of the trace, and the result of each job.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: ArgumentHelp("The trace: a file, the name of a trace of this program, or - for standard input."),
        completion: .file(extensions: ["jsonl"]))
    var trace: String?
    @Flag(help: "List the traces of this program.")
    var list = false
    @Flag(name: .customLong("print"), help: "Print the trace, as a start for your own.")
    var printsTrace = false
    @Option(
        help: ArgumentHelp(
            "Draw a picture: FILE.svg, or FILE.png with rsvg-convert (Debian: librsvg2-bin).", valueName: "file"),
        completion: .file(extensions: ["svg", "png"]))
    var plot: String?
    @Option(
        help: ArgumentHelp(
            "Use the policy of this configuration file instead of the trace's policy.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var policy: String?
    @Flag(name: .shortAndLong, help: "Print the results without the decisions.")
    var quiet = false

    func validate() throws {
        guard (trace == nil) == list else {
            throw ValidationError(
                list
                    ? "--list takes no trace. Leave out the name."
                    : "Name a trace. To list the traces of this program, pass --list.")
        }
        if trace?.isEmpty == true { throw ValidationError("The name of the trace is empty. Name a trace or a file.") }
        if let plot, PlotFile.Format(plot) == nil {
            throw ValidationError("--plot needs a file name that ends in .svg or .png.")
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
    /// The outcome of the job, as lines of text.
    fileprivate var lines: [StyledText] {
        var state: StyledText =
            "\(bold: key.words): done \(done == requests ? counted(done, "time") : "\(done) of \(requests) times")"
        if isOwed { state = state + ", \(bad: "pending at the end")" }
        let wait = SpokenTime.words(longestWait)
        let began: StyledText =
            began == nil
            ? "; not started after \(wait)" : "; started after \(wait) and done after \(SpokenTime.words(longestTime))"
        var parts = [counted(slices, "slice") + (relaxedSlices > 0 ? " (\(relaxedSlices) bypassing gates)" : "")]
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
            (\(String(format: "%.1f", share)) % of the time), \(SpokenTime.words(runningWhileActive)) of that during user \
            activity. The user was active for \(SpokenTime.words(active)).
            """
        ]
        if returns > 0 {
            lines.append(
                """
                The user returned during work \(counted(returns, "time")); the work paused within \
                \(SpokenTime.words(longestToQuiet)).
                """)
        }
        lines.append("The scheduler woke up \(counted(ticks, "time")).")
        return lines
    }
}
