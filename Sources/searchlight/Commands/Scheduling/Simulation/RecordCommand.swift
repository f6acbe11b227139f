// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ConditionSensors
import Foundation
import IdleScheduling
import SchedulerSimulation
import SearchIndex
import SearchlightEngine

struct RecordCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record the conditions of this machine as a trace for “searchlight simulate”.",
        discussion: """
            Records changes of user activity, power, load, pressure, heat and free disk space. Sensors that send \
            signals are recorded at once, and the others are sampled every five seconds. The jobs of the trace are \
            the pending reindexes of the store, if there is one. Their cost is unknown, so each counts as a minute \
            of processor time; edit it by hand. The trace shows when you were active, which bundles were pending, \
            and which programs had inhibitors. It contains no other programs, files or searches.

            Stop recording with Control-C, or set a duration with --for.
            """)

    @OptionGroup var options: GlobalOptions
    var printsJSON: Bool { false }
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write to this new file instead of standard output.", valueName: "file"),
        completion: .file(extensions: ["jsonl"]))
    var output: String?
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Record for this long: seconds, or a number with s, m, h or d, such as 8h.", valueName: "duration"))
    var duration: String?
    @Option(help: "Set the name of the trace.")
    var name = "recording"

    func validate() throws {
        if let duration, Self.seconds(duration) == nil {
            throw ValidationError(
                "--for needs a duration from 1 s to 31 d: seconds, or a number with s, m, h or d, such as 8h.")
        }
        guard (1...128).contains(name.utf8.count) else { throw ValidationError("--name needs 1 to 128 bytes.") }
        try refuseEmpty(output, "--output", instead: "Name a file, or leave the option out.")
        guard !options.json else {
            throw ValidationError("A trace is already JSON. Leave out --json.")
        }
    }

    /// Parses a duration in seconds; `nil` if it is malformed or too long for a trace.
    static func seconds(_ text: String) -> Double? {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        let unit = text.last.flatMap { units[$0] }
        let digits = unit == nil ? Substring(text) : text.dropLast()
        guard !digits.isEmpty, digits.utf8.count <= 9, digits.allSatisfy({ $0.isASCII && $0.isNumber }),
            let number = Double(digits)
        else { return nil }
        let seconds = number * (unit ?? 1)
        return (1...Trace.longest).contains(seconds) ? seconds : nil
    }

    /// The interval at which polled sensors are read, in seconds. The kernel's averages are not
    /// meaningful at shorter intervals.
    private static let lookInterval = 5.0
    /// The assumed cost of a reindex, in seconds of processor time.
    private static let unknownWork = 60.0

    func perform() async throws {
        let owed = await owedJobs()
        let sink = try TraceSink(path: output)
        let now = Date.now
        let zone = TimeZone.current.secondsFromGMT(for: now)
        let moment = now.timeIntervalSinceReferenceDate
        let midnight = ((moment + Double(zone)) / 86400).rounded(.down) * 86400 - Double(zone)
        let recording = Recording(name: name, clock: TraceClock(midnight: midnight, zone: zone), sink: sink)
        try await record(recording, owed, until: duration.flatMap(Self.seconds).map { moment + $0 })
    }

    private func record(_ recording: Recording, _ owed: [PendingReindexJob], until end: Double?) async throws {
        // Set before the first line is written, because a reader of that line may end the
        // recording.
        let (isOver, over) = AsyncStream<Void>.makeStream()
        Signals.onInterruption { over.finish() }
        let monitor = ConditionMonitor(
            roots: .machine(environment: options.environment),
            store: FileManager.default.fileExists(atPath: storeFolder) ? storeFolder : "/")
        monitor.start { recording.take($0, at: Date.now.timeIntervalSinceReferenceDate) }
        monitor.sense(.waiting)
        defer { monitor.sense(.off) }
        recording.take(monitor.look(), at: Date.now.timeIntervalSinceReferenceDate)
        for job in owed {
            let job = TracedJob(key: .reindex(bundle: job.bundle), cpu: Self.unknownWork)
            recording.take(job, at: Date.now.timeIntervalSinceReferenceDate)
        }
        if let output {
            let atMost = duration.flatMap(Self.seconds).map { ", at most \(ScheduleTime.text(seconds: $0))" } ?? ""
            Output.complain("Recording to \(output) until Control-C\(atMost).")
        }
        let looking = Task {
            defer { over.finish() }
            while recording.failure == nil {
                let left = end.map { $0 - Date.now.timeIntervalSinceReferenceDate } ?? .infinity
                guard left > 0 else { return }
                try await Task.sleep(for: .seconds(min(Self.lookInterval, left)))
                monitor.look()
            }
        }
        for await _ in isOver {}
        looking.cancel()
        monitor.sense(.off)
        try recording.end(at: Date.now.timeIntervalSinceReferenceDate)
        if output != nil {
            Output.complain(
                "\(counted(recording.lines, "line")) written. To replay the trace: searchlight simulate \(output ?? "-")"
            )
        }
    }

    private var storeFolder: String { options.storeDirectory }

    /// Returns the pending reindexes, if known.
    private func owedJobs() async -> [PendingReindexJob] {
        do {
            return try await options.withStore(.read) { try await $0.perform(PendingReindexesCall()) }
        } catch EngineError.index(.noStore) {
            return []
        } catch {
            Output.complain("Note: the pending jobs are unknown: \(Output.tidied("\(error)"))")
            return []
        }
    }
}
