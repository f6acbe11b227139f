// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import ExtensionHost
import Foundation
import SearchlightEngine

/// The findings of `searchlight setup`, and the changes that it proposes.
struct SetupPlan {
    /// An installed extension.
    struct App {
        /// The role of an extension in the setup.
        enum Role: String {
            /// The extension finds something, and the user has not been asked yet.
            case proposed
            /// The extension is already indexed, or the user agreed earlier.
            case accepted
            /// The extension is disabled.
            case off
            /// The watched paths contain nothing yet.
            case empty
            /// The extension only watches the folders of its own app.
            case own
            /// The extension cannot run, for example because it is in quarantine.
            case broken
        }

        var bundle: String
        var name: String
        var role: Role
        var files: FoundFiles
        var items: Int
    }

    var apps: [App]
    var service: UserManager.UnitState
    /// `true` if a service responds.
    var isRunning: Bool
    /// The desktops that have Searchlight's search integration installed.
    var desktops: [String]

    init(
        _ listing: ExtensionListing, _ bundles: [ExtensionBundle], items: [String: Int], record: SetupRecord,
        configuration: WorkerConfiguration, service: UserManager.UnitState, isRunning: Bool
    ) {
        (self.service, self.isRunning) = (service, isRunning)
        desktops = Self.desktops(configuration.environment)
        apps = listing.extensions.compactMap { summary in
            guard let bundle = bundles.first(where: { $0.identifier == summary.identifier }) else { return nil }
            let files = FoundFiles(of: bundle, configuration)
            let count = items[summary.identifier] ?? 0
            let role: App.Role =
                switch summary.state {
                case .disabled: .off
                case .ready:
                    if count > 0 || record.asked.contains(summary.identifier) {
                        .accepted
                    } else if !files.present.isEmpty {
                        .proposed
                    } else {
                        files.missing.isEmpty ? .own : .empty
                    }
                default: .broken
                }
            return App(
                bundle: summary.identifier, name: summary.displayName, role: role, files: files, items: count)
        }
    }

    var proposed: [App] { apps.filter { $0.role == .proposed } }

    /// `true` if there is nothing to ask.
    var isComplete: Bool { proposed.isEmpty && service != .disabled }

    /// Returns the desktops whose search finds the installed files.
    private static func desktops(_ environment: [String: String]) -> [String] {
        let shared = (environment["XDG_DATA_DIRS"] ?? "/usr/local/share:/usr/share").split(separator: ":").map(
            String.init)
        let own = environment["XDG_DATA_HOME"] ?? environment["HOME"].map { $0 + "/.local/share" }
        let files = [
            ("GNOME", "gnome-shell/search-providers/com.searchlight.Searchlight.search-provider.ini", shared),
            (
                "KRunner", "krunner/dbusplugins/com.searchlight.Searchlight.krunner.desktop",
                [own].compactMap { $0 } + shared
            ),
        ]
        return files.compactMap { name, file, folders in
            folders.contains { FileManager.default.fileExists(atPath: "\($0)/\(file)") } ? name : nil
        }
    }
}

extension JSONObject {
    init(_ plan: SetupPlan) {
        let service: JSONObject = ["isRunning": plan.isRunning, "unit": "\(plan.service)"]
        self = [
            "service": service, "desktops": plan.desktops,
            "extensions": plan.apps.map { app in
                [
                    "bundle": app.bundle, "name": app.name, "state": app.role.rawValue, "items": app.items,
                    "finds": app.files.present, "missing": app.files.missing,
                ] as JSONObject
            },
        ]
    }
}
