// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The apps whose items the window finds, shown before the first search.
package struct InstalledApps: Hashable, Sendable {
    /// An app.
    package struct App: Hashable, Sendable {
        /// The name of the app.
        package var name: String
        /// The number of its items.
        package var items: Int

        package init(name: String, items: Int) { (self.name, self.items) = (name, items) }
    }

    /// The apps that have an extension or items, the one with the most items first.
    package let apps: [App]

    private static let shown = 6

    package init(_ apps: [App]) { self.apps = apps.sorted { ($1.items, $0.name) < ($0.items, $1.name) } }

    /// `true` if the index has items.
    package var hasItems: Bool { apps.contains { $0.items > 0 } }

    /// The title of the empty window.
    package var title: String {
        if apps.isEmpty { return "No Apps Yet" }
        return hasItems ? "Search Your Apps" : "Nothing Is Indexed Yet"
    }

    /// The description below the title.
    package var description: String {
        guard !apps.isEmpty else {
            return "No app has donated anything, and no extension is installed. To see where extensions are searched: "
                + "searchlight extensions where"
        }
        let names = apps.prefix(Self.shown).map { app in
            app.items > 0 ? "\(app.name) (\(app.items.formatted()) \(app.items == 1 ? "item" : "items"))" : app.name
        }
        let more = apps.count - names.count
        let all = names + (more > 0 ? ["\(more) more"] : [])
        let list = all.count > 1 ? all.dropLast().joined(separator: ", ") + " and \(all.last ?? "")" : all.first ?? ""
        return hasItems
            ? "Finds items of \(list)."
            : "Installed: \(list). To choose what to index: searchlight setup"
    }
}
