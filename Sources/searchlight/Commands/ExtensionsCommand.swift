// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ExtensionHost
import Foundation
import SearchlightEngine

struct ExtensionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extensions",
        abstract: "List, inspect, enable, disable, check and create extensions.",
        discussion: "Lists the extensions without a subcommand.",
        subcommands: [
            ExtensionsListCommand.self, ExtensionsInfoCommand.self, ExtensionsEnableCommand.self,
            ExtensionsDisableCommand.self, ExtensionsReleaseCommand.self, ExtensionsWhereCommand.self,
            ExtensionsValidateCommand.self, ExtensionsRecordCommand.self, ExtensionsReplayCommand.self,
            ExtensionsNewCommand.self,
        ],
        defaultSubcommand: ExtensionsListCommand.self)
}

struct ExtensionsListCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List installed extensions, rejected extensions with the reason, and removed extensions.",
        discussion: "Loads no extension.")

    @OptionGroup var options: GlobalOptions
    /// Unrecognized arguments, such as a misspelled subcommand.
    @Argument(parsing: .allUnrecognized, help: .hidden)
    var rest: [String] = []

    func validate() throws {
        guard let word = rest.first(where: { !$0.hasPrefix("-") }) else {
            if let option = rest.first { throw ValidationError("Unknown option '\(option)'") }
            return
        }
        let names = ExtensionsCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
        if names.contains(word) {
            throw ValidationError("Options come after the command: searchlight extensions \(word) …")
        }
        let shown = word.prefix(80)
        let advice =
            if ExtensionManifest.isIdentifier(word) {
                "To show one extension: searchlight extensions info \(shown)"
            } else {
                CommandSynonyms.question(for: word, in: "extensions", among: names)
                    ?? "Use one of \(names.joined(separator: ", "))."
            }
        throw ValidationError("There is no command “searchlight extensions \(shown)”. \(advice)")
    }

    func perform() async throws {
        let listing = try await options.extensionListing()
        if options.json { return try Output.printJSON(JSONObject(listing)) }
        for summary in listing.extensions { try show(summary) }
        if listing.extensions.isEmpty {
            try Output.line("No extension is found. Searched:")
            for directory in listing.searchPath { try Output.line("  \(directory)") }
        }
        for removal in listing.removals {
            try Output.line("Gone: \(removal.bundle)")
            try Output.line("  \(removal.line)")
        }
        for refusal in listing.refusals {
            try Output.line("\(refusal.isShadowed ? "Shadowed" : "Refused"): \(refusal.path)")
            try Output.line("  \(Output.tidied(refusal.problem.description))")
        }
    }

    private func show(_ summary: ExtensionSummary) throws {
        let state: StyledText = summary.state == .ready ? "" : "  \(bold: summary.state.word)"
        try Output.line("\(summary.identifier) \(summary.version)  \(summary.displayName)\(state)")
        try Output.line("  \(dim: summary.path)")
        if let reason = summary.reason { try Output.line("  \(Output.tidied(reason))") }
        for problem in summary.typeDiagnostics { try Output.line("  Types: \(problem)") }
        for warning in summary.warnings { try Output.line("  Note: \(warning)") }
    }
}

extension GlobalOptions {
    /// Returns the extensions with what the store knows about them; without a store, only what the
    /// bundles contain.
    func extensionListing() async throws -> ExtensionListing {
        do {
            return try await withStore(.read) { try await $0.perform(ExtensionListingCall()) }
        } catch EngineError.index(.noStore) {
            return ExtensionListing(registry)
        }
    }
}

extension ExtensionState {
    /// The state in words.
    var word: String { self == .backingOff ? "backing off" : rawValue }
}

extension ExtensionRegistry.Refusal {
    /// `true` if the only problem is that another bundle takes precedence.
    var isShadowed: Bool { if case .shadowed = problem { true } else { false } }
}

extension PendingRemoval {
    /// The line about the pending deletion of the items.
    var line: String {
        """
        Missing since \(moment(removed)); its items are deleted after \(moment(due)) unless it is installed again. \
        To delete them now: searchlight forget \(bundle)
        """
    }
}

/// Formats a time in seconds since 2001-01-01 UTC as ISO 8601, for users and scripts.
func moment(_ seconds: Double) -> String {
    // Foundation's calendar does not work outside these bounds.
    let bounded = max(-6e10, min(seconds.isNaN ? 0 : seconds, 2.5e11))
    return Date(timeIntervalSinceReferenceDate: bounded).ISO8601Format()
}

extension JSONObject {
    fileprivate init(_ listing: ExtensionListing) {
        self = [
            "searchPath": listing.searchPath, "extensions": listing.extensions,
            "refused": listing.refusals.map(JSONObject.init), "removed": listing.removals.map(JSONObject.init),
        ]
    }

    init(_ refusal: ExtensionRegistry.Refusal) {
        self = [
            "path": refusal.path, "state": refusal.isShadowed ? ExtensionState.shadowed : .refused,
            "reason": refusal.problem.description,
        ]
    }

    init(_ removal: PendingRemoval) {
        self = [
            "identifier": removal.bundle, "state": ExtensionState.removed, "missingSince": moment(removal.removed),
            "deletedAfter": moment(removal.due),
        ]
    }
}
