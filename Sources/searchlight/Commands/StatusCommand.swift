// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import SearchIndex
import SearchlightEngine

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what the index holds, how large it is, what was wrong with it and which reindexes are owed.",
        discussion: """
            Large indexes are measured by a sample, and their parts not at all; --exact measures everything, which takes \
            about as long as reading all of the index.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Measure everything, however long that takes.")
    var exact = false

    func run() async throws {
        try await reportingErrors(json: options.json) {
            let (status, listing) = try await options.withStore(.read) { store in
                (
                    try await store.perform(StatusCall(isExact: exact)),
                    try await store.perform(ExtensionListingCall())
                )
            }
            let installed = Set(listing.extensions.map(\.identifier))
            let report = StatusReport(
                store: options.storeDirectory, items: status.itemCounts,
                withoutExtension: status.itemCounts.keys.filter { !installed.contains($0) }.sorted(),
                owed: status.owedJobs.map { StatusReport.Owed($0) }, sizes: StatusReport.Sizes(status.sizes),
                generation: status.generation, recovery: status.lastFindings.map { .init($0) },
                isMarkedDamaged: status.needsRepair, hasDamagedJobs: status.hasDamagedJobs,
                hasDamagedSchedule: status.hasDamagedSchedule,
                waitingEntries: status.waitingEntries, pending: status.pending,
                removals: status.removals.map(ExtensionsReport.Removed.init),
                held: listing.extensions.filter { [.disabled, .quarantined].contains($0.state) }.map { .init($0) },
                sandbox: SandboxSection(status.sandbox),
                service: status.service.map { ServiceReport($0) })
            if options.json { return try Output.printJSON(report) }
            try show(report)
        }
    }

    private func show(_ report: StatusReport) throws {
        try Output.line("Store: \(report.store)")
        try Output.line("\(report.service.map { "Answered by: \($0.line)" } ?? "Answered by: this command itself")")
        let about = report.sizes.areEstimated ? "about " : ""
        for (bundle, count) in report.items.sorted(by: { $0.key < $1.key }) {
            let note = report.withoutExtension.contains(bundle) ? ", and no extension of this name is installed" : ""
            let bytes = report.sizes.records[bundle].map { ", \(about)\(sized($0)) of records" } ?? ""
            try Output.line("  \(bundle): \(counted(count, "item"))\(bytes)\(note)")
        }
        if report.items.isEmpty { try Output.line("  no items") }
        try show(report.sizes)
        if let pending = report.pending { try Output.line("\(Output.tidied("Pending: " + pending.line))") }
        if report.generation > 1 {
            try Output.line(
                "Generation: \(report.generation); it grows when donations are lost and have to be made again")
        }
        if let recovery = report.recovery {
            try Output.line("Found at the opening of \(recovery.moment):")
            for finding in recovery.findings { try Output.line("  \(Output.tidied(finding))") }
        }
        if report.isMarkedDamaged {
            try Output.line("Damage was met. It is mended when the index is written; now: searchlight verify --repair")
        }
        if report.hasDamagedJobs {
            try Output.line("The list of owed reindexes is damaged; everything is owed when the index is written.")
        }
        if report.hasDamagedSchedule {
            try Output.line(
                "What was remembered for the schedule is damaged; it is begun anew, and nobody is throttled.")
        }
        for job in report.owed {
            let failures = job.failures > 0 ? ", failed \(counted(job.failures, "time"))" : ""
            try Output.line("Owed: a reindex of \(job.bundle)\(failures)")
            for line in Output.lines(job.lastFailure ?? "") { try Output.line("  \(line)") }
        }
        for removal in report.removals {
            try Output.line(
                "Gone: the extension \(removal.identifier), since \(removal.missingSince); its items are deleted after \(removal.deletedAfter)"
            )
        }
        for held in report.held {
            let what: StyledText = held.state == .disabled ? "Disabled" : "In quarantine"
            try Output.line("\(what): \(held.identifier)")
            for line in Output.lines(held.reason ?? "") { try Output.line("  \(line)") }
        }
        for line in report.sandbox.lines { try Output.line("\(Output.tidied(line))") }
    }

    private func show(_ sizes: StatusReport.Sizes) throws {
        let log = sizes.log > 0 ? ", its log \(sized(sizes.log))" : ""
        try Output.line("Size: database \(sized(sizes.database))\(log), journal \(sized(sizes.journal))")
        if let structures = sizes.structures {
            let parts = structures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                .map { "\($0.key) \(sized($0.value))" }
            try Output.line("  of the database\(sizes.log > 0 ? " and its log" : ""): \(parts.joined(separator: ", "))")
        } else {
            try Output.line("  what in the database is how large is not known (--exact measures it where SQLite can)")
        }
    }
}

private struct StatusReport: Encodable {
    struct Owed: Encodable {
        var bundle: String
        var failures: Int
        var lastFailure: String?

        init(_ job: OwedJob) {
            bundle = job.bundle
            failures = job.failures
            lastFailure = job.lastFailure
        }
    }
    /// An extension that is not asked, and what would change that.
    struct Held: Encodable {
        var identifier: String
        var state: ExtensionState
        var reason: String?

        init(_ summary: ExtensionSummary) {
            (identifier, state, reason) = (summary.identifier, summary.state, summary.reason)
        }
    }
    /// In bytes.
    struct Sizes: Encodable {
        var database: Int
        var log: Int
        var journal: Int
        /// The records of each bundle.
        var records: [String: Int]
        /// Whether these are estimated from a sample.
        var areEstimated: Bool
        /// What is in the database; absent if that is not known.
        var structures: [String: Int]?

        init(_ sizes: StoreSizes) {
            database = sizes.databaseBytes
            log = sizes.logBytes
            journal = sizes.journalBytes
            records = Dictionary(sizes.bundles.map { ($0.bundle, $0.recordBytes) }, uniquingKeysWith: +)
            areEstimated = sizes.isEstimated
            structures = sizes.structures
        }
    }
    /// What the last opening found that found something.
    struct Recovery: Encodable {
        var moment: String
        var findings: [String]

        init(_ found: KeptFindings) {
            moment = Date(timeIntervalSinceReferenceDate: found.moment).ISO8601Format()
            findings = found.findings
        }
    }
    var store: String
    var items: [String: Int]
    /// The bundles that have items here and no extension that could bring them up to date.
    var withoutExtension: [String]
    var owed: [Owed]
    var sizes: Sizes
    var generation: Int
    var recovery: Recovery?
    var isMarkedDamaged: Bool
    var hasDamagedJobs: Bool
    var hasDamagedSchedule: Bool
    /// Entries of the journal that cannot be shown.
    var waitingEntries: Int
    /// What was donated a moment ago and is not counted yet; absent if there is nothing.
    var pending: PendingDonations?
    /// The extensions that are missing and whose items will be deleted.
    var removals: [ExtensionsReport.Removed]
    /// The extensions that are disabled or in quarantine.
    var held: [Held]
    /// What confines extensions, and what they tried.
    var sandbox: SandboxSection
    /// Absent if this command itself looked at the store.
    var service: ServiceReport?
}
