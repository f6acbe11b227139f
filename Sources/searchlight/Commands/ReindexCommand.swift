// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ExtensionHost
import Foundation
import SearchlightEngine

struct ReindexCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "reindex",
        abstract: "Have extensions donate all their items again.",
        discussion: """
            A failed reindex stays pending: “searchlight status” shows it, and the next reindex of the bundle repeats it. An \
            extension that reindexes in pages continues at the last page. A bundle without an extension and without a running \
            app is refused. --json prints an array with a report for each bundle, even a failed or refused one, or an \
            error object if no reindex started. A disabled extension is a failure only if it is named. Write an identifier \
            that begins with a dash as --items=-name, and repeat the option for each.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: "Bundle identifiers of extensions or running apps; default: every installed extension.",
        completion: BundleNames.completion)
    var bundles: [String] = []
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Have one extension donate again, or delete, only these items.", valueName: "id"))
    var items: [String] = []
    @Flag(name: .shortAndLong, help: "Show every message of the extensions.")
    var verbose = false

    func validate() throws {
        for bundle in bundles { try refuseEmpty(bundle, "The name of a bundle") }
        guard !items.isEmpty else { return }
        if bundles.count != 1 { throw ValidationError("--items needs exactly one bundle. Name it before the option.") }
        if items.contains("") { throw ValidationError("A name is empty. Leave it out.") }
    }

    func perform() async throws {
        let watcher = ReindexWatcher(isQuiet: options.json, isVerbose: verbose)
        try await options.withStore(.change) { store in try await reindex(store, watcher) }
    }

    private func reindex(_ store: any EngineClient, _ watcher: ReindexWatcher) async throws {
        let installed = try await store.perform(ExtensionsCall())
        let wanted = bundles.isEmpty ? installed.identifiers : bundles
        var reports = bundles.isEmpty ? refusals(in: installed) : []
        guard !wanted.isEmpty else {
            throw CommandFailure(
                message: """
                    There is no extension to reindex\(reports.isEmpty ? "" : ", only refused ones"). An extension is \
                    a folder NAME.searchext. Searched: \(installed.searchPath.joined(separator: ", ")). \
                    To reindex a running app: searchlight reindex BUNDLE
                    """,
                status: .notFound)
        }
        var firstError: EngineError?
        for bundle in wanted {
            watcher.begin(bundle)
            let start = ContinuousClock.now
            var count: Int?
            var failure: EngineError?
            do throws(EngineError) {
                count =
                    if items.isEmpty {
                        try await store.perform(ReindexCall(bundle: bundle)) { watcher.take($0) }
                    } else {
                        try await store.perform(ReindexItemsCall(bundle: bundle, items: items.sorted())) {
                            watcher.take($0)
                        }
                    }
            } catch {
                failure = error
                // When all extensions are reindexed, a disabled extension is not an error.
                if !(bundles.isEmpty && error == .extension(.disabled(identifier: bundle))) {
                    firstError = firstError ?? error
                }
            }
            var report = watcher.report(bundle, items: count, after: .now - start, error: failure)
            if !items.isEmpty { report.asked = Set(items).count }
            // The reindex has succeeded, even if its account cannot be read.
            if failure == nil, let account = try? await store.perform(AccountCall(bundle: bundle)) {
                report.account = JSONObject(account)
                report.omissions = account.omissionLines
            }
            reports.append(report)
            try show(report)
        }
        if options.json { try Output.printJSON(reports) }
        guard let firstError else { return }
        throw ExitCode(ExitStatus(firstError).rawValue)
    }

    /// Returns the rejected bundles, which are also reported on standard error.
    private func refusals(in installed: InstalledExtensions) -> [ReindexReport] {
        installed.refusals.map { refusal in
            if !options.json { Output.fail("Refused: \(refusal.path): \(refusal.problem)") }
            let name = URL(filePath: refusal.path).deletingPathExtension().lastPathComponent
            return ReindexReport(bundle: name, path: refusal.path, refused: refusal.problem.description)
        }
    }

    private func show(_ report: ReindexReport) throws {
        guard !options.json else { return }
        if let items = report.items {
            let time = String(format: "%.1f", report.seconds)
            if let asked = report.asked {
                let outcome = "asked for \(counted(asked, "item")), \(report.donated) donated"
                try Output.line("\(report.bundle): \(outcome) in \(time) s")
            } else {
                try Output.line("\(report.bundle): \(counted(items, "item")) indexed in \(time) s")
            }
            for line in report.omissions { try Output.line("  \(Output.tidied(line))") }
        }
        if let error = report.error { Output.fail(error) }
    }
}

/// The result for one bundle, as JSON.
struct ReindexReport: Encodable {
    var bundle: String
    /// The path of the bundle, if it was rejected.
    var path: String?
    /// The reason for the rejection.
    var refused: String?
    /// The number of items that the bundle has after the reindex.
    var items: Int?
    /// The number of requested items; `nil` for all items.
    var asked: Int?
    var donated = 0
    var retries = 0
    var seconds = 0.0
    /// The first messages from the extension, and the last one.
    var messages: [String] = []
    /// The number of messages in between that were dropped.
    var droppedMessages = 0
    var error: String?
    /// The bundle's account after the reindex.
    var account: JSONObject?
    /// The omissions as lines of text. They are not part of the JSON, because it contains the
    /// account.
    var omissions: [String] = []

    private enum CodingKeys: CodingKey {
        case bundle, path, refused, items, asked, donated, retries, seconds, messages, droppedMessages, error, account
    }
}
