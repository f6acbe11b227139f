// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation

/// Runs the benchmarks. Each figure has a baseline from the same run.
@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmarks",
        abstract: "Measure Searchlight; print Markdown tables, or JSON.",
        discussion: """
            Scripts/bench builds and runs this program. thresholds.json has the bars; figures that \
            miss a bar are marked, and do not fail the run.
            """)

    @Flag(help: "Print JSON.")
    var json = false
    @Option(help: "Measure only this part; may be given several times. Default: all.")
    var only: [Part] = []
    @Option(help: "The number of items in the index: 1,000 to 5,000,000.")
    var items = 100_000
    @Option(help: "The seed of the items and the searches.")
    var seed: UInt64 = 2026
    @Option(help: ArgumentHelp("The folder for the corpus and the stores.", valueName: "path"))
    var folder = ".build/benchmarks"
    @Option(
        help: ArgumentHelp(
            "Where report.md and report.json are written as well, with the parts in their names where not all are measured.",
            valueName: "path"))
    var output: String?
    @Option(help: "The time for which the idle service is watched.")
    var seconds = 60
    @Flag(help: "Use the filled stores of an earlier run, and keep them.")
    var keep = false
    @Flag(help: "Skip the baseline of filling, which takes longest.")
    var withoutRawTables = false
    @Option(
        help: ArgumentHelp(
            "The least number of searches of a class that are compared with a ranking of all items: 0 to 100; 0 compares none. At a million items each takes half a minute.",
            valueName: "count"))
    var compared = 8
    @Option(
        name: .customLong("search"),
        help: ArgumentHelp(
            "In the part “index”, measure only searches of this class, as in “two words”; may be given several times.",
            valueName: "class"))
    var searchClasses: [String] = []
    @Option(
        help: ArgumentHelp("Journal's library, to measure its previews too; built with Plugins/.", valueName: "path"))
    var journal: String?
    @Option(
        help: ArgumentHelp(
            "A folder with documents, questions and judgements (docs.jsonl, queries.tsv, qrels.tsv) for the part “relevance”. Default: SEARCHLIGHT_JUDGED.",
            valueName: "path"))
    var judged: String?
    @Flag(
        help: """
            Measure only what also holds in a debug build on a busy machine, for less than a minute, and fail if a \
            bar is missed three times.
            """)
    var check = false
    @Flag(help: .hidden)
    var asPart = false
    @Flag(help: .hidden)
    var firstUseOfTypes = false
    @Flag(help: .hidden)
    var echo = false
    @Flag(help: .hidden)
    var frames = false
    @Flag(help: .hidden)
    var busEcho = false
    @Option(help: .hidden)
    var openStore: String?
    @Option(help: .hidden)
    var openAccess = "read-write"

    var judgedCollection: String? {
        judged ?? ProcessInfo.processInfo.environment["SEARCHLIGHT_JUDGED"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The folder of the embedding model for the part “meaning”.
    var model: String? {
        ProcessInfo.processInfo.environment["SEARCHLIGHT_MODEL"].flatMap { $0.isEmpty ? nil : $0 }
    }

    func validate() throws {
        guard (1_000...5_000_000).contains(items) else {
            throw ValidationError("The number of items must be 1,000 to 5,000,000.")
        }
        guard (0...100).contains(compared) else { throw ValidationError("--compared must be 0 to 100.") }
        guard (1...3600).contains(seconds) else { throw ValidationError("The time must be 1 to 3,600 seconds.") }
    }

    func run() async throws {
        if firstUseOfTypes { return TypeBenchmarks.printFirstUse() }
        if echo { return EchoProcess.answer() }
        if frames { return FrameProcess.answer() }
        if busEcho { return try BusEchoProcess.answer() }
        if let openStore { return try await Opening.printFirst(store: openStore, access: openAccess) }
        let interruption = Interruption()
        defer { withExtendedLifetime(interruption) {} }
        if asPart, let part = only.first { return print(try await reportAsJSON(of: part)) }
        let thresholds = try Thresholds()
        if check { return try Check(thresholds: thresholds, options: self).run() }

        let parts = only.isEmpty ? Part.allCases : Part.allCases.filter(only.contains)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var report = Report(facts: try MachineFacts.gather(folder: folder))
        var judged = JudgedReport(report: report, thresholds: thresholds, parts: parts)
        for part in parts {
            report += measure(part)
            judged.report = report
            // Written after each part, so that an interrupted run keeps its results.
            try write(judged, parts)
        }
        judged.report.facts += MachineFacts.moment("end")
        try write(judged, parts)
        print(json ? try judged.json() : judged.markdown)
        for measurement in judged.missed { Progress.say("missed, and not explained: \(measurement.name)") }
        if !report.failures.isEmpty { throw ExitCode.failure }
    }

    private func write(_ judged: JudgedReport, _ parts: [Part]) throws {
        guard let output else { return }
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        // A run of selected parts does not overwrite the complete report.
        let name = (["report"] + (only.isEmpty ? [] : parts.map(\.rawValue))).joined(separator: "-")
        try Data((judged.markdown + "\n").utf8).write(to: URL(filePath: "\(output)/\(name).md"))
        try Data((try judged.json() + "\n").utf8).write(to: URL(filePath: "\(output)/\(name).json"))
    }

    /// Measures a part in its own process. If the part fails, the failure is added to the report.
    func measure(_ part: Part) -> Report {
        Progress.say("\(part.rawValue) …")
        let start = ContinuousClock.now
        var arguments = [
            "--as-part", "--only", part.rawValue, "--items", "\(items)", "--seed", "\(seed)", "--folder", folder,
            "--seconds", "\(seconds)",
        ]
        if keep { arguments.append("--keep") }
        arguments += ["--compared", "\(compared)"]
        for name in searchClasses { arguments += ["--search", name] }
        if check { arguments.append("--check") }
        if withoutRawTables { arguments.append("--without-raw-tables") }
        if let judged { arguments += ["--judged", judged] }
        if let journal { arguments += ["--journal", journal] }
        do {
            let text = try ChildProcess.output(
                of: URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path, arguments,
                limit: part.limit(items: items))
            let report = try JSONDecoder().decode(Report.self, from: Data(text.utf8))
            for failure in report.failures { Progress.say("\(part.rawValue): \(failure.reason)") }
            Progress.say("\(part.rawValue): \((ContinuousClock.now - start).components.seconds) s")
            return report
        } catch {
            Progress.say("\(part.rawValue) could not be measured: \(error)")
            return Report(failures: [Failure(part: part, reason: "\(error)")])
        }
    }

    /// Measures a part in this process. If it fails, the report contains the reason for the parent
    /// process.
    private func reportAsJSON(of part: Part) async throws -> String {
        let report: Report
        do {
            report = try await part.measure(self)
        } catch {
            report = Report(failures: [Failure(part: part, reason: "\(error)")])
        }
        return String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
    }
}

/// Prints progress to standard error, so that standard output contains only the report.
enum Progress {
    static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
