// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ExtensionHost
import Foundation
import SearchlightEngine

/// The argument that names an extension.
struct ExtensionChoice: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The bundle identifier of the extension.", valueName: "bundle"),
        completion: BundleNames.completion)
    var identifier: String

    func validate() throws {
        if identifier.isEmpty { throw ValidationError("The identifier is empty. “searchlight extensions” lists them.") }
    }
}

/// Provides bundle names for shell completion.
enum BundleNames {
    /// Completes the extensions in the user's environment; command line options are ignored.
    static let completion = CompletionKind.custom { _, _, _ in
        let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        let path = ExtensionRegistry.standardSearchPath(
            explicit: environment["SEARCHLIGHT_EXTENSION_PATH"], environment: environment)
        let registry = ExtensionRegistry(searchPath: path)
        return Set(registry.extensions.map(\.identifier) + registry.refusals.map(\.likelyIdentifier)).sorted()
    }
}

struct ExtensionsEnableCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Enable an extension that was disabled.")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ExtensionChoice

    func perform() async throws { try await options.setEnabled(true, choice.identifier) }
}

struct ExtensionsDisableCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Disable an extension: send it no more requests.",
        discussion: "Its items stay in the index and can be found. To remove them: searchlight forget BUNDLE")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ExtensionChoice

    func perform() async throws { try await options.setEnabled(false, choice.identifier) }
}

extension GlobalOptions {
    fileprivate func setEnabled(_ isEnabled: Bool, _ identifier: String) async throws {
        let before = try await withStore(.change) { store in
            let before = try await store.perform(ExtensionDetailsCall(bundle: identifier))
            try await store.perform(SetEnabledCall(bundle: identifier, isEnabled: isEnabled))
            return before.state
        }
        let isChanged = isEnabled == (before == .disabled)
        if json {
            return try Output.printJSON(
                ["identifier": identifier, "isEnabled": isEnabled, "isChanged": isChanged] as JSONObject)
        }
        let word = isEnabled ? "enabled" : "disabled"
        try Output.line("\(identifier) \(isChanged ? "is" : "was") \(word)\(isChanged ? " now" : " before").")
    }
}

struct ExtensionsReleaseCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Clear the failures of an extension, so that it gets requests again.",
        discussion: """
            Ends its quarantine and its back-off after failures. Skip-listed items become pending again.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ExtensionChoice

    func perform() async throws {
        let identifier = choice.identifier
        let before = try await options.withStore(.change) { try await $0.perform(ReleaseCall(bundle: identifier)) }
        let report = ReleaseReport(
            identifier: identifier, wasQuarantined: before.quarantinedSince != nil,
            wasBackingOff: before.backsOffUntil != nil, failures: before.failures.count,
            itemsSetAside: before.itemsSetAside.map(\.identifier))
        if options.json { return try Output.printJSON(report) }
        let parts = [
            report.wasQuarantined ? "its quarantine" : nil,
            report.wasBackingOff ? "its back-off after failures" : nil,
            report.failures > 0 ? counted(report.failures, "failure") : nil,
            report.itemsSetAside.isEmpty ? nil : "\(counted(report.itemsSetAside.count, "item")) skip-listed",
        ].compactMap { $0 }
        guard !parts.isEmpty else {
            return try Output.line("\(identifier) has no quarantine, back-off or skip-listed items.")
        }
        try Output.line("\(identifier) is released: \(parts.joined(separator: ", ")).")
        if !report.itemsSetAside.isEmpty {
            try Output.line("The items are pending. To reindex them now: searchlight reindex \(identifier)")
        }
    }
}

private struct ReleaseReport: Encodable {
    var identifier: String
    var wasQuarantined: Bool
    var wasBackingOff: Bool
    var failures: Int
    var itemsSetAside: [String]
}
