// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import CommandSupport
import ArgumentParser
import ExtensionHost
import SearchIndex
import SearchlightEngine

struct DonateCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "donate",
        abstract: "Add items to the index, one line of JSON each.",
        discussion: """
            A line is an object with uniqueIdentifier and, as needed, domainIdentifier, attributes, customKeys, expirationDate \
            (ISO 8601, seconds since 2001, or "never"; default: in a month) and isUpdate (true merges the attributes into the \
            existing item; null removes an attribute). Empty lines are skipped. Attributes are texts, numbers, true or false, \
            arrays of these, or null; objects are rejected. Use the names of CSSearchableItemAttributeSet, in Swift or \
            Objective-C, or the public kMDItem… names.

            A value must have its attribute's type. Unambiguous values are converted, with a note: an integer or Boolean to \
            text, the text of a number to the number, a single value to a list. Other values are rejected. Dates are ISO 8601 \
            (UTC unless an offset is given) or seconds since 2001, in the years 1 to 9999. URLs are absolute. thumbnailData \
            and htmlContentData are base64. A person is a name or a mail address. fileSize is in megabytes: 2.5 for \
            2,500,000 bytes.

            Queries find custom attributes by name. customKeys changes this for its line: \
            {"com_example_mood": {"searchableByDefault": true}} lets searches for words and ** match the attribute, too; \
            {"searchable": false} stores the attribute without indexing it. "unique" and "multiValued" are stored, without \
            effect.

            A batch is donated as a whole or not at all. It ends at --batch lines, at 16 MiB, at the end of the input, \
            or at a line {"endBatch": {}}. {"endBatch": {"clientState": "…"}} also sets the client state, together with the \
            items of its batch. If the input has such a line, lines after the last one are rejected. With --client-state or \
            --expect-state the whole input is one batch. A rejected line rejects the whole batch if the batch has a client \
            state, and nothing after it is donated.

            --protection complete or completeUnlessOpen encrypts the index; --index has to name it. Its items are found \
            while the store is unlocked (searchlight unlock). An index keeps its class.

            Updates of missing items are ignored, and expired items are not found; both are counted separately.

            Exit status: 0 all lines were accepted, 1 some lines were rejected, 2 the file does not exist, 4 the client state \
            is not the expected state and nothing changed, 8 reading the file or writing the index failed, 9 the store is in \
            use, 64 wrong usage. “searchlight --help” lists the others.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: IndexChoice
    @Argument(
        help: ArgumentHelp("The file with the lines; - is standard input.", valueName: "file"), completion: .file())
    var input: String
    @Option(parsing: .unconditional, help: "Set the client state to this text of at most 250 bytes.")
    var clientState: String?
    @Option(parsing: .unconditional, help: "Donate only if the client state is this text.")
    var expectState: String?
    @Flag(help: "Donate only if there is no client state.")
    var expectNoState = false
    @Option(name: .customLong("batch"), parsing: .unconditional, help: "Donate this many lines at a time.")
    var linesPerBatch = 10_000
    @Option(
        help: ArgumentHelp("The protection class of the index.", valueName: "class"))
    var protection: ProtectionClass?
    @Flag(help: "Print “acknowledged N” as soon as N batches are durable.")
    var acknowledge = false

    func validate() throws {
        guard Self.isName(choice.bundle) else {
            throw ValidationError(
                """
                “\(choice.bundle)” cannot name an app. Names have letters, digits, “-” and “_”, and “.” between them, at most \
                \(ExtensionManifest.maximumIdentifierBytes) in all, and no “-” in front: org.example.app.
                """)
        }
        guard protection?.isEncrypted != true || choice.index != nil else {
            throw ValidationError("Only a named index has a protection class. Name it with --index.")
        }
        guard !input.isEmpty else { throw ValidationError("Name a file, or - for standard input.") }
        guard (1...100_000).contains(linesPerBatch) else {
            throw ValidationError("--batch must be between 1 and 100000.")
        }
        guard expectState == nil || !expectNoState else {
            throw ValidationError("--expect-state and --expect-no-state exclude each other.")
        }
        guard !acknowledge || !options.json else {
            throw ValidationError("--acknowledge and --json exclude each other. Leave out one of them.")
        }
    }

    /// Returns `true` for a name that the service accepts as an app. Scripts may use a name with a
    /// single element. A leading `-` is rejected, because it could be an option.
    private static func isName(_ bundle: String) -> Bool {
        !bundle.hasPrefix("-") && ExtensionManifest.isAppIdentifier(bundle, parts: 1)
    }

    private var expectation: ClientStateExpectation {
        if expectNoState { return .exactly(nil) }
        return expectState.map { .exactly(Array($0.utf8)) } ?? .any
    }

    func perform() async throws {
        let input = try InputLines(path: input)
        try await options.withStore(.change) { store in try await donate(input, to: store) }
    }

    /// The note that the class of the index differs from the requested class.
    private func classNote(in store: any EngineClient) async -> String? {
        // An earlier service does not know the call.
        guard let protection, let status = try? await store.perform(ProtectionStatusCall()),
            let index = status.indexes.first(where: { $0.scope == choice.scope }), index.protection != protection
        else { return nil }
        return "The index has the class \(index.protection.name), and keeps it."
    }

    private func donate(_ input: InputLines, to store: any EngineClient) async throws {
        let acknowledges = acknowledge
        let mark = try await store.perform(RejectionsCall(scope: choice.scope, mark: nil)).mark
        var donation = LineDonation(
            store: store, scope: choice.scope, protection: protection, linesPerBatch: linesPerBatch,
            clientState: clientState.map { Array($0.utf8) }, expectation: expectation
        ) { count in
            if acknowledges { try Output.line("acknowledged \(count)") }
        }
        do {
            try await donation.donate(input)
        } catch {
            if donation.batches > 0, !options.json {
                Output.complain("\(counted(donation.accepted, "item")) accepted before the failure.")
            }
            throw error
        }
        do {
            try await store.perform(SettleCall())
        } catch {
            let items = counted(donation.accepted, "item")
            Output.complain("\(items) accepted and kept. They cannot be found until this is repaired:")
            throw error
        }
        let rejections = try await store.perform(RejectionsCall(scope: choice.scope, mark: mark))
        if let note = await classNote(in: store), !options.json { Output.complain("Note: \(note)") }
        let report = DonationReport(donation, rejections)
        if options.json {
            try Output.printJSON(report)
        } else {
            for refusal in report.refusals { Output.complain("Line \(refusal.line): \(refusal.reason).") }
            if report.refused > report.refusals.count {
                Output.complain("… and \(counted(report.refused - report.refusals.count, "line")) more.")
            }
            for note in report.notes {
                let others = note.lines > 1 ? " and \(counted(note.lines - 1, "other"))" : ""
                Output.complain("Note: \(note.attribute): \(note.note) (line \(note.line)\(others))")
            }
            for item in report.rejected { Output.complain("\(item)") }
            if let halt = report.halt { Output.complain("\(halt)") }
            var parts = ["\(counted(report.accepted, "item")) accepted"]
            if report.refused > 0 { parts.append("\(report.refused) refused") }
            if report.ignoredUpdates > 0 {
                parts.append("\(counted(report.ignoredUpdates, "update")) of missing items ignored")
            }
            if report.expired > 0 { parts.append("\(report.expired) had expired") }
            try Output.line("\(parts.joined(separator: ", ")).")
        }
        guard report.isComplete else { throw ExitCode(ExitStatus.failure.rawValue) }
    }
}

private struct DonationReport: Encodable {
    /// The number of accepted items, some of which may have been replaced or deleted since.
    var accepted: Int
    var refused: Int
    /// The number of updates for items that do not exist.
    var ignoredUpdates: Int
    /// The number of items that had expired before the donation.
    var expired: Int
    var batches: Int
    /// The first rejected lines.
    var refusals: [LineDonation.Refusal]
    /// The items that were accepted but could not be indexed: updates that would have made an item
    /// exceed a limit.
    var rejected: [String]
    /// Notes on attributes: converted values, and names that may be misspelled.
    var notes: [LineDonation.Note]
    var halt: String?

    init(_ donation: LineDonation, _ rejections: Rejections) {
        expired = donation.expired
        // Other donors may have donated to the same index at the same time.
        ignoredUpdates = min(rejections.ignoredUpdates, donation.accepted - expired)
        rejected = rejections.problems.map(\.description)
        accepted = donation.accepted - expired - ignoredUpdates
        refused = donation.refused
        batches = donation.batches
        refusals = donation.refusals
        halt = donation.halt
        notes = donation.attributeNotes
    }

    var isComplete: Bool { refused == 0 && rejected.isEmpty && halt == nil }
}
