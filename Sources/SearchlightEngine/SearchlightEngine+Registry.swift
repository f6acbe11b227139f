// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import UniformTypeIdentifiers

extension SearchlightEngine {
    /// Where what was read of bundles is kept.
    package static func registryCachePath(storeDirectory: String) -> String { storeDirectory + "/extensions.cache" }

    /// Says whether ``refreshExtensions()`` is called whenever something changes, so that ``extensionPlaces()`` can tell.
    package func noteWatching(_ isWatched: Bool) { self.isWatched.store(isWatched, ordering: .relaxed) }

    /// Looks for extensions again, and takes in what has changed: types are registered anew, workers of changed bundles
    /// finish what is under way and end, added and upgraded extensions owe a reindex of everything, and for removed ones
    /// the grace begins.
    ///
    /// - Returns: What has changed, as far as the engine keeps track of that
    ///   (``EngineConfiguration/tracksExtensions``).
    @discardableResult
    package func refreshExtensions() async -> ExtensionChanges {
        let (changes, haveRefusalsChanged) = refreshes.withLock { last in
            last += 1
            let registry = ExtensionRegistry(searchPath: configuration.extensionSearchPath, cache: cache)
            cache.save()
            let before = replaceRegistry(registry)
            sandboxLog.meet(registry)
            if registry.extensions != before.extensions {
                for gone in Set(before.extensions.map(\.identifier)).subtracting(registry.extensions.map(\.identifier))
                {
                    UTTypeRegistry.shared.withdraw(bundle: gone)
                }
                registry.registerTypes()
            }
            return (
                Self.meet(registry, ledger, jobStore, configuration), registry.refusals != before.refusals
            )
        }
        // Another search may have ended meanwhile; the host is told of the last in the end.
        var told: UInt64
        repeat {
            told = refreshes.withLock { $0 }
            await host.update(registry)
        } while told != refreshes.withLock { $0 }
        // Items of one that was not there may be about to expire.
        if !changes.isEmpty { lookSoon() }
        jobsFollower.tell()
        if !changes.isEmpty || haveRefusalsChanged { follower.withLock { $0 }?(changes) }
        return changes
    }

    /// Has somebody told of each change that ``refreshExtensions()`` finds, whoever called it: a change is found once. Told
    /// too, with no changes, if only other bundles are refused than before.
    package func followExtensions(_ follower: @escaping @Sendable (ExtensionChanges) -> Void) {
        self.follower.withLock { $0 = follower }
    }

    /// Compares the extensions with those there were, and writes down what is owed for it.
    static func meet(
        _ registry: ExtensionRegistry, _ ledger: LedgerStore?, _ jobStore: JobStore,
        _ configuration: EngineConfiguration
    ) -> ExtensionChanges {
        guard let ledger, configuration.access == .readWrite else { return ExtensionChanges() }
        let isNew = ledger.wasMissing
        return ledger.update { known in
            let before = known
            let changes = known.meet(registry, now: configuration.now(), hasDonated: { isNew && jobStore.isDonor($0) })
            let indexing = Set(
                registry.extensions.filter { $0.manifest.extensionPoints.contains(.index) }.map(\.identifier))
            let now = configuration.now()
            let owing = (changes.added + changes.upgraded).filter(indexing.contains)
            let added = Set(changes.added)
            do throws(EngineError) {
                try jobStore.update { queue in
                    for bundle in owing {
                        let cause: Job.Cause = added.contains(bundle) ? .added : .upgraded
                        queue.add(Job(bundle: bundle, work: .reindexAll, requested: now, cause: cause))
                    }
                }
            } catch {
                // What could not be written down is noticed again.
                known = before
            }
            return changes
        }
    }

    // MARK: Removed extensions

    /// The extensions that are missing and whose items will be deleted, unless they come back before.
    package var removals: [PendingRemoval] {
        (ledger?.ledger.removals ?? [:]).map {
            PendingRemoval(bundle: $0.key, removed: $0.value, due: $0.value + configuration.removalGrace)
        }.sorted { $0.bundle < $1.bundle }
    }

    /// When the next of these deletions is due; `nil` if none is. What was in a directory that is not searched any more, or
    /// cannot be now, waits until it is.
    package var nextRemoval: Double? {
        ledger?.ledger.provenRemovals(registry).values.min().map { $0 + configuration.removalGrace }
    }

    /// Deletes the items of extensions that have been missing for as long as the grace is. Those of an app that is
    /// registered as a delegate stay: it is there.
    ///
    /// - Returns: Whose items were deleted, and how many these were.
    package func carryOutRemovals() async -> [(bundle: String, items: Int)] {
        guard let ledger, configuration.access == .readWrite else { return [] }
        var done: [(bundle: String, items: Int)] = []
        func found() -> [String] {
            ledger.ledger.due(registry, now: configuration.now(), grace: configuration.removalGrace)
        }
        guard !found().isEmpty else { return [] }
        // One may have come back unnoticed, where nothing is watched.
        await refreshExtensions()
        let due = found()
        for bundle in due {
            guard !delegates.isRegistered(for: bundle) else {
                ledger.update { $0.keepItems(of: bundle) }
                continue
            }
            // One that fails is still due the next time.
            guard let count = try? await forget(bundle) else { continue }
            done.append((bundle, count))
        }
        return done
    }
}

/// An extension that is missing and whose items will be deleted.
package struct PendingRemoval: Hashable, Sendable, Codable {
    /// The bundle identifier.
    package var bundle: String
    /// Since when it is missing, in seconds since 2001-01-01 UTC.
    package var removed: Double
    /// When its items are deleted, likewise.
    package var due: Double
}
