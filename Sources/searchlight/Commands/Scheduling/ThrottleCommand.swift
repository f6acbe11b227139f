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
        abstract: "Have an extension asked for nothing in the background, until you let it go on.",
        discussion: """
            What it is doing in the background is paused at once: it is told, and half a second later it stands still. Drags, \
            previews and “searchlight reindex” work as before, and what it owes it owes on. For an author: this is how to see \
            what an extension does when it is throttled. It is kept until it is switched off.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ExtensionChoice
    @Argument(help: "on or off.")
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
