// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import Promises
import SearchIndex
import SearchlightEngine

struct DragCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "drag",
        abstract: "Drop items: convert them to a type that a receiver accepts.",
        discussion: """
            Matches the item's promised types against the accepted types by conformance: public.text also accepts \
            public.html. List accepted types in order of preference; a MIME type (text/html) or a file name extension \
            (.html) stands for its uniform type. --receiver names a kind of app instead; “searchlight receivers list” lists \
            them.

            A file appears when it is complete. An existing file is replaced and keeps its mode; a link is followed; a named \
            pipe, a device or a socket is written directly. In a folder each item gets a new name, after its title or its \
            original file, and no existing file is replaced. Packages, such as .rtfd, become folders. Standard output gets \
            the raw bytes, item after item.

            With --in-place the extension of the item's app opens the original at its path, and the path is printed.

            --json prints an object for each item, its keys in alphabetical order: bytes, form, isWritable (of an original), \
            item, outcome, path, sha256 (with --digest) and type; for a failed item error, item, outcome and status; with \
            --dry-run form, item, leads, pairs, rule and type. Unknown values are omitted.

            Exit status: 0 done, 1 the extension failed, 2 no such item, 3 no such representation, 4 refused (also more than \
            --limit), 5 cancelled, 6 timed out, 7 the extension crashed, 8 reading or writing failed, 64 wrong usage, 141 \
            the reader of standard output has gone; for several items the status of the first failed item.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: ArgumentHelp(
            "Item numbers that “search” prints (@12), unique identifiers, or paths of files; - reads a list.",
            valueName: "item"))
    var items: [String] = []
    @Option(
        help: "Choose the items of this bundle if several bundles have the same identifier.",
        completion: BundleNames.completion)
    var bundle: String?
    @Option(
        help: ArgumentHelp("Read items from a file, one per line; - is standard input.", valueName: "file"),
        completion: .file())
    var itemsFrom: String?
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Accept these types, best first, separated by commas; repeatable.", valueName: "type"))
    var accept: [String] = []
    @Option(
        help: ArgumentHelp("Accept the types of this kind of app.", valueName: "profile"),
        completion: ReceiverNames.completion)
    var receiver: String?
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write to a file, an existing folder, or - for standard output.", valueName: "path"),
        completion: .file())
    var output: String?
    @Option(
        name: .shortAndLong,
        help: "Count this search text, so that later searches for it rank a single item higher.")
    var query: String?
    @Flag(help: "Print the path of the original instead of copying it.")
    var inPlace = false
    @Flag(help: "Show the representation that would be chosen, and the reason, and write nothing.")
    var dryRun = false
    @Flag(help: "Print the SHA-256 of the delivered bytes.")
    var digest = false
    @Option(
        help: ArgumentHelp(
            "Deliver at most this many bytes in all without asking, such as 500M.",
            discussion: "Above the limit, the command asks at a terminal, and needs --yes elsewhere.",
            valueName: "bytes"))
    var limit = ByteLimit(bytes: 1 << 30)
    @Flag(help: "Deliver more than the limit without asking.")
    var yes = false

    private var accepted: [String] {
        accept.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }

    func validate() throws {
        if let problem = query.flatMap(SearchText.lengthProblem) { throw ValidationError(problem) }
        guard !items.isEmpty || itemsFrom != nil else {
            throw ValidationError("Nothing to drag. Name items, or pass --items-from FILE.")
        }
        guard !accepted.isEmpty || receiver != nil || inPlace else {
            throw ValidationError("No accepted type is given. Pass one, for example: --accept public.html")
        }
        guard accepted.isEmpty || receiver == nil else {
            throw ValidationError("--receiver and --accept exclude each other. Leave out one of them.")
        }
        guard !inPlace || output == nil else {
            throw ValidationError("--in-place leaves the original where it is. Leave out --output.")
        }
        guard dryRun || output != "-" || !options.json else {
            throw ValidationError(
                "--output - and --json both write to standard output. Leave out --json, or name a file.")
        }
        guard dryRun || inPlace || output?.isEmpty == false else {
            throw ValidationError("No destination is given. Pass --output FILE, or --output - for standard output.")
        }
    }

    func perform() async throws {
        let names = try ItemNames(items, from: itemsFrom)
        let receiver = try DragReceiver(
            profile: receiver, accepted: accepted, inPlace: inPlace, environment: options.environment)
        try await options.withStore(.read, isRepeatable: false) { store in
            let drag = DragRun(
                store: store, receiver: receiver,
                reports: DropReports(json: options.json, isSingle: names.names.count == 1),
                options: dragOptions, output: output, query: query)
            try await drag.run(names, bundle: bundle, isDry: dryRun)
        }
    }

    private var dragOptions: DragOptions {
        let mayAsk = itemsFrom != "-" && !items.contains("-")
        return DragOptions(
            delivery: DeliveryOptions(wantsDigest: digest), consentLimit: yes ? nil : limit.bytes,
            consent: { bytes, limit in Consent.ask(bytes: bytes, limit: limit, mayAsk: mayAsk) })
    }
}
