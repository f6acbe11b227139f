// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SystemSupport

/// Which extensions there were when they were last looked for, so that one that was added, upgraded or removed is noticed,
/// also when that was done while nobody looked. A pure value; moments are in seconds since 2001-01-01 UTC.
struct ExtensionLedger: Hashable, Sendable, Codable {
    /// What is known of one extension.
    struct Entry: Hashable, Sendable, Codable {
        var version: String
        var fingerprint: ExtensionBundle.Fingerprint
        /// The directory that held the bundle. Who does not search it cannot tell whether the bundle is gone.
        var directory: String
        /// Which file system that was on; another one may be mounted there, or none (``SearchedFolder``).
        var fileSystem: UInt64?
        /// Whether items came from it. What an app donates by itself stays when an extension of its name goes.
        var hasDonated: Bool
        /// Since when it is missing.
        var removed: Double?
    }
    private(set) var entries: [String: Entry] = [:]

    /// The most extensions that are kept in mind; of others only what there is now is known.
    static let maximumEntries = 10_000

    /// Compares what there is with what there was.
    ///
    /// - Parameters:
    ///   - look: Says what there is of a directory.
    ///   - hasDonated: Whether a bundle is known to have donated before there was a ledger.
    mutating func meet(
        _ registry: ExtensionRegistry, now: Double, look: (String) -> SearchedFolder = SearchedFolder.init,
        hasDonated: (String) -> Bool = { _ in false }
    ) -> ExtensionChanges {
        var changes = ExtensionChanges()
        let folders = Dictionary(registry.searchPath.map { ($0, look($0)) }, uniquingKeysWith: { first, _ in first })
        for bundle in registry.extensions {
            let identifier = bundle.identifier
            let directory = Self.directory(of: bundle.path)
            guard var entry = entries[identifier] else {
                guard entries.count < Self.maximumEntries else { continue }
                let isKnown = hasDonated(identifier)
                entries[identifier] = Entry(
                    version: bundle.manifest.version, fingerprint: bundle.fingerprint, directory: directory,
                    fileSystem: folders[directory]?.fileSystem, hasDonated: isKnown)
                if !isKnown { changes.added.append(identifier) }
                continue
            }
            if entry.removed != nil { changes.restored.append(identifier) }
            if entry.version != bundle.manifest.version || entry.fingerprint != bundle.fingerprint {
                changes.upgraded.append(identifier)
            }
            (entry.version, entry.fingerprint) = (bundle.manifest.version, bundle.fingerprint)
            (entry.directory, entry.removed) = (directory, nil)
            entry.fileSystem = folders[directory]?.fileSystem ?? entry.fileSystem
            entries[identifier] = entry
        }
        let present = Set(registry.extensions.map(\.identifier))
        // One that cannot be used now is still there; it may be being replaced in this moment.
        let refused = Set(registry.refusals.map(\.likelyIdentifier))
        for identifier in refused { entries[identifier]?.removed = nil }
        for (identifier, entry) in entries
        where entry.removed == nil && !present.contains(identifier) && !refused.contains(identifier)
            && folders[entry.directory]?.provesAbsence(on: entry.fileSystem) == true
        {
            changes.removed.append(identifier)
            entries[identifier]?.removed = now
            if !entry.hasDonated { entries[identifier] = nil }
        }
        changes.removed.sort()
        return changes
    }

    /// The extensions that are missing and whose items will be deleted, with since when.
    var removals: [String: Double] { entries.compactMapValues(\.removed) }

    /// The extensions that have been missing for as long as a grace, sorted.
    func due(
        _ registry: ExtensionRegistry, now: Double, grace: Double,
        look: (String) -> SearchedFolder = SearchedFolder.init
    ) -> [String] {
        provenRemovals(registry, look).filter { now - $0.value >= grace }.keys.sorted()
    }

    /// Since when extensions are missing from folders that say so now.
    func provenRemovals(
        _ registry: ExtensionRegistry, _ look: (String) -> SearchedFolder = SearchedFolder.init
    ) -> [String: Double] {
        let searched = Set(registry.searchPath)
        return entries.compactMapValues { entry in
            guard let removed = entry.removed, searched.contains(entry.directory),
                look(entry.directory).provesAbsence(on: entry.fileSystem)
            else { return nil }
            return removed
        }
    }

    /// Notes that items came from an extension.
    mutating func noteDonation(of identifier: String) { entries[identifier]?.hasDonated = true }

    /// Forgets an extension that is gone; of one that is there, that items came from it.
    mutating func forget(_ identifier: String) {
        if entries[identifier]?.removed != nil {
            entries[identifier] = nil
        } else {
            entries[identifier]?.hasDonated = false
        }
    }

    /// Stops the grace of an extension: its items belong to somebody who is there.
    mutating func keepItems(of identifier: String) {
        if entries[identifier]?.removed != nil { entries[identifier] = nil }
    }

    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? path
    }

    /// Whether what a file held can have been written.
    var isSound: Bool {
        entries.count <= Self.maximumEntries
            && entries.allSatisfy { identifier, entry in
                ExtensionManifest.isIdentifier(identifier) && entry.removed?.isFinite != false
            }
    }
}

/// What has changed about the extensions since they were last looked for, by identifier.
package struct ExtensionChanges: Hashable, Sendable {
    /// There were none of these before. Each owes a reindex of everything.
    package internal(set) var added: [String] = []
    /// Their version, manifest or library is another. Each owes a reindex of everything.
    package internal(set) var upgraded: [String] = []
    /// They are gone. Their items are deleted after a grace, unless they come back.
    package internal(set) var removed: [String] = []
    /// They were gone, and are back.
    package internal(set) var restored: [String] = []

    /// Whether nothing has changed.
    package var isEmpty: Bool {
        added.isEmpty && upgraded.isEmpty && removed.isEmpty && restored.isEmpty
    }
}
