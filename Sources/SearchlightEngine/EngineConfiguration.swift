// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation

/// Where an engine finds things, and what it may do.
public struct EngineConfiguration: Sendable {
    /// The folder of the store.
    public var storeDirectory: String
    /// Whether the store will be changed; only one process at a time may change it.
    public var access: Access
    /// Directories with extensions, first wins.
    public var extensionSearchPath: [String]
    /// How workers are started.
    public var worker: WorkerConfiguration
    /// The present, in seconds since 2001-01-01 UTC.
    public var now: @Sendable () -> Double

    /// What an engine does with its store.
    public enum Access: Sendable {
        /// Creates it if need be, and changes it.
        case readWrite
        /// Only reads it.
        case readOnly
    }

    /// Creates a configuration.
    public init(
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
