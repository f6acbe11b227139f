// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ConditionSensors
import Foundation
import IdleScheduling
import SearchlightEngine

struct WhyCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Say why an extension is, or is not, asked for its items right now, and what would have to change.",
        discussion: """
            Shows what the extension owes, the gates that are closed with what was measured, how much the job presses (its score; \
            1 is when it has waited as long as it can), what the extension has used of its quota, and what it did today. For one that \
            owes nothing: what a job would find. A few files that have just changed are told to it at once, past most gates but at a low \
            rate; more of them wait as a reindex does. docs/SCHEDULING.md explains each gate.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: ArgumentHelp(
            "The bundle identifier of an extension, files: before one, or purge-expired, optimize or vacuum.",
            valueName: "job"),
        completion: BundleNames.completion)
    var names: [String] = []
    @Flag(help: "Everything that is owed, and every extension that is installed.")
    var all = false
    @Flag(name: .shortAndLong, help: "Show the gates that are open, and by which sensors the machine is known, too.")
    var verbose = false

    func validate() throws {
        guard names.isEmpty == all else {
            throw ValidationError(
                all
                    ? "--all takes no names." : "Name an extension, or say --all. “searchlight extensions” lists them.")
        }
        for name in names { _ = try JobChoice.key(name) }
    }

    func perform() async throws {
        var keys = try names.map(JobChoice.key)
        let named = Set(keys)
        // For a bundle with changed files, both of its jobs are reported.
        keys += keys.compactMap { if case .reindex(let bundle) = $0 { .files(bundle: bundle) } else { nil } }
            .filter { !named.contains($0) }
        var report = try await options.withStore(.read) { store in
            if all {
                keys = try await store.perform(ExtensionsCall()).identifiers.map { .reindex(bundle: $0) }
            } else {
                try await store.checkKnown(keys)
            }
            return try await options.report(of: store, keys: all ? nil : keys, besides: keys)
        }
        if !all { report.jobs.removeAll { $0.decision == .nothingOwed && !named.contains($0.key) } }
        if options.json { return try Output.printJSON(JSONObject(report)) }
        try show(report)
    }

    private func show(_ report: ScheduleReport) throws {
        if !report.isScheduling {
            Output.complain(
                "Note: no service runs, so nothing is done in the background; this is what one would decide.")
        }
        if report.jobs.isEmpty { try Output.line("Nothing is owed, and no extension is installed.") }
        for (index, job) in report.jobs.enumerated() {
            if index > 0 { try Output.line("") }
            for line in job.lines(isVerbose: verbose) { try Output.line(line) }
            guard let bundle = job.key.bundle else { continue }
            if report.throttled.contains(bundle) { try Output.line("  throttled: searchlight throttle \(bundle) off") }
            if let today = report.days[bundle]?.last(where: { $0.day == report.today }) {
                try Output.line("  today: \(today.words)")
            }
        }
        guard verbose, let sensors = report.sensors else { return }
        try Output.line("")
        try Output.line("What the machine is known by:")
        for line in sensors.sensors { try Output.line("  \(line.sensor.rawValue): \(line.state.words)") }
    }
}

extension GlobalOptions {
    /// The report on some jobs, and on all other pending jobs.
    fileprivate func report(
        of store: any EngineClient, keys: [ScheduledJob.Key]?, besides: [ScheduledJob.Key]
    ) async throws -> ScheduleReport {
        let schedule = try schedule(of: store)
        var report = try await schedule.schedule(of: keys)
        guard keys == nil else { return report }
        let missing = besides.filter { key in !report.jobs.contains { $0.key == key } }
        if !missing.isEmpty {
            let others = try await schedule.schedule(of: Array(missing.prefix(1000)))
            report.jobs += others.jobs
            report.days.merge(others.days, uniquingKeysWith: { one, _ in one })
        }
        return report
    }
}

extension JobExplanation {
    /// The explanation as lines of text.
    func lines(isVerbose: Bool) -> [StyledText] {
        var lines: [StyledText] = [headline]
        if let job {
            let since =
                "owed since \(ScheduleTime.text(job.requested, from: moment)) (\(ScheduleTime.text(seconds: age)))"
            let score = String(format: "%.2f", self.score)
            let tolerated = tolerance > 0 ? " of \(ScheduleTime.text(seconds: tolerance)) that it can wait" : ""
            lines.append("  \(since)\(tolerated); score \(score)")
            if job.isFresh {
                lines.append("  fresh: so few files that they are told at once, slowly past the gates below")
            }
            if let deadline = job.deadline {
                lines.append("  items expire from \(ScheduleTime.text(deadline, from: moment)) on")
            }
        }
        let shown = isVerbose ? gates : gates.filter { $0.state == .closed || $0.state == .relaxed }
        let width = shown.map(\.gate.code.count).max() ?? 0
        for gate in shown { lines.append(gate.line(width, from: moment)) }
        if let quota {
            let window = ScheduleTime.text(seconds: quota.window)
            lines.append(
                """
                  quota: \(String(format: "%.1f", quota.used.cpu)) of \(String(format: "%.0f", quota.cpuLimit)) s of processor time, \
                \(sized(Int(clamping: quota.used.written))) of \(sized(Int(quota.writtenLimit))) written in \(window)
                """)
        }
        if let nextLook { lines.append("  next look: \(ScheduleTime.text(nextLook, from: moment))") }
        return lines
    }

    private var headline: StyledText {
        let closed = gates.filter { $0.state == .closed }.map(\.gate.words).joined(separator: "; ")
        let because = closed.isEmpty ? "" : ": \(closed)"
        return switch decision {
        case .running: "\(bold: key.words) runs\(isUserRequested ? ", because you asked for it" : "")"
        case .paused: "\(bold: key.words) is paused\(because)"
        case .stopping: "\(bold: key.words) is being stopped\(because)"
        case .waiting: "\(bold: key.words) waits\(because)"
        case .nothingOwed:
            closed.isEmpty
                ? "\(bold: key.words) owes nothing; a job would run now"
                : "\(bold: key.words) owes nothing; a job would wait\(because)"
        }
    }
}

extension JobExplanation.GateState {
    fileprivate func line(_ width: Int, from now: Double) -> StyledText {
        let name = gate.code.padding(toLength: max(width, 1), withPad: " ", startingAt: 0)
        var parts: [String] = []
        if let measured, let limit, let unit { parts.append("\(unit.text(measured)), changes at \(unit.text(limit))") }
        if let opens { parts.append("opens at \(ScheduleTime.text(opens, from: now))") }
        if let remedy { parts.append(remedy) }
        if let relaxes, state == .closed {
            parts.append("may be passed slowly from \(ScheduleTime.text(relaxes, from: now)) on")
        }
        let rest = parts.isEmpty ? "" : "  " + parts.joined(separator: "; ")
        return switch state {
        case .open: "  \(name)  \(good: "open")   \(rest)"
        case .closed: "  \(name)  \(bad: "closed") \(rest)"
        case .relaxed: "  \(name)  passed \(rest)"
        case .off: "  \(name)  \(dim: "off")    \(rest)"
        }
    }
}

extension JobExplanation.GateState.Unit {
    fileprivate func text(_ value: Double) -> String {
        switch self {
        case .share: String(format: "%.0f %%", value * 100)
        case .percent: String(format: "%.0f %%", value)
        case .seconds: ScheduleTime.text(seconds: value)
        case .bytes: sized(Int(min(max(value, 0), 1e18)))
        }
    }
}

extension MonitorReport.State {
    var words: String {
        switch self {
        case .inUse: "in use"
        case .absent(let why): "not there. \(why)"
        case .failed(let why): "does not work. \(why)"
        case .resting: "not asked now"
        }
    }
}

extension DayLedger.Entry {
    var words: String {
        var parts = [counted(runs, "run")]
        if usage != Usage() { parts.append(usage.words) }
        parts.append(counted(items, "item"))
        if failures > 0 { parts.append(counted(failures, "failure")) }
        return parts.joined(separator: ", ")
    }
}
