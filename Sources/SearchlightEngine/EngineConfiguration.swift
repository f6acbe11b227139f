// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import IdleScheduling
import Protection
import SearchIndex

/// The paths, policies and access rights of an engine.
package struct EngineConfiguration: Sendable {
    /// The store's folder.
    package var storeDirectory: String
    /// The access to the store. Only one process at a time may change a store.
    package var access: Access
    /// The directories that are searched for extensions. If an identifier occurs twice, the bundle
    /// in the first directory is used.
    package var extensionSearchPath: [String]
    /// The launch parameters of workers.
    package var worker: WorkerConfiguration
    /// `true` if the engine records the installed extensions. New and upgraded extensions then get
    /// a pending reindex, and the items of removed extensions are deleted after ``removalGrace``.
    package var tracksExtensions = false
    /// `true` if a repair may lose items that no extension can donate again. Only the user can
    /// decide that, with “searchlight verify --repair”.
    package var acceptsLosses = false
    /// `true` if an engine that may change the store opens a damaged store for reading when the
    /// repair is rejected; see ``SearchlightEngine/refusal``.
    package var readsDamagedStore = false
    /// The delay in seconds before the items of a removed extension are deleted.
    package var removalGrace = standardRemovalGrace
    /// The scheduling rules, such as the lead time before items expire and the size of a small file
    /// change.
    package var policy = SchedulingPolicy()
    /// The limits of one page of a reindex.
    package var pages = ReindexPageLimits()
    /// The clock: returns seconds since 2001-01-01 UTC.
    package var now: @Sendable () -> Double
    /// The clock of the timers that release unused memory.
    package var clock: any Clock<Duration> = ContinuousClock()
    /// Detects steps of the wall clock by comparing it with the boot clock. Without a boot clock,
    /// every change to the wall clock counts as elapsed time. See ``SearchIndex``.
    package var bootClock: BootClock?
    /// Called before the protected indexes are unlocked, with a function that locks them again. It
    /// may take a few seconds. The engine keeps the returned object alive until they are locked.
    package var onUnlock: @Sendable (_ lock: @escaping @Sendable () -> Void) async -> UnlockingSession = { _ in
        UnlockingSession()
    }
    /// Called after a lock, before the protected items are removed from the memory; for tests.
    package var onDiscard: @Sendable () async -> Void = {}
    /// Called before a passphrase is received, and before the keys are read.
    package var onSecrets: @Sendable () -> Void = {}
    /// The keyring of the desktop; `nil` if there is none.
    package var keyring: (any Keyring)?
    /// The cost of each guess at the passphrase of protected indexes, for new keys.
    package var passphraseCost = MasterKeyFile.Cost.standard
    /// The limits of protected indexes.
    package var protectionLimits = ProtectionLimits()
    /// Replacements for the store's dependencies, except the clock; for tests.
    package var storeHooks = StoreHooks()
    /// Called when the engine starts work that no caller requested, such as terminating an idle
    /// worker. The engine keeps the returned object alive until that work ends.
    package var onWork: @Sendable () -> any Sendable = { () }

    /// An engine's access to its store.
    package enum Access: Sendable {
        /// Creates the store if it is missing, and may change it.
        case readWrite
        /// Only reads the store.
        case readOnly
    }

    /// One week: longer than a disk usually stays unmounted or a failed upgrade takes to fix.
    package static let standardRemovalGrace = 7.0 * 86400

    /// The worker configuration, extended so that workers cannot access the store and cannot write
    /// to the extension directories.
    var workers: WorkerConfiguration {
        var workers = worker
        workers.protectedFolders.append(storeDirectory)
        workers.trustedFolders += extensionSearchPath
        return workers
    }

    /// The same configuration for an engine that only reads.
    var reading: EngineConfiguration {
        var reading = self
        reading.access = .readOnly
        return reading
    }

    package init(
        storeDirectory: String, access: Access, extensionSearchPath: [String], worker: WorkerConfiguration,
        now: @escaping @Sendable () -> Double = { Date().timeIntervalSinceReferenceDate }
    ) {
        self.storeDirectory = storeDirectory
        self.access = access
        self.extensionSearchPath = extensionSearchPath
        self.worker = worker
        self.now = now
    }
}
