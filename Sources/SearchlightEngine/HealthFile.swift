// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SystemSupport

/// How extensions behave, kept in a file of the store (`extensions.json`) so that a quarantine outlives the process.
///
/// Any process with the store may change it, one that only reads the rest too: an extension may crash in each of them. Each
/// holds `extensions.lock` while it reads, changes and replaces the file, so that no change is lost.
final class HealthFile: HealthStore {
    private let file: StoreFile
    private let attempts: Int
    /// Whether there was a file that could not be understood. The first change sets it aside as
    /// `extensions.json.damaged`: nothing is held against anybody, and nobody is disabled.
    let wasDamaged: Bool
    private let loaded: [String: ExtensionHealth]

    /// Between two attempts to have the lock, in microseconds.
    private static let pause: UInt32 = 10_000

    /// Reads the file.
    ///
    /// - Parameter attempts: How often the lock is tried. The others hold it for a moment only; who was stopped meanwhile
    ///   must not stop this one.
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
        // Closing it alone would not do: a process that is being started at this moment shares it.
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
        throw HealthStoreError(path: path, reason: "another process holds it")
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

/// How extensions behave, as the store keeps it: for those who only look, and open no index for that.
package struct KeptHealth: Sendable {
    /// By bundle identifier.
    package let extensions: [String: ExtensionHealth]
    /// Whether there is a file that cannot be understood.
    package let wasDamaged: Bool

    /// Reads it; nothing is changed.
    package init(storeDirectory: String) {
        let file = HealthFile(directory: storeDirectory)
        (extensions, wasDamaged) = (file.load(), file.wasDamaged)
    }
}

/// What the file of how extensions behave holds.
struct HealthDocument: ChecksummedDocument {
    static let maximumBytes = 16 << 20
    /// The most bundles; of more, some are left out.
    static let maximumBundles = 1000
    private static let currentFormat = 1

    private(set) var formatVersion = currentFormat
    /// By bundle identifier.
    var extensions: [String: ExtensionHealth]
    /// Of the document without it.
    var checksum: UInt32?

    /// A document in the present format.
    init(_ all: [String: ExtensionHealth]) {
        guard all.count > Self.maximumBundles else {
            extensions = all
            return
        }
        // What a person decided stays longest, then quarantines, then what is newest.
        func rank(_ entry: (key: String, value: ExtensionHealth)) -> (Int, Double, String) {
            let health = entry.value
            let group = health.isDisabled ? 0 : health.quarantine == nil ? 2 : 1
            return (group, -(health.failures.last?.moment ?? 0), entry.key)
        }
        let kept = all.sorted { rank($0) < rank($1) }.prefix(Self.maximumBundles)
        extensions = Dictionary(kept.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Reads a document; `nil` if it cannot be understood, or anything in it was changed.
    init?(_ data: Data) {
        guard let document = try? JSONDecoder().decode(HealthDocument.self, from: data),
            document.formatVersion == Self.currentFormat, document.hasRightChecksum,
            document.extensions.keys.allSatisfy(ExtensionManifest.isIdentifier)
        else { return nil }
        self = document
    }

    /// The same of a document that is no larger than the file may be: without the oldest evidence, if need be, never without
    /// what a person decided or why an extension is not asked.
    func encodedWithinBounds() throws -> Data {
        var document = self
        var data = try document.encoded()
        // Each round leaves half of it, so there are few.
        while data.count > Self.maximumBytes, document.dropOldestEvidence() { data = try document.encoded() }
        return data
    }

    /// Leaves out the older half of all failures and items set aside.
    ///
    /// - Returns: Whether there were any.
    private mutating func dropOldestEvidence() -> Bool {
        let moments = extensions.values.flatMap { $0.failures.map(\.moment) + $0.itemsSetAside.map(\.since) }.sorted()
        guard !moments.isEmpty else { return false }
        let limit = moments[moments.count / 2]
        for identifier in extensions.keys { extensions[identifier]?.forgetEvidence(until: limit) }
        return true
    }
}
