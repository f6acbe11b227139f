// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import SearchIndex
import SearchlightEngine

struct StatusCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the contents, size, damage and pending reindexes of the index.",
        discussion: """
            Estimates the size of a large index from a sample, and does not measure its parts. --exact measures everything, \
            and takes as long as reading the whole index.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Measure everything, even if it takes long.")
    var exact = false
    @Flag(name: .shortAndLong, help: "Also list each path that does not exist.")
    var verbose = false

    func perform() async throws {
        let (status, listing) = try await options.withStore(.read) { store in
            (
                try await store.perform(StatusCall(isExact: exact)),
                try await store.perform(ExtensionListingCall())
            )
        }
        if options.json { return try Output.printJSON(JSONObject(status, listing, store: options.storeDirectory)) }
        try show(status, listing)
    }

    private static func note(onExtensionOf bundle: String, _ listing: ExtensionListing) -> String {
        if listing.extensions.contains(where: { $0.identifier == bundle }) { return "" }
        if listing.refusals.contains(where: { $0.likelyIdentifier == bundle }) {
            return ", and its extension is refused. To see the reason: searchlight extensions"
        }
        return ", and no extension of this name is installed"
    }

    private func show(_ report: StoreStatus, _ listing: ExtensionListing) throws {
        try Output.line("Store: \(options.storeDirectory)")
        let service = report.service.map { ServiceReport($0) }
        try Output.line("Answered by: \(service?.line ?? "this command")")
        if let line = service?.donationsLine { try Output.line("Donations in flight: \(line)") }
        let about = report.sizes.isEstimated ? "about " : ""
        for account in report.accounts where account.items > 0 || !account.isComplete {
            let note = Self.note(onExtensionOf: account.bundle, listing)
            let bytes = report.sizes.recordBytes[account.bundle].map { ", \(about)\(sized($0)) of records" } ?? ""
            try Output.line("  \(account.bundle): \(counted(account.items, "item"))\(bytes)\(note)")
            for line in account.lines { try Output.line("    \(Output.tidied(line))") }
        }
        if report.refusedRepair == nil, report.accounts.allSatisfy({ $0.items == 0 }) { try Output.line("  no items") }
        try show(report.sizes)
        try show(report.followed)
        try show(report.protection)
        if let semantic = report.semantic { try Output.line("Search by meaning: \(SemanticReport(semantic).line)") }
        if let pending = report.pending { try Output.line("\(Output.tidied("Pending: " + pending.line))") }
        if report.generation > 1 {
            try Output.line(
                "Generation: \(report.generation); it increases when donations are lost and must be repeated")
        }
        if let recovery = report.lastFindings {
            try Output.line("Found at the opening of \(moment(recovery.moment)):")
            for finding in recovery.findings { try Output.line("  \(Output.tidied(finding))") }
        }
        if let refusal = report.refusedRepair {
            try Output.line("\(bad: "Damaged"): \(Output.tidied(refusal)) Until then, donations are refused.")
        } else if report.needsRepair {
            try Output.line(
                "The index is damaged. The next command that writes it repairs it. To repair it now: searchlight verify --repair"
            )
        }
        if report.hasDamagedJobs {
            try Output.line(
                "The list of pending reindexes is damaged. The next command that writes the index makes all reindexes pending."
            )
        }
        if report.hasDamagedSchedule {
            try Output.line(
                "The state of the scheduler is damaged. It is reset, and no extension is throttled.")
        }
        if !report.learns {
            try Output.line("Learning is off: use of items is not counted. To switch it on: searchlight history on")
        }
        for account in report.accounts {
            guard let job = account.owed else { continue }
            let losses = account.hasLosses ? ", since items may have been lost" : ""
            let failures = job.failures > 0 ? ", failed \(counted(job.failures, "time"))" : ""
            try Output.line("Pending: a reindex of \(job.bundle)\(losses)\(failures)")
            for line in Output.lines(job.lastFailure ?? "") { try Output.line("  \(line)") }
        }
        for removal in report.removals {
            try Output.line(
                """
                Gone: the extension \(removal.bundle), since \(moment(removal.removed)); its items are deleted after \
                \(moment(removal.due))
                """)
        }
        for held in listing.held {
            try Output.line("\(held.state == .disabled ? "Disabled" : "In quarantine"): \(held.identifier)")
            for line in Output.lines(held.reason ?? "") { try Output.line("  \(line)") }
        }
        for line in SandboxSection(report.sandbox).lines { try Output.line("\(Output.tidied(line))") }
    }

    private func show(_ protection: ProtectionStatus) throws {
        guard !protection.isEmpty else { return }
        let state = protection.isUnlocked ? "unlocked" : "locked. To search them: searchlight unlock"
        try Output.line("Protected indexes: \(protection.indexes.isEmpty ? "none" : state)")
        if protection.hasKeys || protection.problemOfKeys != nil { try Output.line("  \(protection.keysLine)") }
        for note in protection.isUnlocked ? protection.notes : [] { try Output.line("  Note: \(Output.tidied(note))") }
        for index in protection.indexes {
            let name = index.scope.index.map { " (\($0))" } ?? ""
            let line = "\(index.scope.bundle)\(name): \(index.protection.name), \(sized(index.bytes))"
            try Output.line("  \(Output.tidied(line))")
        }
        for finding in protection.findings where finding != protection.problemOfKeys {
            try Output.line("  \(bad: "Damaged"): \(Output.tidied(finding))")
        }
    }

    private func show(_ followed: FollowedStatus) throws {
        guard !followed.places.isEmpty else { return }
        if followed.places.allSatisfy({ $0.state == .unfollowed }) {
            try Output.line("Files that a running service would watch:")
        } else {
            let limit = followed.watchLimit.map { " of \($0) that the kernel allows" } ?? ""
            try Output.line(
                "Watched files, with \(followed.watches == 1 ? "1 watch" : "\(followed.watches) watches")\(limit):"
            )
        }
        let missing = verbose ? 0 : followed.places.count { $0.state == .missing }
        for place in followed.places where place.state != .missing || verbose {
            let path = ([place.path] + place.names).joined(separator: "/")
            let reason = place.reason.map { ", since \($0)" } ?? ""
            let state =
                switch place.state {
                case .watched, .unfollowed: ""
                case .polled: ": polled every few minutes\(reason)"
                case .waiting: ": not checked yet"
                case .missing: ": does not exist"
                case .unavailable: ": \(place.reason ?? "not available"); its items stay in the index"
                case .failed: ": not watched\(reason)"
                }
            try Output.line("  \(Output.tidied("\(place.bundle): \(path)\(state)"))")
        }
        if missing > 0 {
            let them = missing == 1 ? "1 path does" : "\(missing) paths do"
            try Output.line(
                "  \(them) not exist yet, and \(missing == 1 ? "is" : "are") watched once created. To list: --verbose")
        }
        for one in followed.pending {
            let line = "\(one.bundle): \(counted(one.files, "changed file")) pending since \(moment(one.since))"
            try Output.line("  \(Output.tidied(line))")
        }
        if followed.unwatchedFolders > 0 {
            try Output.line(
                "  \(counted(followed.unwatchedFolders, "folder")) cannot be watched. For a remedy, run: searchlight doctor"
            )
        }
    }

    private func show(_ sizes: StoreSizes) throws {
        let log = sizes.logBytes > 0 ? ", its log \(sized(sizes.logBytes))" : ""
        try Output.line(
            "Size: database \(sized(sizes.databaseBytes))\(log), write-ahead log \(sized(sizes.journalBytes))")
        if let structures = sizes.structures {
            let parts = structures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                .map { "\($0.key) \(sized($0.value))" }
            let whole = sizes.logBytes > 0 ? "the database and its log" : "the database"
            try Output.line("  of \(whole): \(parts.joined(separator: ", "))")
        } else {
            try Output.line("  the sizes of its parts are unknown. To measure them, if SQLite can: --exact")
        }
    }
}

extension StoreSizes {
    /// The total size of each bundle's records, in bytes.
    fileprivate var recordBytes: [String: Int] {
        Dictionary(bundles.map { ($0.bundle, $0.recordBytes) }, uniquingKeysWith: +)
    }
}

extension ExtensionListing {
    fileprivate var held: [ExtensionSummary] { extensions.filter { [.disabled, .quarantined].contains($0.state) } }
}

extension JSONObject {
    fileprivate init(_ status: StoreStatus, _ listing: ExtensionListing, store: String) {
        let installed = Set(listing.extensions.map(\.identifier))
        let sizes: JSONObject = [
            "database": status.sizes.databaseBytes, "log": status.sizes.logBytes,
            "journal": status.sizes.journalBytes, "records": status.sizes.recordBytes,
            "areEstimated": status.sizes.isEstimated, "structures": status.sizes.structures,
        ]
        let items = Dictionary(
            status.accounts.filter { $0.items > 0 }.map { ($0.bundle, $0.items) }, uniquingKeysWith: +)
        self = [
            "store": store, "items": items, "accounts": status.accounts.map { JSONObject($0) },
            // The bundles that have items but no installed extension that can update them.
            "withoutExtension": items.keys.filter { !installed.contains($0) }.sorted(),
            "owed": status.accounts.compactMap(\.owed), "sizes": sizes, "generation": status.generation,
            "recovery": status.lastFindings.map { found -> JSONObject in
                ["moment": moment(found.moment), "findings": found.findings]
            },
            "isMarkedDamaged": status.needsRepair, "refusedRepair": status.refusedRepair,
            "hasDamagedJobs": status.hasDamagedJobs,
            "hasDamagedSchedule": status.hasDamagedSchedule, "learns": status.learns,
            "waitingEntries": status.waitingEntries,
            "pending": status.pending, "followed": status.followed, "removals": status.removals.map(JSONObject.init),
            "held": listing.held.map { held -> JSONObject in
                ["identifier": held.identifier, "state": held.state, "reason": held.reason]
            },
            "sandbox": SandboxSection(status.sandbox), "semantic": status.semantic.map { SemanticReport($0).json },
            "protection": [
                "keys": status.protection.storage?.rawValue, "isUnlocked": status.protection.isUnlocked,
                "notes": status.protection.notes, "findings": status.protection.findings,
                "indexes": status.protection.indexes.map { index -> JSONObject in
                    [
                        "bundle": index.scope.bundle, "index": index.scope.index, "class": index.protection.name,
                        "bytes": index.bytes,
                    ]
                },
            ] as JSONObject,
            "service": status.service.map { ServiceReport($0) },
        ]
    }
}
