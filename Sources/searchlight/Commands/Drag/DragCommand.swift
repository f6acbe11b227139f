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
        abstract: "Drop items: have them turned into a type that a receiver accepts.",
        discussion: """
            The item's promised types are matched against the accepted ones by conformance: public.text also takes \
            public.html. The accepted types are in order of preference; MIME types (text/html) and file name extensions \
            (.html) are taken as the type they belong to. --receiver names a kind of app instead; “searchlight receivers \
            list” shows which there are.

            A file appears when it is complete. One that is there is replaced and keeps its mode; a link is followed; \
            a named pipe, a device or a socket is written to as it is. In a folder each item gets a name of its own, after \
            its title; none that is there is replaced. Packages, such as .rtfd, become folders. Standard output gets the \
            bytes as they are, of several items one after the other.

            With --in-place the original is opened where it is, by its app's extension, and its path printed.

            --json prints an object for each item, its keys in alphabetical order: bytes, form, isWritable (of an original), \
            item, outcome, path, sha256 (with --digest) and type; of one that failed error, item, outcome and status; with \
            --dry-run form, item, leads, pairs, rule and type. Unknown values are omitted.

            Exit status: 0 done, 1 the extension failed, 2 no such item, 3 no such representation, 4 refused (also more than \
            --limit), 5 cancelled, 6 timed out, 7 the extension crashed, 8 reading or writing failed, 64 wrong usage, 141 \
            the reader of standard output has gone; of several items that of the first one that failed.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: ArgumentHelp(
            "Numbers as “search” prints them (@12), unique identifiers, or paths of items that are files; - reads a list.",
            valueName: "item"))
    var items: [String] = []
    @Option(
        help: "The bundle the items belong to, if several have one of this name.", completion: BundleNames.completion)
    var bundle: String?
    @Option(
        help: ArgumentHelp("A file with items, one a line; - is standard input.", valueName: "file"),
        completion: .file())
    var itemsFrom: String?
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Accepted types, best first, with commas between; may be repeated.", valueName: "type"))
    var accept: [String] = []
    @Option(
        help: ArgumentHelp("A kind of app that they are dropped on.", valueName: "profile"),
        completion: ReceiverNames.completion)
    var receiver: String?
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Where it goes: a file, a folder that exists, or - for standard output.", valueName: "path"),
        completion: .file())
    var output: String?
    @Option(
        name: .shortAndLong,
        help: "What you searched for. A single item comes sooner in searches for it then.")
    var query: String?
    @Flag(help: "Print where the original is, instead of copying it.")
    var inPlace = false
    @Flag(help: "Only show which representation would be chosen, and why.")
    var dryRun = false
    @Flag(help: "Tell the SHA-256 of what was delivered.")
    var digest = false
    @Option(
        help: ArgumentHelp(
            "How many bytes in all go without asking, such as 500M.",
            discussion: "Beyond it a person at a terminal is asked; otherwise --yes is needed.", valueName: "bytes"))
    var limit = ByteLimit(bytes: 1 << 30)
    @Flag(help: "Take more than the limit without asking.")
    var yes = false

    private var accepted: [String] {
        accept.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }

    func validate() throws {
        if let problem = query.flatMap(SearchText.lengthProblem) { throw ValidationError(problem) }
        guard !items.isEmpty || itemsFrom != nil else {
            throw ValidationError("Say what to drag: items, or --items-from FILE.")
        }
        guard !accepted.isEmpty || receiver != nil || inPlace else {
            throw ValidationError("Say what the receiver accepts, for example: --accept public.html")
        }
        guard accepted.isEmpty || receiver == nil else {
            throw ValidationError("A receiver has its own types. Leave out --accept or --receiver.")
        }
        guard !inPlace || output == nil else {
            throw ValidationError("--in-place leaves the original where it is. Leave out --output.")
        }
        guard dryRun || output != "-" || !options.json else {
            throw ValidationError(
                "With --output - standard output gets the bytes alone. Leave out --json, or name a file.")
        }
        guard dryRun || inPlace || output?.isEmpty == false else {
            throw ValidationError("Say where it goes: --output FILE, or --output - for standard output.")
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
