// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import UniformTypeIdentifiers

extension SearchlightEngine {
    /// Returns the path of the cache of bundle metadata.
    package static func registryCachePath(storeDirectory: String) -> String { storeDirectory + "/extensions.cache" }

    /// Records whether a watcher calls ``refreshExtensions()`` after every change;
    /// ``extensionPlaces()`` reports it.
    package func noteWatching(_ isWatched: Bool) { self.isWatched.store(isWatched, ordering: .relaxed) }

    /// Searches for extensions again and applies the changes. Types are registered again. Workers
    /// of changed bundles finish their current requests and exit. New and upgraded extensions get a
    /// pending reindex of everything. For removed extensions the grace period begins.
    ///
    /// - Returns: The changes; empty unless ``EngineConfiguration/tracksExtensions`` is set.
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
        // A concurrent refresh may have replaced the registry. The loop ends when the host has the
        // latest registry.
        var told: UInt64
        repeat {
            told = refreshes.withLock { $0 }
            await host.update(registry)
        } while told != refreshes.withLock { $0 }
        // A new extension's items may be about to expire.
        if !changes.isEmpty { lookSoon() }
        jobsFollower.tell()
        if !changes.isEmpty || haveRefusalsChanged { follower.withLock { $0 }?(changes) }
        return changes
    }

    /// Sets the handler for changes that ``refreshExtensions()`` finds, regardless of its caller.
    /// Each change is reported once. The handler is also called, without changes, if only the set
    /// of rejected bundles has changed.
    package func followExtensions(_ follower: @escaping @Sendable (ExtensionChanges) -> Void) {
        self.follower.withLock { $0 = follower }
    }

    /// Returns the bundles whose extension can donate their items again: it is an index extension,
    /// has donated before, and is neither disabled nor in quarantine. Reads files in the store.
    static func donating(_ registry: ExtensionRegistry, _ configuration: EngineConfiguration) -> Set<String> {
        let ledger = LedgerStore(directory: configuration.storeDirectory).ledger
        let health = KeptHealth(storeDirectory: configuration.storeDirectory).extensions
        let able = registry.extensions.filter { bundle in
            let state = health[bundle.identifier]
            return bundle.manifest.extensionPoints.contains(.index)
                && ledger.entries[bundle.identifier]?.hasDonated == true && state?.isDisabled != true
                && state?.quarantine == nil
        }
        return Set(able.map(\.identifier))
    }

    /// Compares the extensions with the recorded ones, and records the pending reindexes.
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
                // If the write fails, the next comparison finds the changes again.
                known = before
            }
            return changes
        }
    }

    // MARK: Removed extensions

    /// The missing extensions whose items will be deleted unless they return.
    package var removals: [PendingRemoval] {
        (ledger?.ledger.removals ?? [:]).map {
            PendingRemoval(bundle: $0.key, removed: $0.value, due: $0.value + configuration.removalGrace)
        }.sorted { $0.bundle < $1.bundle }
    }

    /// The time of the next deletion; `nil` if none is pending. Extensions in a directory that is
    /// no longer searched, or is unreadable, are ignored.
    package var nextRemoval: Double? {
        ledger?.ledger.provenRemovals(registry).values.min().map { $0 + configuration.removalGrace }
    }

    /// Deletes the items of extensions that have been missing for longer than the grace period. The
    /// items of an app that is registered as a delegate are kept, since the app is installed.
    ///
    /// - Returns: The bundles whose items were deleted, with the number of items.
    package func carryOutRemovals() async -> [(bundle: String, items: Int)] {
        guard let ledger, configuration.access == .readWrite else { return [] }
        var done: [(bundle: String, items: Int)] = []
        func found() -> [String] {
            ledger.ledger.due(registry, now: configuration.now(), grace: configuration.removalGrace)
        }
        guard !found().isEmpty else { return [] }
        // Without a watcher, an extension may have returned unnoticed.
        await refreshExtensions()
        let due = found()
        for bundle in due {
            guard !delegates.isRegistered(for: bundle) else {
                ledger.update { $0.keepItems(of: bundle) }
                continue
            }
            // A failed deletion stays due.
            guard let count = try? await forget(bundle) else { continue }
            done.append((bundle, count))
        }
        return done
    }
}

/// A missing extension whose items will be deleted.
package struct PendingRemoval: Hashable, Sendable, Codable {
    /// The bundle identifier.
    package var bundle: String
    /// The time when the extension was removed, in seconds since 2001-01-01 UTC.
    package var removed: Double
    /// The time at which its items are deleted, in seconds since 2001-01-01 UTC.
    package var due: Double
}
