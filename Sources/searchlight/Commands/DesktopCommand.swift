// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import SearchlightEngine

struct DesktopCommand: OptionedCommand {
    /// The action to perform.
    enum Wish: String, ExpressibleByArgument, CaseIterable {
        case list
        case on
        case off
    }
    static let configuration = CommandConfiguration(
        commandName: "desktop",
        abstract: "Choose the apps that the desktop's own search shows.",
        discussion: """
            The overview of GNOME and KRunner of KDE show items of every app, unless you switch the app off here. \
            Its items stay in the index, and “searchlight search” and the page of “quicklook” still find them. A \
            switch takes effect at the next search. The switch stays when the app is removed or forgotten.

            Without arguments, or with “list”, each app has a line with its switch and the number of its items. To \
            hide all items of Searchlight there, use the search settings of the desktop.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "list, on or off: list the apps, or show or hide the items of an app.")
    var wish = Wish.list
    @Argument(help: "The bundle identifier of the app.", completion: BundleNames.completion)
    var bundle: String?

    func validate() throws {
        try refuseEmpty(bundle, "The name of the app", instead: "“searchlight desktop” lists the apps.")
        switch wish {
        case .list:
            guard bundle == nil else { throw ValidationError("“searchlight desktop list” takes no app.") }
        case .on, .off:
            guard bundle != nil else {
                throw ValidationError("Name the app: searchlight desktop \(wish.rawValue) BUNDLE")
            }
        }
    }

    func perform() async throws {
        guard let bundle else { return try await options.withStore(.read) { try await list($0) } }
        try await options.withStore(.change) { try await set(bundle, isShown: wish == .on, in: $0) }
    }

    private func set(_ bundle: String, isShown: Bool, in store: any EngineClient) async throws {
        let isChanged = try await store.perform(SetDesktopVisibilityCall(bundle: bundle, isShown: isShown))
        if options.json {
            return try Output.printJSON(
                ["bundle": bundle, "isShown": isShown, "isChanged": isChanged] as JSONObject)
        }
        let word = isShown ? "on" : "off"
        try Output.line("\(bundle) \(isChanged ? "is \(word) now" : "was \(word) before").")
        guard !isShown else { return }
        // Hiding a misspelled name would have no effect.
        let apps = try await apps(of: store)
        if apps[bundle] == nil, await !hasLocked(bundle, in: store) {
            Output.complain("\(text: "Note: " + unknownBundle(bundle, among: apps.keys.sorted()))")
        }
    }

    private func list(_ store: any EngineClient) async throws {
        let visibility = try await store.perform(DesktopVisibilityCall())
        var apps = try await apps(of: store)
        for bundle in visibility.hiddenBundles where apps[bundle] == nil { apps[bundle] = 0 }
        let sorted = apps.sorted { $0.key < $1.key }
        if options.json {
            return try Output.printJSON(
                [
                    "isKnown": visibility.isKnown,
                    "apps": sorted.map {
                        ["bundle": $0.key, "isShown": visibility.shows($0.key), "items": $0.value] as JSONObject
                    },
                ] as JSONObject)
        }
        if !visibility.isKnown {
            Output.complain(
                """
                The file with the switches (desktop.json in the folder of the index) is damaged, so the desktop shows nothing. \
                Switch each app off again that is not to be shown, or one app on; then the others are shown.
                """)
        }
        let width = sorted.map(\.key.count).max() ?? 0
        for (bundle, items) in sorted {
            let word = visibility.shows(bundle) ? "on " : "off"
            try Output.line("\(word)  \(bold: bundle.padded(to: width))  \(dim: counted(items, "item"))")
        }
        if sorted.isEmpty { Output.complain("The index has no items, and no app is switched off.") }
    }

    /// Returns the number of items of each app that has items or an extension.
    private func apps(of store: any EngineClient) async throws -> [String: Int] {
        var apps = try await store.perform(ItemCountsCall())
        for app in try await store.perform(ExtensionListingCall()).extensions where apps[app.identifier] == nil {
            apps[app.identifier] = 0
        }
        return apps
    }
}
