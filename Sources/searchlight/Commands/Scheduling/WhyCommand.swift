// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ConditionSensors
import Foundation
import IdleScheduling
import Previews
import SearchlightEngine

struct WhyCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain why a job of an extension runs or waits, and what would change that.",
        discussion: """
            Shows the pending jobs of the extension, the closed gates with their measurements, the urgency of each \
            job (its score; 1 means that it has waited for its whole tolerance), the used quota and today's work. \
            Without a pending job, shows the gates that a new job would meet. A few changed files bypass most gates \
            at a low rate; many changed files wait like a reindex. docs/SCHEDULING.md explains each gate.

            Without a name, explains every pending job.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: ArgumentHelp(
            "The bundle identifier of an extension, files:BUNDLE, encrypted:BUNDLE, or purge-expired, optimize, vacuum or embed.",
            valueName: "job"),
        completion: BundleNames.completion)
    var names: [String] = []
    @Flag(help: "Show every pending job and every installed extension.")
    var all = false
    @Flag(name: .shortAndLong, help: "Show open gates and the state of the sensors, too.")
    var verbose = false

    func validate() throws {
        guard names.isEmpty || !all else { throw ValidationError("--all takes no names. Leave them out.") }
        for name in names { _ = try JobChoice.key(name) }
    }

    func perform() async throws {
        var keys = try names.map(JobChoice.key)
        let named = Set(keys)
        // Reports all pending jobs of a bundle.
        keys += keys.flatMap(\.others).filter { !named.contains($0) }
        var (report, apps) = try await options.withStore(.read) { store in
            if all {
                keys = try await store.perform(ExtensionsCall()).identifiers.map { .reindex(bundle: $0) }
            } else {
                try await store.checkKnown(keys)
            }
            let report = try await options.report(of: store, keys: names.isEmpty ? nil : keys, besides: keys)
            let bundles = options.json ? [] : report.jobs.compactMap(\.key.bundle)
            return (report, bundles.isEmpty ? [:] : try await store.perform(DisplayNamesCall(of: bundles)))
        }
        if !names.isEmpty { report.jobs.removeAll { $0.decision == .nothingOwed && !named.contains($0.key) } }
        if options.json { return try Output.printJSON(JSONObject(report)) }
        try show(report, apps)
    }

    private func show(_ report: ScheduleReport, _ apps: [String: String]) throws {
        if !report.isScheduling {
            Output.complain(
                "Note: no service runs, so no background work is done. A service would decide as follows.")
        }
        if report.jobs.isEmpty {
            try Output.line(
                all
                    ? "No jobs are pending, and no extension is installed."
                    : """
                    No jobs are pending. To see whether a job of an extension would run: searchlight why BUNDLE, or --all \
                    for every extension. For the latest decisions: searchlight log
                    """)
        }
        for (index, job) in report.jobs.enumerated() {
            if index > 0 { try Output.line("") }
            let name = job.key.bundle.flatMap { apps[$0] }.flatMap { $0 == job.key.bundle ? nil : $0 }
            for line in job.lines(app: name, isVerbose: verbose) { try Output.line(line) }
            guard let bundle = job.key.bundle else { continue }
            if report.throttled.contains(bundle) { try Output.line("  throttled: searchlight throttle \(bundle) off") }
            if let today = report.days[bundle]?.last(where: { $0.day == report.today }) {
                try Output.line("  today: \(today.words)")
            }
        }
        guard verbose, let sensors = report.sensors else { return }
        try Output.line("")
        try Output.line("Sensors:")
        for line in sensors.sensors { try Output.line("  \(line.sensor.rawValue): \(line.state.words)") }
    }
}

extension GlobalOptions {
    /// Returns the report on some jobs, and on all other pending jobs.
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
    /// Returns the explanation as lines of text.
    ///
    /// - Parameter app: The user-visible name of the app, if it differs from the bundle identifier.
    func lines(app: String?, isVerbose: Bool) -> [StyledText] {
        var lines: [StyledText] = [headline]
        if let app { lines.append("  app: \(DisplayText.line(app))") }
        if let job {
            let since =
                "pending since \(ScheduleTime.text(job.requested, from: moment)) (\(ScheduleTime.text(seconds: age)))"
            let score = String(format: "%.2f", self.score)
            let tolerated = tolerance > 0 ? " of its tolerance of \(ScheduleTime.text(seconds: tolerance))" : ""
            lines.append("  \(since)\(tolerated); score \(score)")
            if job.isFresh {
                lines.append("  fresh: only a few files, so the job bypasses the gates below at low rate")
            }
            if let deadline = job.deadline {
                lines.append("  items expire after \(ScheduleTime.text(deadline, from: moment))")
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
        if let nextLook { lines.append("  next check: \(ScheduleTime.text(nextLook, from: moment))") }
        return lines
    }

    private var headline: StyledText {
        let closed = gates.filter { $0.state == .closed }.map(\.gate.words).joined(separator: "; ")
        let because = closed.isEmpty ? "" : ": \(closed)"
        return switch decision {
        case .running: "\(bold: key.words) runs\(isUserRequested ? ", because you asked for it" : "")"
        case .paused: "\(bold: key.words) is paused\(because)"
        case .stopping: "\(bold: key.words) is stopping\(because)"
        case .waiting: "\(bold: key.words) waits\(because)"
        case .nothingOwed:
            closed.isEmpty
                ? "\(bold: key.words) is not pending; a job would run now"
                : "\(bold: key.words) is not pending; a job would wait\(because)"
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
            parts.append("bypassed at low rate from \(ScheduleTime.text(relaxes, from: now))")
        }
        let rest = parts.isEmpty ? "" : "  " + parts.joined(separator: "; ")
        return switch state {
        case .open: "  \(name)  \(good: "open")      \(rest)"
        case .closed: "  \(name)  \(bad: "closed")    \(rest)"
        case .relaxed: "  \(name)  throttled \(rest)"
        case .off: "  \(name)  \(dim: "off")       \(rest)"
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
        case .absent(let why): "missing. \(why)"
        case .failed(let why): "does not work. \(why)"
        case .resting: "paused"
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
