// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import SearchIndex
import SearchlightEngine

struct VerifyCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check the index for damage, or compare it with what an extension donates.",
        discussion: """
            Every file, every record and everything derived from them is checked; nothing is changed unless --repair is \
            given. Damage that loses items is made up for by a reindex, which is owed then. Where a service runs, it checks \
            its index during use, which takes as much room on the device as the database. Without one, no other \
            searchlight may change the index during the check, so this one waits for it (--wait). During a repair, requests to the service wait.

            With --against the extension is asked to donate everything, and what it donates is compared with the index \
            and thrown away.

            Exit status: 0 nothing is wrong, or all was mended; 10 damage or differences were found.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Mend what is found.")
    var repair = false
    @Option(
        help: ArgumentHelp("Compare with what this extension donates.", valueName: "bundle"),
        completion: BundleNames.completion)
    var against: String?
    @Option(
        name: .shortAndLong,
        help: ListLimit.help("With --against, name so many items of each kind (--json names all)"),
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

    /// The maintenance of the store without a service.
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
                if !options.json { Output.complain("To mend this: searchlight verify --repair") }
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
        if report.isClean { try Output.line("Nothing is wrong.") }
    }

    private func show(_ repair: StoreCheck.Repair) throws {
        for line in repair.done { try Output.line("Mended: \(Output.tidied(line))") }
        for finding in repair.after.findings {
            try Output.line("\(bold: "Still"): \(finding.part): \(Output.tidied(finding.problem))")
        }
        if repair.after.isClean { try Output.line("Nothing is wrong any more.") }
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
            ("missing from the index", comparison.missing), ("in the index and not donated any more", comparison.extra),
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
                "Note: \(counted(comparison.comparedByName, "item")) came in parts and were compared by name only.")
        }
        if comparison.isEqual { try Output.line("Nothing is missing and nothing is left over.") }
    }
}

extension VerificationReport.Repair {
    /// The repair as text in brackets.
    fileprivate var sentence: String {
        switch self {
        case .rebuildIndex: "--repair mends it by rebuilding it from the items"
        case .rewriteColumns: "--repair mends it from the records"
        case .deleteClientStates: "--repair mends it by deleting the client states; their apps begin anew"
        case .deleteItems: "--repair mends it by deleting the item and reindexing"
        case .salvage: "--repair mends it by a new database from what can be read"
        case .discardJournal:
            "--repair mends it by removing the file, and by reindexing if anything in it had not been applied"
        case .oweEverything: "--repair mends it by reindexing everything"
        case .restrictMode: "--repair mends it by taking their rights away"
        case .none: "look at it yourself"
        }
    }
}

extension JSONObject {
    /// The findings; after a repair, also its actions and the remaining findings.
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
