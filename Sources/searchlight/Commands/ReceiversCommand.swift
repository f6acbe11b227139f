// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import Promises

struct ReceiversCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receivers",
        abstract: "Show the kinds of apps that “drag --receiver” accepts.",
        discussion: """
            To add a profile, create NAME.json in searchlight/receivers of $XDG_CONFIG_HOME (~/.config): an object with \
            “title”, “accepts” (types as in “drag --accept”, best first), and optionally “takes” (some of “data”, “file” and \
            “inPlace”, best first) and “order” (“preference”, or “set” to let the source choose). It replaces a profile of \
            the same name.
            """,
        subcommands: [ReceiversListCommand.self, ReceiversShowCommand.self],
        defaultSubcommand: ReceiversListCommand.self)
}

/// Provides profile names for shell completion.
enum ReceiverNames {
    static let completion = CompletionKind.custom { _, _, _ in
        let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        return ReceiverProfiles(folder: ReceiverProfiles.folder(environment: environment)).profiles.map(\.name)
    }
}

struct ReceiversListCommand: OptionedCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the profiles.")

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        let folder = ReceiverProfiles.folder(environment: options.environment)
        let profiles = ReceiverProfiles(folder: folder)
        for problem in profiles.problems { Output.complain("Note: \(Output.tidied(problem.description))") }
        if let others = Self.list(profiles.others) {
            Output.complain(
                "Note: \(Output.tidied("\(others) in \(folder) not used: a profile has a name like NAME.json."))"
            )
        }
        if options.json { return try Output.printJSON(profiles.profiles.map { JSONObject($0) }) }
        let width = profiles.profiles.map(\.name.count).max() ?? 0
        for profile in profiles.profiles {
            let name = profile.name.padded(to: width)
            try Output.line("\(name)  \(profile.title)\(profile.path == nil ? "" : " (your own)")")
        }
    }

    /// Returns the first names and the number of the remaining ones; `nil` if there are none.
    private static func list(_ names: [String]) -> String? {
        guard !names.isEmpty else { return nil }
        let shown = names.prefix(3).map(\.debugDescription).joined(separator: ", ")
        return names.count > 3 ? "\(shown) (and \(names.count - 3) more)" : shown
    }
}

struct ReceiversShowCommand: OptionedCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show one profile.")

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The name that “list” prints.", completion: ReceiverNames.completion)
    var name: String

    func perform() async throws {
        let profile = try ReceiverProfiles.find(name, environment: options.environment)
        if options.json { return try Output.printJSON(JSONObject(profile)) }
        try Output.line("\(profile.title)")
        try Output.line("  accepts  \(profile.accepts.joined(separator: ", "))")
        try Output.line("  takes    \(profile.takesNames.joined(separator: ", "))")
        try Output.line(
            "  order    \(profile.orderName), \(profile.order == .source ? "the source chooses" : "best first")")
        try Output.line("  from     \(profile.path ?? "Searchlight")")
    }
}

extension ReceiverProfile {
    fileprivate var takesNames: [String] { takes.map { $0 == .inPlaceFile ? "inPlace" : $0.rawValue } }
    fileprivate var orderName: String { order == .source ? "set" : "preference" }
}

extension JSONObject {
    /// A profile as JSON. Except for the name and the path, it has the keys of a profile file.
    fileprivate init(_ profile: ReceiverProfile) {
        self = [
            "name": profile.name, "title": profile.title, "accepts": profile.accepts, "takes": profile.takesNames,
            "order": profile.orderName, "path": profile.path,
        ]
    }
}
