// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import UniformTypeIdentifiers

/// Whether an extension is asked for anything.
package enum ExtensionState: String, Hashable, Sendable, Codable {
    /// It is.
    case ready
    /// A person does not want it to be used.
    case disabled
    /// It failed too often.
    case quarantined
    /// It failed, and is left alone for a while.
    case backingOff
    /// Its bundle is there and is not used.
    case refused
    /// Another bundle with its identifier comes first.
    case shadowed
    /// Its bundle is gone, and its items are not yet.
    case removed
}

/// One extension of a list.
package struct ExtensionSummary: Hashable, Sendable, Codable {
    /// The bundle identifier.
    package var identifier: String
    /// What its manifest says.
    package var version: String
    /// Likewise.
    package var displayName: String
    /// Where it lies.
    package var path: String
    /// Whether it is asked.
    package var state: ExtensionState
    /// Why not, if it is not.
    package var reason: String?
    /// What is wrong with the types it declares, a sentence each.
    package var typeDiagnostics: [String]
    /// What is odd about its bundle, a sentence each.
    package var warnings: [String]
}

/// The extensions there are, those that are not used, and those that are gone.
package struct ExtensionListing: Hashable, Sendable, Codable {
    /// The directories that were searched.
    package var searchPath: [String]
    /// The extensions, in the order of their identifiers.
    package var extensions: [ExtensionSummary]
    /// The bundles that are not used.
    package var refusals: [ExtensionRegistry.Refusal]
    /// Those that are gone, and whose items will be deleted.
    package var removals: [PendingRemoval]

    /// The extensions of a registry, of whose behaviour nothing is known.
    package init(_ registry: ExtensionRegistry) {
        self.init(registry, removals: []) { _ in (.ready, nil) }
    }

    init(
        _ registry: ExtensionRegistry, removals: [PendingRemoval],
        state: (String) -> (ExtensionState, reason: String?)
    ) {
        searchPath = registry.searchPath
        // In a registry of its own: what the process knows is not touched by a look.
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

/// Everything that is known of one extension.
package struct ExtensionDetails: Hashable, Sendable, Codable {
    /// What its bundle says; absent for one that is gone or refused.
    package struct Bundle: Hashable, Sendable, Codable {
        /// As in a list.
        package var summary: ExtensionSummary
        /// The directory itself, where ``ExtensionSummary/path`` is a symbolic link.
        package var directory: String
        /// The library's path; `nil` for an extension without code of its own.
        package var library: String?
        /// The class that implements it, if it is one of CoreSpotlight's.
        package var principalClass: String?
        /// What it extends.
        package var extensionPoints: [String]
        /// What it may reach beyond what every extension may, a line each.
        package var access: [String]
        /// The functions that are bound instead of code of its own, a line each.
        package var bindings: [String]
        /// The types it declares.
        package var types: [String]
    }
    /// The bundle identifier.
    package var identifier: String
    /// Whether it is asked.
    package var state: ExtensionState
    /// Why not, if it is not.
    package var reason: String?
    /// The bundle that is used.
    package var bundle: Bundle?
    /// Bundles of this identifier that are not used, and why.
    package var refusals: [ExtensionRegistry.Refusal]
    /// How it behaved.
    package var health: ExtensionHealthReport
    /// How many items it has in the index.
    package var items: Int
    /// What it owes.
    package var owed: OwedJob?
    /// When its items are deleted, since it is gone.
    package var removal: PendingRemoval?
    /// What confined its last worker, and what it tried; `nil` if it has not run.
    package var sandbox: SandboxHistory.Bundle?
}

/// How an extension behaved, as it is shown. Moments are in seconds since 2001-01-01 UTC.
package struct ExtensionHealthReport: Hashable, Sendable, Codable {
    /// Something that went wrong.
    package struct Failure: Hashable, Sendable, Codable {
        /// When.
        package var moment: Double
        /// What happened, as the rest of a sentence about the extension.
        package var summary: String
        /// The last lines it printed.
        package var lastOutput: [String]
    }
    /// An item that is not asked for any more.
    package struct ItemSetAside: Hashable, Sendable, Codable {
        /// Its unique identifier.
        package var identifier: String
        /// Why.
        package var reason: String
    }
    /// The last failures, oldest first.
    package var failures: [Failure] = []
    /// Since when it is in quarantine.
    package var quarantinedSince: Double?
    /// Until when it is left alone.
    package var backsOffUntil: Double?
    /// The items that are not asked for.
    package var itemsSetAside: [ItemSetAside] = []
}

/// A directory of the search path.
package struct ExtensionPlace: Hashable, Sendable, Codable {
    /// The directory.
    package var path: String
    /// Whether it is there.
    package var exists: Bool
    /// Whether a bundle that is dropped in, replaced or removed is noticed at once.
    package var isWatched: Bool
    /// How many bundles are in it, refused ones too.
    package var bundles: Int
    /// Why its bundles are refused, if they are all.
    package var problem: String?
}
