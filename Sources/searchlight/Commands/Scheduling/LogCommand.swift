// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import IdleScheduling
import SearchlightEngine

struct LogCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show the decisions of the scheduler: jobs that ran or waited, and the reasons.",
        discussion: """
            The oldest decision comes first. Times are in this machine's time zone. --json prints each decision as a line of \
            JSON, as in decisions.log of the store, with times in UTC.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: ArgumentHelp(
            "Show only this extension or job: BUNDLE, files:BUNDLE, encrypted:BUNDLE, or a maintenance task.",
            valueName: "bundle"),
        completion: BundleNames.completion)
    var name: String?
    @Option(
        name: [.customShort("n"), .long], parsing: .unconditional,
        help: "Show at most this many decisions, 0 to 100000.")
    var lines = 50
    @Flag(name: .shortAndLong, help: "Keep running, and show new decisions.")
    var follow = false

    /// A limit that exceeds the number of lines that the log files can contain.
    private static let maximumLines = 100_000
    /// The interval at which new decisions are polled.
    private static let interval = Duration.milliseconds(250)

    func validate() throws {
        guard (0...Self.maximumLines).contains(lines) else {
            throw ValidationError("--lines must be between 0 and \(Self.maximumLines).")
        }
        if let name, ScheduledJob.Key(name: name) == nil {
            throw ValidationError(
                "“\(name)” is not an extension or a task. “searchlight extensions” lists the extensions.")
        }
    }

    func perform() async throws {
        let log = DecisionLog(storeDirectory: options.storeDirectory)
        let jobs = name.flatMap(Self.jobs)
        // Created before the existing lines are read, so that no decision is missed.
        var follower = DecisionFollower(log)
        let last = log.last(lines, about: jobs)
        for entry in last { try show(entry) }
        if last.isEmpty, lines > 0, !options.json {
            let what = jobs == nil ? "No decisions yet." : "No decisions about it yet."
            Output.complain("\(what) The service, searchlightd, decides when a job is pending.")
        }
        guard follow else { return }
        while true {
            for entry in follower.next() where jobs?.contains(entry.job) ?? true { try show(entry) }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Returns the jobs with a name. The name of an extension alone denotes all of its jobs.
    static func jobs(_ name: String) -> Set<ScheduledJob.Key> {
        guard let key = ScheduledJob.Key(name: name) else { return [] }
        return key == .reindex(bundle: name) ? Set([key] + key.others) : [key]
    }

    private func show(_ entry: JournalEntry) throws {
        guard !options.json else {
            return try Output.document(String(decoding: JournalLine(entry).json, as: UTF8.self) + "\n")
        }
        try Output.line(entry.line())
    }
}

extension JournalEntry {
    /// Returns the decision as a line of text, with the time in a time zone.
    func line(in zone: TimeZone = .current) -> StyledText {
        let time = Date(timeIntervalSinceReferenceDate: moment).formatted(Self.style(zone))
        var line: StyledText = "\(dim: time)  \(job.words) \(bold: kind.words)"
        if !gates.isEmpty {
            let reasons = gates.map(\.words).joined(separator: "; ")
            let codes = gates.map(\.code).joined(separator: ", ")
            line =
                kind == .start || kind == .resume
                ? line + ", although \(reasons) \(dim: "(\(codes))")"
                : line + ": \(reasons) \(dim: "(\(codes))")"
        }
        if let reason {
            // A reason keeps its full stop unless more text follows it.
            line = line + ": \(usage != nil && reason.hasSuffix(".") ? String(reason.dropLast()) : reason)"
        }
        if let usage { line = line + "; \(usage.words)" }
        return line
    }

    private static func style(_ zone: TimeZone) -> Date.VerbatimFormatStyle {
        Date.VerbatimFormatStyle(
            format: """
                \(year: .defaultDigits)-\(month: .twoDigits)-\(day: .twoDigits) \
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits)
                """,
            timeZone: zone, calendar: Calendar(identifier: .gregorian))
    }
}
