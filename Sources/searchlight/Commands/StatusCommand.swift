// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import IdleScheduling
import SearchlightEngine

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what the index holds and which reindexes are owed.")

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        try await searchlight.run(json: options.json) {
            let engine = try options.engine(.readOnly)
            let counts = try await engine.itemCounts()
            if options.json {
                return try Output.printJSON(
                    StatusReport(
                        store: options.storeDirectory, items: counts,
                        owed: engine.owedJobs.map { StatusReport.Owed($0) }))
            }
            print("Store: \(options.storeDirectory)")
            for (bundle, count) in counts.sorted(by: { $0.key < $1.key }) { print("  \(bundle): \(count) items") }
            if counts.isEmpty { print("  no items") }
            for job in engine.owedJobs {
                print("Owed: a reindex of \(job.bundle), failed \(job.failures) times")
                if let reason = job.lastFailure { print("  \(reason)") }
            }
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
    var owed: [Owed]
}
