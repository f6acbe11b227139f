// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import UniformTypeIdentifiers

/// The state of an extension.
package enum ExtensionState: String, Hashable, Sendable, Codable {
    /// The extension receives requests.
    case ready
    /// The user disabled the extension.
    case disabled
    /// The extension failed too often.
    case quarantined
    /// The extension failed and temporarily receives no background requests.
    case backingOff
    /// The bundle is installed but rejected.
    case refused
    /// Another bundle with the same identifier takes precedence.
    case shadowed
    /// The bundle no longer exists, but its items are not deleted yet.
    case removed
}

/// An extension's entry in a list.
package struct ExtensionSummary: Hashable, Sendable, Codable {
    /// The bundle identifier.
    package var identifier: String
    /// The version in the manifest.
    package var version: String
    /// The display name in the manifest.
    package var displayName: String
    /// The path of the bundle.
    package var path: String
    /// The extension's state.
    package var state: ExtensionState
    /// The reason, if the extension is not ready.
    package var reason: String?
    /// The errors in its type declarations, one sentence each.
    package var typeDiagnostics: [String]
    /// The warnings about its bundle, one sentence each.
    package var warnings: [String]
}

/// The installed, rejected and removed extensions.
package struct ExtensionListing: Hashable, Sendable, Codable {
    /// The directories that were searched.
    package var searchPath: [String]
    /// The extensions, sorted by identifier.
    package var extensions: [ExtensionSummary]
    /// The rejected bundles.
    package var refusals: [ExtensionRegistry.Refusal]
    /// The removed extensions whose items will be deleted.
    package var removals: [PendingRemoval]

    /// Creates a listing of a registry's extensions, without a store. All of them are reported as
    /// ready.
    package init(_ registry: ExtensionRegistry) {
        self.init(registry, removals: []) { _ in (.ready, nil) }
    }

    init(
        _ registry: ExtensionRegistry, removals: [PendingRemoval],
        state: (String) -> (ExtensionState, reason: String?)
    ) {
        searchPath = registry.searchPath
        // A separate type registry leaves the process's own registry unchanged.
        let diagnostics = registry.registerTypes(in: UTTypeRegistry())
        extensions = registry.extensions.map { bundle in
            let (state, reason) = state(bundle.identifier)
            return ExtensionSummary(
                identifier: bundle.identifier, version: bundle.manifest.version,
                displayName: bundle.manifest.displayName, path: bundle.path, state: state, reason: reason,
                typeDiagnostics: (diagnostics[bundle.identifier] ?? []).map(\.description),
                warnings: bundle.warnings.map(\.description))
        }
        refusals = registry.refusals
        self.removals = removals
    }
}

/// The complete report on one extension.
package struct ExtensionDetails: Hashable, Sendable, Codable {
    /// The contents of the bundle; absent for a removed or rejected extension.
    package struct Bundle: Hashable, Sendable, Codable {
        /// The summary, as in a list.
        package var summary: ExtensionSummary
        /// The bundle's directory. ``ExtensionSummary/path`` may be a symbolic link to it.
        package var directory: String
        /// The path of the library; `nil` for an extension without its own code.
        package var library: String?
        /// The principal class, for an extension that uses CoreSpotlight.
        package var principalClass: String?
        /// The extension points.
        package var extensionPoints: [String]
        /// The access beyond the default access, one line each.
        package var access: [String]
        /// The functions that the extension binds instead of using its own code, one line each.
        package var bindings: [String]
        /// The identifiers of the declared types.
        package var types: [String]
    }
    /// The bundle identifier.
    package var identifier: String
    /// The extension's state.
    package var state: ExtensionState
    /// The reason, if the extension is not ready.
    package var reason: String?
    /// The bundle in use.
    package var bundle: Bundle?
    /// The rejected bundles with this identifier, with the reasons.
    package var refusals: [ExtensionRegistry.Refusal]
    /// The extension's failures.
    package var health: ExtensionHealthReport
    /// The number of its items in the index.
    package var items: Int
    /// Its pending reindex.
    package var owed: PendingReindexJob?
    /// The pending deletion of its items, if the extension was removed.
    package var removal: PendingRemoval?
    /// The sandbox of its last worker and the denied accesses; `nil` if no worker has run.
    package var sandbox: SandboxHistory.Bundle?
}

/// An extension's failures, for display. Times are in seconds since 2001-01-01 UTC.
package struct ExtensionHealthReport: Hashable, Sendable, Codable {
    /// A failure.
    package struct Failure: Hashable, Sendable, Codable {
        /// The time of the failure.
        package var moment: Double
        /// A description, to complete a sentence about the extension.
        package var summary: String
        /// The last lines of the extension's output.
        package var lastOutput: [String]
    }
    /// A skip-listed item.
    package struct ItemSetAside: Hashable, Sendable, Codable {
        /// The item's unique identifier.
        package var identifier: String
        /// The reason for skip-listing it.
        package var reason: String
    }
    /// The last failures, oldest first.
    package var failures: [Failure] = []
    /// The start of its quarantine, in seconds since 2001-01-01 UTC; `nil` if it is not in
    /// quarantine.
    package var quarantinedSince: Double?
    /// The end of its back-off, in seconds since 2001-01-01 UTC; `nil` if it is not in back-off.
    package var backsOffUntil: Double?
    /// The skip-listed items.
    package var itemsSetAside: [ItemSetAside] = []
}

/// A directory in the search path.
package struct ExtensionPlace: Hashable, Sendable, Codable {
    /// The path of the directory.
    package var path: String
    /// `true` if the directory exists.
    package var exists: Bool
    /// `true` if a watcher detects added, replaced and removed bundles immediately.
    package var isWatched: Bool
    /// The number of bundles in the directory, including rejected ones.
    package var bundles: Int
    /// The reason if the whole directory is rejected.
    package var problem: String?
}
