// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation

extension SearchlightEngine {
    /// See ``ExtensionListingCall``.
    package func extensionListing() async throws(EngineError) -> ExtensionListing {
        await refreshExtensions()
        return ExtensionListing(registry, removals: removals) { extensionState(of: $0) }
    }

    /// See ``ExtensionDetailsCall``.
    package func extensionDetails(of identifier: String) async throws(EngineError) -> ExtensionDetails {
        let listing = try await extensionListing()
        return try details(
            of: identifier, listing, registry,
            ExtensionDetails.Behaviour(
                health: ExtensionHealthReport(health(of: identifier)), items: try await itemCounts()[identifier] ?? 0,
                owed: jobStore[identifier].map(PendingReindexJob.init),
                sandbox: sandboxLog.history().bundles[identifier]))
    }

    private func details(
        of identifier: String, _ listing: ExtensionListing, _ registry: ExtensionRegistry,
        _ behaviour: ExtensionDetails.Behaviour
    ) throws(EngineError) -> ExtensionDetails {
        do throws(ExtensionError) {
            return try ExtensionDetails(identifier, listing, registry, behaviour)
        } catch {
            throw .extension(error)
        }
    }

    /// Returns the directories that are searched for extensions.
    package func extensionPlaces() async throws(EngineError) -> [ExtensionPlace] {
        await refreshExtensions()
        return registry.places(areWatched: isWatched.load(ordering: .relaxed))
    }

    /// See ``ReleaseCall``.
    package func releaseExtension(_ identifier: String) async throws(EngineError) -> ExtensionHealthReport {
        ExtensionHealthReport(try await release(identifier))
    }

    /// Returns the state of a usable extension, and the reason if it is not ready.
    private func extensionState(of identifier: String) -> (ExtensionState, reason: String?) {
        let health = health(of: identifier)
        if health.isDisabled {
            return (.disabled, "It is disabled. To enable it: searchlight extensions enable \(identifier)")
        }
        if let quarantine = health.quarantine {
            return (
                .quarantined,
                """
                It \(quarantine.reason). It is retried when it changes. To retry it now: searchlight extensions release \
                \(identifier)
                """
            )
        }
        if let backOff = health.backOff, backOff.until > configuration.now() {
            let times = backOff.failures == 1 ? "once" : "\(backOff.failures) times in a row"
            return (
                .backingOff, "It failed \(times). For a while, it gets only requests from the user."
            )
        }
        return (.ready, nil)
    }
}

extension ExtensionDetails {
    /// The facts about an extension that only a store knows.
    struct Behaviour {
        var health = ExtensionHealthReport()
        var items = 0
        var owed: PendingReindexJob?
        var sandbox: SandboxHistory.Bundle?
    }

    /// Creates a report with the facts that an extension's bundle contains, without a store.
    ///
    /// - Throws: ``ExtensionError/notFound(identifier:searchPath:known:)``.
    package init(_ identifier: String, in registry: ExtensionRegistry) throws(ExtensionError) {
        try self.init(identifier, ExtensionListing(registry), registry, Behaviour())
    }

    init(
        _ identifier: String, _ listing: ExtensionListing, _ registry: ExtensionRegistry, _ behaviour: Behaviour
    ) throws(ExtensionError) {
        let summary = listing.extensions.first { $0.identifier == identifier }
        let refusals = listing.refusals.filter { $0.likelyIdentifier == identifier }
        let removal = listing.removals.first { $0.bundle == identifier }
        guard summary != nil || removal != nil || !refusals.isEmpty else {
            let known = listing.extensions.map(\.identifier) + listing.refusals.map(\.likelyIdentifier)
            throw .notFound(
                identifier: identifier, searchPath: listing.searchPath,
                known: Set(known + listing.removals.map(\.bundle)).sorted())
        }
        self.identifier = identifier
        self.refusals = refusals
        self.removal = removal
        (health, items, owed) = (behaviour.health, behaviour.items, behaviour.owed)
        sandbox = behaviour.sandbox
        bundle = registry.extensions.first { $0.identifier == identifier }.flatMap { bundle in
            summary.map { ExtensionDetails.Bundle($0, bundle) }
        }
        if let summary {
            (state, reason) = (summary.state, summary.reason)
        } else if removal != nil {
            (state, reason) = (.removed, nil)
        } else {
            (state, reason) = (.refused, refusals.first?.problem.description)
            // An earlier version's failures do not describe this version, which was never loaded.
            health = ExtensionHealthReport()
            owed?.lastFailure = nil
        }
    }
}

extension ExtensionRegistry {
    /// Returns the directories in the search path.
    package func places(areWatched: Bool) -> [ExtensionPlace] {
        searchPath.map { directory in
            var isDirectory: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory)
            let paths = extensions.map(\.path) + refusals.map(\.path)
            let problem = refusals.first {
                if case .writableByOthers(directory, _) = $0.problem {
                    $0.path.hasPrefix(directory + "/")
                } else {
                    false
                }
            }
            return ExtensionPlace(
                path: directory, exists: exists && isDirectory.boolValue, isWatched: areWatched,
                bundles: paths.count { $0.hasPrefix(directory + "/") }, problem: problem?.problem.description)
        }
    }
}

extension ExtensionDetails.Bundle {
    init(_ summary: ExtensionSummary, _ bundle: ExtensionBundle) {
        self.init(
            summary: summary, directory: bundle.directory, library: bundle.libraryPath,
            principalClass: bundle.manifest.principalClass,
            extensionPoints: bundle.manifest.extensionPoints.map(\.rawValue).sorted(),
            access: bundle.manifest.access.lines, bindings: bundle.manifest.bindingLines,
            types: bundle.manifest.typeDeclarations.map(\.identifier))
    }
}

extension ExtensionHealthReport {
    init(_ health: ExtensionHealth) {
        failures = health.failures.map {
            Failure(moment: $0.moment, summary: $0.summary, lastOutput: $0.lastOutput)
        }
        quarantinedSince = health.quarantine?.since
        backsOffUntil = health.backOff?.until
        itemsSetAside = health.itemsSetAside.map { ItemSetAside(identifier: $0.identifier, reason: $0.reason) }
    }
}

extension DeclaredAccess {
    /// The access beyond the default access, one line each.
    fileprivate var lines: [String] {
        var lines = readablePaths.map { "reads \($0)" } + writablePaths.map { "changes \($0)" }
        lines += readablePathsFrom.map { "reads the paths listed in \($0)" }
        switch watchedPaths {
        case .none: break
        case .all: lines.append("is notified of all changes")
        case .some(let paths): lines += paths.map { "is notified of changes in \($0)" }
        }
        if allowsNetwork { lines.append("the network") }
        lines.append("\(memoryLimit >> 20) MiB of memory")
        if let desktopEntry { lines.append("its app is \(desktopEntry)") }
        return lines
    }
}
