// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import SearchIndex
import SearchlightEngine

struct VerifyCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check the index for damage, or compare it with the donations of an extension.",
        discussion: """
            Checks every file, every record and all derived data; changes nothing without --repair. If damage loses items, a \
            reindex becomes pending. A running service checks a copy of the index during use, and needs as much disk space as \
            the database. Without a service, the check needs exclusive access to the index, and waits for other searchlight \
            processes (--wait). During a repair, requests to the service wait.

            Protected indexes are checked completely while they are unlocked. While they are locked, only damage \
            that is visible without their keys is found. --repair rewrites a damaged file of an unlocked index from \
            the items in memory; items with unreadable records are lost.

            With --against, the extension donates everything. The donations are compared with the index and discarded.

            Exit status: 0 no damage, or everything was repaired; 10 damage or differences were found.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Repair the damage.")
    var repair = false
    @Option(
        help: ArgumentHelp("Compare the index with the donations of this extension.", valueName: "bundle"),
        completion: BundleNames.completion)
    var against: String?
    @Option(
        name: .shortAndLong,
        help: ListLimit.help("With --against, name this many items of each kind (--json names all)"),
        transform: ListLimit.items)
    var limit = 20

    func validate() throws {
        try refuseEmpty(against, "--against")
        guard against == nil || !repair else { throw ValidationError("--against and --repair exclude each other.") }
    }

    func perform() async throws {
        if let against { return try await compare(against) }
        guard let service = try await options.connectToService() else {
            return try await verify(
                InProcess(options: options, check: StoreCheck(try options.engineConfiguration(.readWrite))))
        }
        try await verify(service)
        await service.close()
    }

    /// Maintains the store in this process, without a service.
    private struct InProcess: StoreMaintenance {
        let options: GlobalOptions
        let check: StoreCheck
        func verify() async throws(EngineError) -> VerificationReport {
            try await options.waitingForOthers { () async throws(EngineError) in
                try check.verify(progress: VerifyCommand.progress)
            }
        }
        func repair() async throws(EngineError) -> StoreCheck.Repair {
            try await options.waitingForOthers { () async throws(EngineError) in
                try await check.repair(progress: VerifyCommand.progress)
            }
        }
    }

    private func verify(_ store: some StoreMaintenance) async throws {
        let report = try await store.verify()
        if Output.showsProgress { Output.progress(nil) }
        if !options.json { try show(report) }
        guard repair, !report.isClean else {
            if options.json { try Output.printJSON(JSONObject(report)) }
            if !report.isClean {
                if !options.json, report.findings.contains(where: \.repair.isPossible) {
                    Output.complain("To repair this: searchlight verify --repair")
                }
                throw ExitCode(ExitStatus.damageFound.rawValue)
            }
            return
        }
        let repair = try await store.repair()
        if Output.showsProgress { Output.progress(nil) }
        if options.json {
            try Output.printJSON(JSONObject(report, repair))
        } else {
            try show(repair)
        }
        if !repair.after.isClean { throw ExitCode(ExitStatus.damageFound.rawValue) }
    }

    private static func progress(_ items: Int) {
        guard Output.showsProgress, items % 10_000 == 0 else { return }
        Output.progress("\(dim: "\(counted(items, "item")) checked")")
    }

    private func show(_ report: VerificationReport) throws {
        for check in report.checks {
            if let skipped = check.skipped {
                try Output.line("Not checked: \(check.what), because \(skipped)")
            } else {
                try Output.line("Checked: \(check.what)\(check.count.map { " (\($0))" } ?? "")")
            }
        }
        for note in report.notes { try Output.line("Note: \(Output.tidied(note))") }
        for finding in report.findings {
            let problem = Output.tidied(finding.problem)
            try Output.line("\(bold: "Found"): \(finding.part): \(problem) (\(finding.repair.sentence))")
        }
        if report.isClean { try Output.line("No damage was found.") }
    }

    private func show(_ repair: StoreCheck.Repair) throws {
        for line in repair.done { try Output.line("Repaired: \(Output.tidied(line))") }
        for finding in repair.after.findings {
            let problem = Output.tidied(finding.problem)
            try Output.line("\(bold: "Still"): \(finding.part): \(problem) (\(finding.repair.sentence))")
        }
        for check in repair.after.checks {
            if let skipped = check.skipped { try Output.line("Not checked: \(check.what), because \(skipped)") }
        }
        if repair.after.isClean { try Output.line("No damage is left.") }
    }

    private func compare(_ bundle: String) async throws {
        let comparison = try await options.withStore(.read) { store in
            try await store.perform(CompareCall(bundle: bundle))
        }
        if options.json {
            try Output.printJSON(JSONObject(bundle: bundle, comparison))
        } else {
            try show(comparison, bundle)
        }
        if !comparison.isEqual { throw ExitCode(ExitStatus.damageFound.rawValue) }
    }

    private func show(_ comparison: ReindexComparison, _ bundle: String) throws {
        try Output.line(
            "\(bundle) donates \(counted(comparison.donated, "item")), the index has \("\(comparison.indexed)").")
        let kinds = [
            ("missing from the index", comparison.missing), ("in the index and no longer donated", comparison.extra),
            ("different", comparison.differing),
        ]
        for (kind, names) in kinds where !names.isEmpty {
            try Output.line("\(bold: "\(names.count)") \(kind):")
            for name in names.prefix(limit) {
                try Output.line("  \(name.identifier)\(name.index.map { " (index \($0))" } ?? "")")
            }
            if names.count > limit { try Output.line("  … and \("\(names.count - limit)") more") }
        }
        if comparison.comparedByName > 0 {
            try Output.line(
                "Note: \(counted(comparison.comparedByName, "item")) came in parts and were compared only by name.")
        }
        if comparison.isEqual { try Output.line("The index and the donations are equal.") }
    }
}

extension VerificationReport.Repair {
    /// The repair as text for use in parentheses.
    fileprivate var sentence: String {
        switch self {
        case .rebuildIndex: "--repair rebuilds it from the items"
        case .rewriteColumns: "--repair rewrites it from the records"
        case .deleteClientStates: "--repair deletes the client states; their apps donate everything again"
        case .deleteItems: "--repair deletes the item and reindexes"
        case .salvage: "--repair creates a new database from all readable data"
        case .discardJournal:
            "--repair removes the file, and reindexes if it had unapplied data"
        case .oweEverything: "--repair reindexes everything"
        case .restrictMode: "--repair removes the access of others"
        case .rewriteProtected: "--repair writes it again from the items in memory"
        case .rewriteKeys: "--repair writes it again from memory"
        case .unlock: "to repair it, first: searchlight unlock"
        case .none: "--repair cannot repair it"
        }
    }
}

extension JSONObject {
    /// The findings as JSON. After a repair, the actions of the repair and the remaining findings
    /// are included.
    fileprivate init(_ report: VerificationReport, _ repair: StoreCheck.Repair? = nil) {
        self = [
            "checks": report.checks, "findings": report.findings, "notes": report.notes,
            "isClean": repair?.after.isClean ?? report.isClean, "repairs": repair?.done,
            "remaining": repair?.after.findings,
        ]
    }

    fileprivate init(bundle: String, _ comparison: ReindexComparison) {
        func named(_ names: [ReindexComparison.Name]) -> [JSONObject] {
            names.map { ["index": $0.index, "uniqueIdentifier": $0.identifier] }
        }
        self = [
            "bundle": bundle, "donated": comparison.donated, "indexed": comparison.indexed,
            "missing": named(comparison.missing), "extra": named(comparison.extra),
            "differing": named(comparison.differing), "comparedByName": comparison.comparedByName,
            "isEqual": comparison.isEqual,
        ]
    }
}
