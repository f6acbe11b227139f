// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import ArgumentParser
import CommandSupport
import Foundation
import SearchIndex
import SearchlightEngine

struct OpenCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open an item in its app.",
        discussion: """
            Tries, in this order: the running app, if it has registered a handler for activities; the app over \
            the session bus (org.freedesktop.Application); the command of its desktop entry; the default app of the \
            item's file or URL. An app is started at most once. Its desktop entry is the DesktopEntry of the \
            extension's manifest, or else the entry with the name of the bundle. --dry-run shows the chosen method, \
            and why.

            A file of an extension's item is opened if the extension may read it.

            --json prints an object: app, delivery (activity, file, url or nothing), entry, item, outcome (continued, \
            activated, started or finished), process (of a started program) and way (runningApp, busActivation, desktopEntry or \
            defaultHandler); if it failed \
            error, item, outcome and status; with --dry-run app, busName, command, delivery, entry, item, passedOver, reason, \
            uris and way. Unknown values are omitted.

            Exit status: 0 the app was started or answered, 2 no such item or its file is gone, 3 no app opens it, 4 its file \
            may not be opened, 5 cancelled, 6 the app did not answer in time, 7 the app crashed at its start, 8 it could not be \
            started.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: ArgumentHelp(
            "An item number that “search” prints (@12), a unique identifier, or the path of a file.",
            valueName: "item"))
    var item: String
    @Option(
        help: "Choose the item of this bundle if several bundles have the same identifier.",
        completion: BundleNames.completion)
    var bundle: String?
    @Option(
        help: "Choose the item in the index with this name if several indexes of the bundle have the same identifier.")
    var index: String?
    @Option(
        name: .shortAndLong,
        help: "Count this search text, so that later searches for it rank the item higher.")
    var query: String?
    @Option(
        help: """
            Instead of opening the item, call its phone number (call) or show its place (navigate), if the item \
            offers this.
            """)
    var action: QuickAction?
    @Flag(help: "Only show how the item would be opened, and why.")
    var dryRun = false

    func validate() throws {
        try refuseEmpty(index, "--index")
        if let problem = query.flatMap(SearchText.lengthProblem) { throw ValidationError(problem) }
    }

    func perform() async throws {
        // Opening starts an app, so it must not be repeated.
        try await options.withStore(.read, isRepeatable: false) { store in
            guard
                let found = try await ItemChoice.find([item], bundle: bundle, index: index, in: store).first
            else { throw EngineError.itemNotFound(item) }
            let item = try found.get()
            let target = try await store.perform(LaunchTargetCall(item: item.number, action: action))
            try await LaunchRun(options: options, store: store, name: self.item).run(target, isDry: dryRun)
            if let query, !dryRun { await store.count(.init(item: item.number, text: query, kind: .open)) }
        }
    }
}

extension QuickAction: ExpressibleByArgument {}
