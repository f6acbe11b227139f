// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Persistent storage for extensions' health records.
public protocol HealthStore: Sendable {
    /// Returns the stored records, by bundle identifier; empty if there are none, or if they cannot
    /// be decoded.
    func load() -> [String: ExtensionHealth]

    /// Changes the stored records, which other processes may have changed since they were loaded.
    /// Calls are serialised on a thread that may block.
    ///
    /// - Returns: All records after the change.
    /// - Throws: ``HealthStoreError``, from the store or from the closure; the stored records are
    ///   then unchanged.
    func update(
        _ change: (inout [String: ExtensionHealth]) throws(HealthStoreError) -> Void
    ) throws(HealthStoreError) -> [String: ExtensionHealth]
}

/// An error while saving health records.
public struct HealthStoreError: Error, Hashable, Sendable {
    /// The file.
    public var path: String
    /// The cause.
    public var reason: String

    /// Creates an error.
    public init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }
}

/// A store in memory, which lasts as long as the object.
public final class MemoryHealthStore: HealthStore {
    private let kept: Mutex<[String: ExtensionHealth]>

    /// Creates a store with records.
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
