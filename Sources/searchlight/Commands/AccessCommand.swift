// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AssistantServer
import CommandSupport
import Foundation
import Previews
import SearchlightEngine

struct AccessCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "access",
        abstract: "Choose the apps that local assistants may read, and show the log of their reads.",
        discussion: """
            An assistant that uses “searchlight mcp” reads nothing until you grant it an app. Lists the grants without a \
            subcommand.
            """,
        subcommands: [
            AccessListCommand.self, AccessGrantCommand.self, AccessRevokeCommand.self, AccessLogCommand.self,
        ],
        defaultSubcommand: AccessListCommand.self)
}

struct AccessListCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the assistants and the apps that each may read.",
        discussion: "Also lists assistants without a grant that asked recently.")

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        let (grants, asked) = try options.withAssistants { files throws(AssistantFileError) in
            let grants = try files.grants.read()
            let asked = Set(try files.log.entries().filter(\.isDenied).map(\.assistant))
                .subtracting(grants.assistants.keys).sorted()
            return (grants, asked)
        }
        let known = grants.assistants.sorted { $0.key < $1.key }
        if options.json {
            return try Output.printJSON(
                [
                    "assistants": known.map { name, grant in
                        ["name": name, "all": grant.all, "apps": grant.bundles.sorted()] as JSONObject
                    }, "asked": asked,
                ] as JSONObject)
        }
        for (name, grant) in known {
            let apps = grant.all ? "all apps" : grant.bundles.sorted().joined(separator: ", ")
            try Output.line("\(bold: DisplayText.line(name))  \(apps)")
        }
        for name in asked {
            let shown = DisplayText.line(name)
            try Output.line(
                "\(bold: shown)  \(dim: "nothing; it asked. To grant an app: searchlight access grant '\(shown)' BUNDLE")"
            )
        }
        if known.isEmpty, asked.isEmpty { Output.complain("No assistant has asked, and none may read anything.") }
    }
}

struct AccessGrantCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant", abstract: "Let an assistant read the items of apps.",
        discussion: """
            The assistant reports its own name; “searchlight access” lists the assistants that asked. --all means \
            all apps, including apps that are added later.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The name of the assistant.")
    var assistant: String
    @Argument(help: "The bundle identifiers of the apps.", completion: BundleNames.completion)
    var bundles: [String] = []
    @Flag(help: "Grant all apps.")
    var all = false

    func validate() throws {
        try refuseEmpty(assistant, "The name of the assistant")
        for bundle in bundles { try refuseEmpty(bundle, "The name of an app") }
        guard all != !bundles.isEmpty else { throw ValidationError("Name the apps, or pass --all, but not both.") }
    }

    func perform() async throws {
        let known = try await options.withStore(.read) { store in
            Set(try await store.perform(ItemCountsCall()).keys)
                .union(try await store.perform(ExtensionsCall()).identifiers)
                .union(await lockedBundles(in: store))
        }
        try options.withAssistants { files throws(AssistantFileError) in
            try files.grants.grant(assistant, all ? nil : bundles)
        }
        if options.json {
            return try Output.printJSON(["assistant": assistant, "all": all, "apps": bundles] as JSONObject)
        }
        try Output.line("\(assistant) may read \(all ? "all apps" : bundles.joined(separator: ", ")).")
        // Access for a misspelled name would have no effect.
        for bundle in bundles where !known.contains(bundle) {
            Output.complain("\(text: "Note: " + unknownBundle(bundle, among: known.sorted()))")
        }
    }
}

struct AccessRevokeCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke an assistant's access to apps, from its next request on.",
        discussion: "Without apps, revokes all access. Exit status 2 if there was no such grant.")

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The name of the assistant.")
    var assistant: String
    @Argument(help: "The bundle identifiers of the apps.", completion: BundleNames.completion)
    var bundles: [String] = []

    func perform() async throws {
        let isChanged = try options.withAssistants { files throws(AssistantFileError) in
            try files.grants.revoke(assistant, bundles.isEmpty ? nil : bundles)
        }
        guard isChanged else {
            throw CommandFailure(
                message: "“\(assistant)” has no such grant. “searchlight access” lists them.", status: .notFound)
        }
        if options.json { return try Output.printJSON(["assistant": assistant, "apps": bundles] as JSONObject) }
        try Output.line(
            bundles.isEmpty
                ? "\(assistant) can no longer read anything."
                : "\(assistant) may no longer read \(bundles.joined(separator: ", ")).")
    }
}

struct AccessLogCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show the searches and reads of assistants, the latest first, or erase this log.",
        discussion: """
            The log contains search texts and item numbers, but no content. “searchlight show @NUMBER” shows an \
            item. “searchlight forget” removes the entries about its app.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Erase the log.")
    var clear = false
    @Flag(help: "Do not ask.")
    var yes = false
    @Option(
        name: .shortAndLong, parsing: .unconditional, help: ListLimit.help("Show at most this many entries"),
        transform: ListLimit.items)
    var limit = 50

    func validate() throws {
        guard !yes || clear else { throw ValidationError("--yes goes with --clear.") }
    }

    func perform() async throws {
        let entries = try options.withAssistants { files throws(AssistantFileError) in try files.log.entries() }
        if clear { return try erase(entries.count) }
        let shown = entries.suffix(limit).reversed()
        if options.json { return try Output.printJSON(["entries": Array(shown)] as JSONObject) }
        for entry in shown {
            let time = moment(entry.time - Date.timeIntervalBetween1970AndReferenceDate)
            let query = entry.query.map { " “\(DisplayText.line($0, limit: Self.shownLength))”" } ?? ""
            let items = entry.items.prefix(Self.shownItems).map { "@\($0)" }.joined(separator: " ")
            let more = entry.items.count > Self.shownItems ? " …" : ""
            let result =
                entry.isDenied
                ? "denied"
                : entry.items.isEmpty ? "nothing" : "\(items)\(more) of \(entry.bundles.joined(separator: ", "))"
            try Output.line("\(dim: time)  \(bold: DisplayText.line(entry.assistant)) \(entry.tool)\(query): \(result)")
        }
        if entries.isEmpty { Output.complain("No assistant has asked for anything.") }
    }

    private static let (shownLength, shownItems) = (100, 10)

    private func erase(_ count: Int) throws {
        if count > 0, !yes {
            try Confirmation.ask("remove", "the log of \(counted(count, "request"))", json: options.json)
        }
        try options.withAssistants { files throws(AssistantFileError) in try files.log.clear() }
        if options.json { return try Output.printJSON(["erased": count]) }
        try Output.line("Erased the log of \(counted(count, "request")).")
    }
}

extension GlobalOptions {
    /// The assistant files in a store.
    fileprivate struct AssistantFiles {
        let grants: AssistantGrantsFile
        let log: AssistantLog
    }

    /// Runs a closure with the assistant files, and converts its errors.
    fileprivate func withAssistants<Value>(
        _ body: (AssistantFiles) throws(AssistantFileError) -> Value
    ) throws(CommandFailure) -> Value {
        let files = AssistantFiles(
            grants: AssistantGrantsFile(store: storeDirectory), log: AssistantLog(store: storeDirectory))
        do throws(AssistantFileError) { return try body(files) } catch {
            throw CommandFailure(message: error.description, status: .inputOutput)
        }
    }
}
