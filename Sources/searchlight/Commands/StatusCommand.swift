// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import IdleScheduling
import SearchlightEngine

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what the index holds and which reindexes are owed.")

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try await reportingErrors(json: options.json) {
            let engine = try options.engine(.readOnly)
            let counts = try await engine.itemCounts()
            let installed = Set(engine.registry.extensions.map(\.identifier))
            let report = StatusReport(
                store: options.storeDirectory, items: counts,
                withoutExtension: counts.keys.filter { !installed.contains($0) }.sorted(),
                owed: engine.owedJobs.map { StatusReport.Owed($0) })
            if options.json { return try Output.printJSON(report) }
            try show(report)
        }
    }

    private func show(_ report: StatusReport) throws {
        try Output.line("Store: \(report.store)")
        for (bundle, count) in report.items.sorted(by: { $0.key < $1.key }) {
            let note = report.withoutExtension.contains(bundle) ? ", and no extension of this name is installed" : ""
            try Output.line("  \(bundle): \(counted(count, "item"))\(note)")
        }
        if report.items.isEmpty { try Output.line("  no items") }
        for job in report.owed {
            try Output.line("Owed: a reindex of \(job.bundle), failed \(counted(job.failures, "time"))")
            if let reason = job.lastFailure { try Output.line("  \(Output.tidied(reason))") }
        }
    }
}

private struct StatusReport: Encodable {
    struct Owed: Encodable {
        var bundle: String
        var failures: Int
        var lastFailure: String?

        init(_ job: Job) {
            bundle = job.bundle
            failures = job.failures
            lastFailure = job.lastFailure
        }
    }
    var store: String
    var items: [String: Int]
    /// The bundles that have items here and no extension that could bring them up to date.
    var withoutExtension: [String]
    var owed: [Owed]
}
