// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ExtensionHost
import Foundation
import SearchlightEngine

struct UpdateCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Bring the index up to date with your files.",
        discussion: """
            Looks which of the followed files changed since their extension was last told, without opening them, and tells \
            it of those. An extension that owes a reindex is asked for that too. The service does all of this by itself, \
            seconds after a change; without it, use this command. “searchlight status” lists what is followed.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: "The bundle identifier of an extension; without one, all whose files are followed.",
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
            for update in updates { try show(update, after: time) }
            if updates.isEmpty {
                try Output.line("No extension has files followed, so nothing can be out of date by them.")
            }
        }
        if updates.contains(where: { $0.problem != nil }) { throw ExitCode(ExitStatus.failure.rawValue) }
    }

    private func show(_ update: FileUpdate, after time: Duration) throws {
        for place in update.unavailable {
            Output.fail("Not there or not readable, so what was found in it stays: \(place)")
        }
        try Output.line("\(update.bundle): \(update.outcome(after: time))")
        if update.setAside > 0 {
            Output.fail(
                "The extension failed with \(counted(update.setAside, "file")). It is told of them again when they change."
            )
        }
        if let problem = update.problem { Output.fail(problem) }
    }
}

extension FileUpdate {
    /// The outcome in a few words.
    fileprivate func outcome(after time: Duration) -> String {
        guard isFollowed else {
            return "no files of it are followed. To bring it up to date: searchlight reindex \(bundle)"
        }
        var parts: [String] = []
        if changed > 0 { parts.append("\(counted(changed, "file")) changed") }
        if moved > 0 { parts.append("\(moved) moved") }
        if removed > 0 { parts.append("\(removed) removed") }
        if let reindexed { parts.append("reindexed, \(counted(reindexed, "item"))") }
        if parts.isEmpty { return problem == nil ? "up to date" : "not up to date" }
        return parts.joined(separator: ", ") + String(format: ", in %.1f s", time / .seconds(1))
    }
}
