// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import IdleScheduling
import SearchlightEngine

struct LogCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show what the scheduler decided: what ran in the background, what waited, and why.",
        discussion: """
            The oldest decision comes first. Times are those of this machine's time zone. With --json each decision is a line \
            of JSON, as it stands in decisions.log of the store, with times in UTC.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: ArgumentHelp(
            "Only of this extension, or this job: files:BUNDLE, or a task of the index's care.", valueName: "bundle"),
        completion: BundleNames.completion)
    var name: String?
    @Option(
        name: [.customShort("n"), .long], parsing: .unconditional,
        help: "Show at most this many decisions, 0 to 100000.")
    var lines = 50
    @Flag(name: .shortAndLong, help: "Go on showing decisions as they are made.")
    var follow = false

    /// A limit above the number of lines that the log files can hold.
    private static let maximumLines = 100_000
    /// The interval of polls for new decisions.
    private static let interval = Duration.milliseconds(250)

    func validate() throws {
        guard (0...Self.maximumLines).contains(lines) else {
            throw ValidationError("--lines must be between 0 and \(Self.maximumLines).")
        }
        if let name, ScheduledJob.Key(name: name) == nil {
            throw ValidationError("“\(name)” names no extension and no task. “searchlight extensions” lists them.")
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
            let what = jobs == nil ? "Nothing" : "Nothing about it"
            Output.complain("\(what) was decided so far. The service, searchlightd, does once something is owed.")
        }
        guard follow else { return }
        while true {
            for entry in follower.next() where jobs?.contains(entry.job) ?? true { try show(entry) }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// The jobs for a name. The name of an extension alone means all of its jobs.
    static func jobs(_ name: String) -> Set<ScheduledJob.Key> {
        guard let key = ScheduledJob.Key(name: name) else { return [] }
        return key == .reindex(bundle: name) ? [key, .files(bundle: name)] : [key]
    }

    private func show(_ entry: JournalEntry) throws {
        guard !options.json else {
            return try Output.document(String(decoding: JournalLine(entry).json, as: UTF8.self) + "\n")
        }
        try Output.line(entry.line())
    }
}

extension JournalEntry {
    /// The decision as a line of text, with the time in a time zone.
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
            // A reason keeps its full stop unless more text follows.
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
