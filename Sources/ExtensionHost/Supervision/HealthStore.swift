// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Keeps what is known of how extensions behave, so that it outlives the process.
public protocol HealthStore: Sendable {
    /// What was kept, by bundle identifier; empty if nothing was, or if it cannot be understood.
    func load() -> [String: ExtensionHealth]

    /// Changes what is kept now, which other processes may have changed since it was loaded. Called for one change after
    /// the other, on a thread that may block.
    ///
    /// - Returns: All that is kept then.
    /// - Throws: ``HealthStoreError``, its own or that of the change; then what was kept before still is.
    func update(
        _ change: (inout [String: ExtensionHealth]) throws(HealthStoreError) -> Void
    ) throws(HealthStoreError) -> [String: ExtensionHealth]
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

    /// See ``HealthStore/update(_:)``.
    public func update(
        _ change: (inout [String: ExtensionHealth]) throws(HealthStoreError) -> Void
    ) throws(HealthStoreError) -> [String: ExtensionHealth] {
        try kept.withLock { (kept) throws(HealthStoreError) in
            var all = kept
            try change(&all)
            kept = all
            return all
        }
    }
}
