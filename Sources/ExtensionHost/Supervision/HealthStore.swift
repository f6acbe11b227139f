// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Keeps what is known of how extensions behave, so that it outlives the process.
public protocol HealthStore: Sendable {
    /// What was kept, by bundle identifier; empty if nothing was, or if it cannot be understood.
    func load() -> [String: ExtensionHealth]

    /// Keeps all of it in place of what was kept before, as a whole. Called for one change after the other.
    ///
    /// - Throws: ``HealthStoreError``; then what was kept before still is.
    func save(_ all: [String: ExtensionHealth]) throws(HealthStoreError)
}

/// What is known of extensions could not be kept.
public struct HealthStoreError: Error, Hashable, Sendable {
    /// The file.
    public var path: String
    /// What happened.
    public var reason: String

    /// Creates an error.
    public init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }
}

/// Keeps it for as long as the object lives.
public final class MemoryHealthStore: HealthStore {
    private let kept: Mutex<[String: ExtensionHealth]>

    /// Begins with what somebody else kept.
    public init(_ all: [String: ExtensionHealth] = [:]) { kept = Mutex(all) }

    /// See ``HealthStore/load()``.
    public func load() -> [String: ExtensionHealth] { kept.withLock { $0 } }

    /// See ``HealthStore/save(_:)``.
    public func save(_ all: [String: ExtensionHealth]) throws(HealthStoreError) { kept.withLock { $0 = all } }
}
