// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import ArgumentParser
import CommandSupport
import ExtensionHost
import SearchlightEngine

struct ContinueCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "continue",
        abstract: "Continue a search in an app.",
        discussion: """
            Gives the text to the running app of the bundle, or starts the app for it. A running app must have \
            registered a handler for activities. To be started, an app needs CoreSpotlightContinuation in the \
            manifest of its extension. Both need the service.

            --json and the exit statuses are the same as for “open”, but without an item.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The bundle of the app.", completion: BundleNames.completion)
    var bundle: String
    @Argument(help: "The text of the search.")
    var text: [String]
    @Flag(help: "Only show which app would continue the search, and why.")
    var dryRun = false

    func validate() throws {
        if let problem = SearchText.lengthProblem(of: joined) { throw ValidationError(problem) }
        guard !joined.allSatisfy(\.isWhitespace) else {
            throw ValidationError("The text is empty. Say what to search for.")
        }
    }

    private var joined: String { text.joined(separator: " ") }

    func perform() async throws {
        try await options.withStore(.read, isRepeatable: false) { store in
            let target = try await store.perform(SearchTargetCall(text: joined, bundle: bundle))
            if !target.hasHandler { try await checkKnown(store) }
            try await LaunchRun(options: options, store: store, name: nil).run(target, isDry: dryRun)
        }
    }

    /// Throws a failure for a bundle that has neither an extension nor items.
    private func checkKnown(_ store: any EngineClient) async throws {
        let installed = try await store.perform(ExtensionsCall()).identifiers
        guard !installed.contains(bundle), try await store.perform(ItemCountsCall())[bundle] == nil else { return }
        let near = SpellingSuggestions.sentence(to: bundle, among: installed) ?? "“searchlight extensions” lists them."
        throw CommandFailure(
            message: "\(bundle) has no running app that continues searches, and no extension. \(near)",
            status: .notFound)
    }
}
