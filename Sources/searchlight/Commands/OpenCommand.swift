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
            Tried in this order: the running app, if it has registered a handler for activities; the app over the session bus \
            (org.freedesktop.Application); the command of its desktop entry; the default app of the item's file or URL. An app \
            is started at most once. Its desktop entry is the DesktopEntry of the extension's manifest, or else it has the name \
            of the bundle. --dry-run shows the way that is taken, and why.

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
            "A number as “search” prints it (@12), or the item's unique identifier; for items that are files also a path.",
            valueName: "item"))
    var item: String
    @Option(
        help: "The bundle the item belongs to, if several have one of this name.", completion: BundleNames.completion)
    var bundle: String?
    @Option(help: "The name of the index that the item is in, if several of the bundle's have one of this name.")
    var index: String?
    @Option(
        name: .shortAndLong,
        help: "The words that you searched for. Later searches for them rank the item higher.")
    var query: String?
    @Option(
        help: """
            Instead of opening the item, call its phone number (call) or show the way to its place (navigate), if it offers \
            that.
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
