// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ExtensionHost
import SearchlightEngine

struct ExtensionsInfoCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Show the state, configuration and failures of one extension.",
        discussion: "Loads no extension. Exit status 2 if the extension is unknown.")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ExtensionChoice

    func perform() async throws {
        let details = try await details()
        if options.json { return try Output.printJSON(JSONObject(details)) }
        try show(details)
    }

    private func details() async throws -> ExtensionDetails {
        do {
            return try await options.withStore(.read) {
                try await $0.perform(ExtensionDetailsCall(bundle: choice.identifier))
            }
        } catch EngineError.index(.noStore) {
            do throws(ExtensionError) {
                return try ExtensionDetails(choice.identifier, in: options.registry)
            } catch {
                throw EngineError.extension(error)
            }
        }
    }

    private func show(_ details: ExtensionDetails) throws {
        try Output.line("\(bold: details.identifier)")
        var lines: [(String, [String])] = [("state", [details.state.word] + (details.reason.map { [$0] } ?? []))]
        if let bundle = details.bundle {
            let place = bundle.summary.path == bundle.directory ? [] : ["leads to \(bundle.directory)"]
            lines += [
                ("name", [bundle.summary.displayName]), ("version", [bundle.summary.version]),
                ("bundle", [bundle.summary.path] + place), ("library", bundle.library.map { [$0] } ?? []),
                ("class", bundle.principalClass.map { [$0] } ?? []), ("extends", bundle.extensionPoints),
                ("may reach", bundle.access), ("bindings", bundle.bindings), ("types", bundle.types),
                ("notes", bundle.summary.typeDiagnostics + bundle.summary.warnings),
            ]
        }
        lines.append(("items", ["\(details.items)"]))
        if let owed = details.owed {
            let failed = owed.failures == 0 ? "" : ", failed \(counted(owed.failures, "time"))"
            lines.append(("pending", ["a reindex\(failed)"] + (owed.lastFailure.map { [$0] } ?? [])))
        }
        if let removal = details.removal { lines.append(("gone", [removal.line])) }
        // The reason why a bundle was rejected was printed above.
        lines.append(
            (
                "not used",
                details.refusals.map {
                    let why = $0.problem.description
                    return why == details.reason ? $0.path : "\($0.path): \(why)"
                }
            ))
        let health = details.health
        lines.append(
            (
                "failures",
                health.failures.flatMap { failure in
                    ["\(moment(failure.moment)): it \(failure.summary)"] + failure.lastOutput.map { "  | " + $0 }
                }
            ))
        if let sandbox = details.sandbox.map(SandboxSection.Bundle.init) {
            lines += [
                ("not confined by", sandbox.missing),
                ("not granted", sandbox.withheld.map { "\($0.path): \($0.reason)" }),
                ("attempts", sandbox.attempts.map { "it \($0.line)" }),
            ]
        }
        lines.append(("skip-listed", health.itemsSetAside.map { "\($0.identifier): it \($0.reason)" }))
        let width = lines.map(\.0.count).max() ?? 0
        for (name, values) in lines {
            for (index, line) in values.flatMap(Output.lines).enumerated() {
                let title = (index == 0 ? name : "").padding(toLength: width, withPad: " ", startingAt: 0)
                try Output.line("  \(dim: title)  \(line)")
            }
        }
    }
}

extension JSONObject {
    fileprivate init(_ details: ExtensionDetails) {
        let health = details.health
        self = [
            "identifier": details.identifier, "state": details.state, "reason": details.reason,
            "bundle": details.bundle, "refused": details.refusals.map(JSONObject.init), "items": details.items,
            "owed": details.owed, "removed": details.removal.map(JSONObject.init),
            "failures": health.failures.map { failure -> JSONObject in
                [
                    "moment": moment(failure.moment), "summary": failure.summary, "lastOutput": failure.lastOutput,
                ]
            },
            "quarantinedSince": health.quarantinedSince.map(moment),
            "backsOffUntil": health.backsOffUntil.map(moment), "itemsSetAside": health.itemsSetAside,
            "sandbox": details.sandbox.map(SandboxSection.Bundle.init),
        ]
    }
}
