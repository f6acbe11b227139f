// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Promises
import SearchIndex
import SearchlightEngine

struct DragCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drag",
        abstract: "Drop an item: have it turned into a type that a receiver accepts.",
        discussion: """
            The item's promised types are matched against the accepted ones by conformance: public.text also takes \
            public.html. The accepted types are in order of preference; MIME types (text/html) and file name extensions \
            (.html) are taken as the type they belong to.

            A file appears when it is complete. One that is there is replaced and keeps its mode; a link is followed; \
            a named pipe, a device or a socket is written to as it is. Standard output gets the bytes as they are.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ItemChoice
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Accepted types, best first, with commas between; may be repeated.", valueName: "type"))
    var accept: [String] = []
    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where it goes; - is standard output.", valueName: "file"))
    var output: String?
    @Flag(help: "Only show which representation would be chosen, and why.")
    var dryRun = false

    private var accepted: [String] {
        accept.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }

    func validate() throws {
        guard !accepted.isEmpty else {
            throw ValidationError("Say what the receiver accepts, for example: --accept public.html")
        }
        guard dryRun || output?.isEmpty == false else {
            throw ValidationError("Say where it goes: --output FILE, or --output - for standard output.")
        }
    }

    func run() async throws {
        try await reportingErrors(json: options.json && output != "-") {
            try await options.withStore(.read) { store in try await drag(store) }
        }
    }

    private func drag(_ store: any StoreService) async throws {
        let item = try await choice.find(in: store)
        if !dryRun { await store.prewarm(item.scope.bundle) }
        let types = AcceptedTypes(accepted, for: item)
        for note in types.notes { Output.complain("Note: \(note)") }
        let resolution = store.resolve(item, accepted: types.identifiers)
        if dryRun { return try explain(resolution) }
        guard let output else { return }
        let target = try OutputChoice(output, for: item, as: resolution.choice?.type)
        let (representation, bytes): (Representation, UInt64)
        do throws(EngineError) {
            (representation, bytes) = try await store.drag(
                item, accepted: types.identifiers, to: target.destination)
        } catch {
            guard case .promise(let problem) = error else { throw error }
            throw target.failure(problem)
        }
        guard let path = target.path else { return }
        if options.json {
            try Output.printJSON(
                DropReport(path: path, type: representation.type, form: representation.form.rawValue, bytes: bytes))
        } else {
            try Output.line("\(path): \(counted(Int(clamping: bytes), "byte")) of \(representation.type)")
        }
    }

    private func explain(_ resolution: PromiseResolution) throws {
        if options.json {
            try Output.printJSON(ResolutionReport(resolution))
        } else {
            try Output.line("\(text: resolution.explanation)")
        }
        if resolution.choice == nil { throw ExitCode(ExitStatus.unsupportedType.rawValue) }
    }
}

/// A delivery as JSON.
struct DropReport: Encodable {
    var path: String
    var type: String
    var form: String?
    var bytes: UInt64
}

private struct ResolutionReport: Encodable {
    struct Pair: Encodable {
        var offered: String
        var accepted: String
        var serves: Bool
        var distance: Int?
    }
    var pairs: [Pair]
    var rule: String
    var type: String?
    var form: String?

    init(_ resolution: PromiseResolution) {
        let explanation = resolution.explanation
        pairs = explanation.pairs.map {
            Pair(
                offered: explanation.offered[$0.offeredIndex], accepted: explanation.accepted[$0.acceptedIndex],
                serves: $0.relation.serves, distance: $0.relation.distance)
        }
        rule = explanation.rule.rawValue
        type = resolution.choice?.type
        form = resolution.choice?.form.rawValue
    }
}
