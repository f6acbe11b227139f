// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SystemSupport

/// The health records of extensions, in the store's file `extensions.json`, so that a quarantine
/// persists when the process exits.
///
/// Any process that uses the store may change the file, even one that only reads the index, since
/// an extension may crash in any of them. Each process holds a lock on `extensions.lock` while it
/// reads, changes and replaces the file, so that no change is lost.
final class HealthFile: HealthStore {
    private let file: StoreFile
    private let attempts: Int
    /// `true` if the file exists but cannot be decoded. Every extension then counts as healthy and
    /// enabled. The first change keeps the file as `extensions.json.damaged`.
    let wasDamaged: Bool
    private let loaded: [String: ExtensionHealth]

    /// The delay between two attempts to take the lock, in microseconds.
    private static let pause: UInt32 = 10_000

    /// Reads the file.
    ///
    /// - Parameter attempts: The maximum number of attempts to take the lock. Other processes hold
    ///   the lock only briefly. The limit prevents a stopped process from blocking this one.
    init(directory: String, attempts: Int = 200) {
        self.attempts = attempts
        file = StoreFile(path: directory + "/extensions.json", maximumBytes: HealthDocument.maximumBytes)
        (loaded, wasDamaged) = Self.read(file)
    }

    func load() -> [String: ExtensionHealth] { loaded }

    func update(
        _ change: (inout [String: ExtensionHealth]) throws(HealthStoreError) -> Void
    ) throws(HealthStoreError) -> [String: ExtensionHealth] {
        let lock = try takeLock()
        // Unlocks explicitly. Closing the descriptor is not enough: a child process between fork
        // and exec shares the lock.
        defer { withExtendedLifetime(lock) { _ = flock(lock.number, LOCK_UN) } }
        let (before, isDamaged) = Self.read(file)
        var all = before
        try change(&all)
        guard all != before else { return all }
        do {
            try file.replace(with: HealthDocument(all).encodedWithinBounds(), settingAside: isDamaged)
        } catch {
            throw HealthStoreError(path: file.path, reason: systemReason(of: error))
        }
        return all
    }

    private func takeLock() throws(HealthStoreError) -> OwnedDescriptor {
        let path = URL(filePath: file.path).deletingPathExtension().path + ".lock"
        let lock: OwnedDescriptor
        do throws(UntrustedFile) { lock = try OwnFile.open(path, O_RDWR | O_CREAT) } catch {
            throw HealthStoreError(path: path, reason: error.reason)
        }
        for attempt in 0..<attempts {
            if attempt > 0 { usleep(Self.pause) }
            if flock(lock.number, LOCK_EX | LOCK_NB) == 0 { return lock }
            guard errno == EWOULDBLOCK || errno == EINTR else { break }
        }
        throw HealthStoreError(path: path, reason: "another process has locked it")
    }

    private static func read(_ file: StoreFile) -> (extensions: [String: ExtensionHealth], isDamaged: Bool) {
        switch file.read() {
        case .missing: return ([:], false)
        case .unreadable: return ([:], true)
        case .bytes(let data):
            guard let document = HealthDocument(data) else { return ([:], true) }
            return (document.extensions, false)
        }
    }
}

/// Extensions' stored health records, for readers that do not open the index.
package struct KeptHealth: Sendable {
    /// The records by bundle identifier.
    package let extensions: [String: ExtensionHealth]
    /// `true` if the file exists but cannot be decoded.
    package let wasDamaged: Bool

    /// Reads the records without changing anything.
    package init(storeDirectory: String) {
        let file = HealthFile(directory: storeDirectory)
        (extensions, wasDamaged) = (file.load(), file.wasDamaged)
    }
}

/// The content of the health file.
struct HealthDocument: ChecksummedDocument {
    static let maximumBytes = 16 << 20
    /// The maximum number of bundles.
    static let maximumBundles = 1000
    private static let currentFormat = 1

    private(set) var formatVersion = currentFormat
    /// The records by bundle identifier.
    var extensions: [String: ExtensionHealth]
    /// The checksum of the document without this field.
    var checksum: UInt32?

    /// Creates a document in the current format. It contains at most ``maximumBundles`` bundles.
    init(_ all: [String: ExtensionHealth]) {
        guard all.count > Self.maximumBundles else {
            extensions = all
            return
        }
        // Order of retention: disabled by the user, then quarantined, then the most recent failure.
        func rank(_ entry: (key: String, value: ExtensionHealth)) -> (Int, Double, String) {
            let health = entry.value
            let group = health.isDisabled ? 0 : health.quarantine == nil ? 2 : 1
            return (group, -(health.failures.last?.moment ?? 0), entry.key)
        }
        let kept = all.sorted { rank($0) < rank($1) }.prefix(Self.maximumBundles)
        extensions = Dictionary(kept.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Decodes a document; `nil` if it is malformed or its checksum does not match.
    init?(_ data: Data) {
        guard let document = try? JSONDecoder().decode(HealthDocument.self, from: data),
            document.formatVersion == Self.currentFormat, document.hasRightChecksum,
            document.extensions.keys.allSatisfy(ExtensionManifest.isIdentifier)
        else { return nil }
        self = document
    }

    /// Encodes the document in at most ``maximumBytes``. If necessary, it drops the oldest
    /// failures, but never a user's decision or a quarantine.
    func encodedWithinBounds() throws -> Data {
        var document = self
        var data = try document.encoded()
        // Each round halves the evidence, so the loop ends quickly.
        while data.count > Self.maximumBytes, document.dropOldestEvidence() { data = try document.encoded() }
        return data
    }

    /// Drops the older half of all failures and skip-listed items.
    ///
    /// - Returns: `true` if anything was dropped.
    private mutating func dropOldestEvidence() -> Bool {
        let moments = extensions.values.flatMap { $0.failures.map(\.moment) + $0.itemsSetAside.map(\.since) }.sorted()
        guard !moments.isEmpty else { return false }
        let limit = moments[moments.count / 2]
        for identifier in extensions.keys { extensions[identifier]?.forgetEvidence(until: limit) }
        return true
    }
}
