// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import IdleScheduling
import SearchIndex

/// Where an engine finds things, and what it may do.
package struct EngineConfiguration: Sendable {
    /// The folder of the store.
    package var storeDirectory: String
    /// Whether the store will be changed; only one process at a time may change it.
    package var access: Access
    /// Directories with extensions, first wins.
    package var extensionSearchPath: [String]
    /// How workers are started.
    package var worker: WorkerConfiguration
    /// Whether it is kept in mind which extensions there are, so that added and upgraded ones owe a reindex, and the items
    /// of removed ones are deleted after ``removalGrace``.
    package var tracksExtensions = false
    /// How long the items of an extension that was removed stay, in seconds.
    package var removalGrace = standardRemovalGrace
    /// When items that expire are asked for again, and which changes of files are small.
    package var policy = SchedulingPolicy()
    /// How much a page of a reindex may take.
    package var pages = ReindexPageLimits()
    /// The present, in seconds since 2001-01-01 UTC.
    package var now: @Sendable () -> Double
    /// What tells whether that was set rather than passed; without one it is believed. See ``SearchIndex``.
    package var bootClock: BootClock?
    /// What the store stands on, but for the clock; for tests.
    package var storeSeams = StoreSeams()
    /// Called when the engine begins something that nobody has just asked for, such as ending an idle worker; what it gives
    /// back lives as long as that goes on.
    package var onWork: @Sendable () -> any Sendable = { () }

    /// What an engine does with its store.
    package enum Access: Sendable {
        /// Creates it if need be, and changes it.
        case readWrite
        /// Only reads it.
        case readOnly
    }

    /// A week: long enough for a disk that is not mounted or an upgrade that went wrong.
    package static let standardRemovalGrace = 7.0 * 86400

    /// How workers are started, that reach neither the store nor the places of extensions.
    var workers: WorkerConfiguration {
        var workers = worker
        workers.protectedFolders.append(storeDirectory)
        workers.trustedFolders += extensionSearchPath
        return workers
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
