// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import IdleScheduling
import SearchlightEngine

struct ThrottleCommand: OptionedCommand {
    /// The requested state.
    enum Wish: String, ExpressibleByArgument, CaseIterable {
        case on
        case off
    }
    static let configuration = CommandConfiguration(
        commandName: "throttle",
        abstract: "Pause all background work of an extension (on), or resume it (off).",
        discussion: """
            Its running background work is notified at once and frozen half a second later. Drags, previews and “searchlight \
            reindex” still work, and its pending jobs stay pending. Authors can test a throttled extension with this command. \
            The throttle lasts until “off”.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ExtensionChoice
    @Argument(help: "on or off: throttle the extension or not.")
    var wish: Wish

    func perform() async throws {
        let bundle = choice.identifier
        let isThrottled = wish == .on
        let isChange = try await options.withStore(.change) { store in
            let known = try await store.perform(ExtensionsCall()).identifiers
            if isThrottled, !known.contains(bundle) {
                _ = try await store.perform(ExtensionDetailsCall(bundle: bundle))
            }
            return try await options.schedule(of: store).setThrottled(isThrottled, bundle)
        }
        if options.json {
            return try Output.printJSON(
                ["bundle": bundle, "isThrottled": isThrottled, "isChanged": isChange] as JSONObject)
        }
        let state = isThrottled ? "throttled" : "not throttled"
        try Output.line("\(bundle) \(isChange ? "is \(state) now" : "was \(state) before").")
    }
}
