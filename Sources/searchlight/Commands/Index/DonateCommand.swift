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
        abstract: "Put items into the index, one line of JSON each.",
        discussion: """
            A line is an object with uniqueIdentifier and, as needed, domainIdentifier, attributes, customKeys, expirationDate \
            (ISO 8601, seconds since 2001, or "never"; a month without it) and isUpdate (true merges the attributes into the \
            item that is there; null removes one). Empty lines are skipped. Attributes are texts, numbers, true or false, \
            arrays of these, or null; objects are refused. Their names are those of CSSearchableItemAttributeSet, in Swift \
            or Objective-C, and the public kMDItem… names.

            A value has to be of its attribute's kind. One that is certainly meant as such is converted, and a note says so: a whole \
            number or truth value to a text, the text of a number to that number, a single value to a list. Others are refused. \
            Dates are ISO 8601 (UTC unless an offset is given) or seconds since 2001, in the years 1 to 9999. URLs are \
            absolute. thumbnailData and htmlContentData are base64. A person is a name or an address of mail. fileSize \
            is in megabytes: 2.5 for 2,500,000 bytes.

            Attributes of your own are found by queries that name them. customKeys says how else those of its line are \
            searched: {"com_example_mood": {"searchableByDefault": true}} has words and ** look there, \
            {"searchable": false} has the attribute kept and not found. "unique" and "multiValued" are kept, without \
            effect.

            A batch is donated as a whole or not at all. It ends at --batch lines, at 16 MiB, at the end of the input, \
            or at a line {"endBatch": {}}. {"endBatch": {"clientState": "…"}} also makes this the client state, together \
            with the items of its batch. Once a batch was ended so, what follows the last such line is refused. With \
            --client-state or --expect-state the whole input is one batch. A batch with a client state is refused if \
            any of its lines is, and nothing after it is donated.

            Updates of items that are not there are ignored, and what has expired is not found; both are counted apart.

            Exit status: 0 when no line was refused, 1 when some were, 2 when there is no such file, 4 when the client state \
            is not the expected one and so nothing was changed, 8 when reading the file or writing the index failed, 9 when \
            the store is in use, 64 for wrong usage. “searchlight --help” lists the others.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: IndexChoice
    @Argument(help: ArgumentHelp("The lines; - is standard input.", valueName: "file"), completion: .file())
    var input: String
    @Option(parsing: .unconditional, help: "The client state from now on: a text of at most 250 bytes.")
    var clientState: String?
    @Option(parsing: .unconditional, help: "Donate only if this is the client state now.")
    var expectState: String?
    @Flag(help: "Donate only if there is no client state yet.")
    var expectNoState = false
    @Option(name: .customLong("batch"), parsing: .unconditional, help: "Donate so many lines at a time.")
    var linesPerBatch = 10_000
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
        guard !input.isEmpty else { throw ValidationError("Name a file, or - for standard input.") }
        guard (1...100_000).contains(linesPerBatch) else {
            throw ValidationError("--batch must be between 1 and 100000.")
        }
        guard expectState == nil || !expectNoState else {
            throw ValidationError("--expect-state and --expect-no-state exclude each other.")
        }
        guard !acknowledge || !options.json else {
            throw ValidationError("--acknowledge prints lines, which --json cannot have among its object.")
        }
    }

    /// `true` for a name that the service accepts as an app. Scripts may use a name with one
    /// element. A leading `-` is rejected, since it could be an option.
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

    private func donate(_ input: InputLines, to store: any EngineClient) async throws {
        let acknowledges = acknowledge
        let mark = try await store.perform(RejectionsCall(scope: choice.scope, mark: nil)).mark
        var donation = LineDonation(
            store: store, scope: choice.scope, linesPerBatch: linesPerBatch,
            clientState: clientState.map { Array($0.utf8) }, expectation: expectation
        ) { count in
            if acknowledges { try Output.line("acknowledged \(count)") }
        }
        do {
            try await donation.donate(input)
        } catch {
            if donation.batches > 0, !options.json {
                Output.complain("\(counted(donation.accepted, "item")) accepted before it failed.")
            }
            throw error
        }
        do {
            try await store.perform(SettleCall())
        } catch {
            let items = counted(donation.accepted, "item")
            Output.complain("\(items) accepted and kept, but not to be found before this is mended:")
            throw error
        }
        let rejections = try await store.perform(RejectionsCall(scope: choice.scope, mark: mark))
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
                parts.append("\(counted(report.ignoredUpdates, "update")) of what is not there ignored")
            }
            if report.expired > 0 { parts.append("\(report.expired) had expired") }
            try Output.line("\(parts.joined(separator: ", ")).")
        }
        guard report.isComplete else { throw ExitCode(ExitStatus.failure.rawValue) }
    }
}

private struct DonationReport: Encodable {
    /// The number of accepted items. Some of them may have been replaced or deleted since.
    var accepted: Int
    var refused: Int
    /// The number of updates of items that do not exist.
    var ignoredUpdates: Int
    /// The number of items that had expired before the donation.
    var expired: Int
    var batches: Int
    /// The first rejected lines.
    var refusals: [LineDonation.Refusal]
    /// The items that were accepted and could not be indexed: updates that made an item exceed a
    /// limit.
    var rejected: [String]
    /// The notes on attributes: converted values, and names that may be misspelt.
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
