// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ExtensionHost
import Foundation
import SearchlightEngine

struct UpdateCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Update the index from your changed files.",
        discussion: """
            Finds watched files that changed since the last update, without opening them, and reports them to their \
            extensions. Runs pending reindexes of these extensions, too. The service does the same automatically, \
            seconds after a change; without a service, use this command. “searchlight status” lists the watched \
            files.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: "The bundle identifier of an extension; default: all extensions with watched files.",
        completion: BundleNames.completion)
    var bundle: String?
    @Flag(name: .shortAndLong, help: "Show every message of the extensions.")
    var verbose = false

    func validate() throws { if let bundle { try refuseEmpty(bundle, "The name of a bundle") } }

    func perform() async throws {
        let watcher = ReindexWatcher(isQuiet: options.json, isVerbose: verbose)
        let start = ContinuousClock.now
        let updates = try await options.withStore(.change) { store in
            try await store.perform(UpdateCall(bundle: bundle)) { watcher.take($0) }
        }
        let time = ContinuousClock.now - start
        if options.json {
            try Output.printJSON(updates)
        } else {
            // The duration of several updates says nothing about an individual one.
            for update in updates { try show(update, after: updates.count == 1 ? time : nil) }
            if updates.isEmpty {
                try Output.line("No extension has watched files, so there is nothing to update.")
            }
        }
        if updates.contains(where: { $0.problem != nil }) { throw ExitCode(ExitStatus.failure.rawValue) }
    }

    private func show(_ update: FileUpdate, after time: Duration?) throws {
        for place in update.unavailable {
            Output.fail("Missing or not readable, so its items stay in the index: \(place)")
        }
        try Output.line("\(update.bundle): \(update.outcome(after: time))")
        if update.setAside > 0 {
            Output.fail(
                "The extension failed with \(counted(update.setAside, "file")). They are skip-listed until they change."
            )
        }
        if let problem = update.problem { Output.fail(problem) }
    }
}

extension FileUpdate {
    /// Returns the outcome in a few words.
    fileprivate func outcome(after time: Duration?) -> String {
        guard isFollowed else {
            return "it has no watched files. To update it: searchlight reindex \(bundle)"
        }
        var parts: [String] = []
        if changed > 0 { parts.append("\(counted(changed, "file")) changed") }
        if moved > 0 { parts.append("\(moved) moved") }
        if removed > 0 { parts.append("\(removed) removed") }
        if let reindexed { parts.append("reindexed, \(counted(reindexed, "item"))") }
        if parts.isEmpty { return problem == nil ? "up to date" : "not up to date" }
        if let time { parts.append(String(format: "in %.1f s", time / .seconds(1))) }
        return parts.joined(separator: ", ")
    }
}
