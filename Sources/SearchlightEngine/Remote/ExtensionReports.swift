// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import UniformTypeIdentifiers

/// Whether an extension is asked for anything.
public enum ExtensionState: String, Hashable, Sendable, Codable {
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
public struct ExtensionSummary: Hashable, Sendable, Codable {
    /// The bundle identifier.
    public var identifier: String
    /// What its manifest says.
    public var version: String
    /// Likewise.
    public var displayName: String
    /// Where it lies.
    public var path: String
    /// Whether it is asked.
    public var state: ExtensionState
    /// Why not, if it is not.
    public var reason: String?
    /// What is wrong with the types it declares, a sentence each.
    public var typeDiagnostics: [String]
    /// What is odd about its bundle, a sentence each.
    public var warnings: [String]
}

/// The extensions there are, those that are not used, and those that are gone.
public struct ExtensionListing: Hashable, Sendable, Codable {
    /// The directories that were searched.
    public var searchPath: [String]
    /// The extensions, in the order of their identifiers.
    public var extensions: [ExtensionSummary]
    /// The bundles that are not used.
    public var refusals: [ExtensionRegistry.Refusal]
    /// Those that are gone, and whose items will be deleted.
    public var removals: [PendingRemoval]

    /// The extensions of a registry, of whose behaviour nothing is known.
    public init(_ registry: ExtensionRegistry) {
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
public struct ExtensionDetails: Hashable, Sendable, Codable {
    /// What its bundle says; absent for one that is gone or refused.
    public struct Bundle: Hashable, Sendable, Codable {
        /// As in a list.
        public var summary: ExtensionSummary
        /// The directory itself, where ``ExtensionSummary/path`` is a symbolic link.
        public var directory: String
        /// The library's path; `nil` for an extension without code of its own.
        public var library: String?
        /// The class that implements it, if it is one of CoreSpotlight's.
        public var principalClass: String?
        /// What it extends.
        public var extensionPoints: [String]
        /// What it may reach beyond what every extension may, a line each.
        public var access: [String]
        /// The functions that are bound instead of code of its own, a line each.
        public var bindings: [String]
        /// The types it declares.
        public var types: [String]
    }
    /// The bundle identifier.
    public var identifier: String
    /// Whether it is asked.
    public var state: ExtensionState
    /// Why not, if it is not.
    public var reason: String?
    /// The bundle that is used.
    public var bundle: Bundle?
    /// Bundles of this identifier that are not used, and why.
    public var refusals: [ExtensionRegistry.Refusal]
    /// How it behaved.
    public var health: ExtensionHealthReport
    /// How many items it has in the index.
    public var items: Int
    /// What it owes.
    public var owed: OwedJob?
    /// When its items are deleted, since it is gone.
    public var removal: PendingRemoval?
    /// What confined its last worker, and what it tried; `nil` if it has not run.
    public var sandbox: SandboxHistory.Bundle?
}

/// How an extension behaved, as it is shown. Moments are in seconds since 2001-01-01 UTC.
public struct ExtensionHealthReport: Hashable, Sendable, Codable {
    /// Something that went wrong.
    public struct Failure: Hashable, Sendable, Codable {
        /// When.
        public var moment: Double
        /// What happened, as the rest of a sentence about the extension.
        public var summary: String
        /// The last lines it printed.
        public var lastOutput: [String]
    }
    /// An item that is not asked for any more.
    public struct ItemSetAside: Hashable, Sendable, Codable {
        /// Its unique identifier.
        public var identifier: String
        /// Why.
        public var reason: String
    }
    /// The last failures, oldest first.
    public var failures: [Failure] = []
    /// Since when it is in quarantine.
    public var quarantinedSince: Double?
    /// Until when it is left alone.
    public var backsOffUntil: Double?
    /// The items that are not asked for.
    public var itemsSetAside: [ItemSetAside] = []
}

/// A directory of the search path.
public struct ExtensionPlace: Hashable, Sendable, Codable {
    /// The directory.
    public var path: String
    /// Whether it is there.
    public var exists: Bool
    /// Whether a bundle that is dropped in, replaced or removed is noticed at once.
    public var isWatched: Bool
    /// How many bundles are in it, refused ones too.
    public var bundles: Int
    /// Why its bundles are refused, if they are all.
    public var problem: String?
}
