// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SystemSupport

/// The extensions that the last search found. Comparing them shows which extensions were added,
/// upgraded or removed, including while no process was running. A pure value; times are in seconds
/// since 2001-01-01 UTC.
struct ExtensionLedger: Hashable, Sendable, Codable {
    /// The recorded facts of one extension.
    struct Entry: Hashable, Sendable, Codable {
        var version: String
        var fingerprint: ExtensionBundle.Fingerprint
        /// The directory that contained the bundle. A process that does not search this directory
        /// does not know whether the bundle still exists.
        var directory: String
        /// The directory's file system. By now it may be unmounted or replaced by another one
        /// (``SearchedFolder``).
        var fileSystem: UInt64?
        /// `true` if the extension donated items. An app's own donations are kept when the
        /// extension with the same name is removed.
        var hasDonated: Bool
        /// The time of removal; `nil` if the extension is installed.
        var removed: Double?
    }
    private(set) var entries: [String: Entry] = [:]

    /// The maximum number of recorded extensions. Further extensions are not recorded.
    static let maximumEntries = 10_000

    /// Compares the found extensions with the recorded ones and records them.
    ///
    /// - Parameters:
    ///   - look: Returns a directory's state.
    ///   - hasDonated: Returns `true` if a bundle donated before the ledger existed.
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
        // A rejected bundle is still installed; it may just be in the process of being replaced.
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

    /// The missing extensions whose items will be deleted, with the times of removal.
    var removals: [String: Double] { entries.compactMapValues(\.removed) }

    /// Returns the extensions that have been missing for longer than the grace period, sorted.
    func due(
        _ registry: ExtensionRegistry, now: Double, grace: Double,
        look: (String) -> SearchedFolder = SearchedFolder.init
    ) -> [String] {
        provenRemovals(registry, look).filter { now - $0.value >= grace }.keys.sorted()
    }

    /// Returns the removal times of extensions that are missing from directories that are searched
    /// and readable now.
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

    /// Records that an extension donated items.
    mutating func noteDonation(of identifier: String) { entries[identifier]?.hasDonated = true }

    /// Removes a missing extension from the ledger. For an installed extension, clears
    /// ``Entry/hasDonated``.
    mutating func forget(_ identifier: String) {
        if entries[identifier]?.removed != nil {
            entries[identifier] = nil
        } else {
            entries[identifier]?.hasDonated = false
        }
    }

    /// Ends an extension's grace period, because its items belong to a registered app.
    mutating func keepItems(of identifier: String) {
        if entries[identifier]?.removed != nil { entries[identifier] = nil }
    }

    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? path
    }

    /// `true` if the values are within the limits of this type, as in every file that it wrote.
    var isSound: Bool {
        entries.count <= Self.maximumEntries
            && entries.allSatisfy { identifier, entry in
                ExtensionManifest.isIdentifier(identifier) && entry.removed?.isFinite != false
            }
    }
}

/// The differences between two searches for extensions, as bundle identifiers.
package struct ExtensionChanges: Hashable, Sendable {
    /// The new extensions. Each gets a pending reindex of everything.
    package internal(set) var added: [String] = []
    /// The extensions whose version, manifest or library changed. Each gets a pending reindex of
    /// everything.
    package internal(set) var upgraded: [String] = []
    /// The missing extensions. Their items are deleted after the grace period, unless they return.
    package internal(set) var removed: [String] = []
    /// The extensions that returned.
    package internal(set) var restored: [String] = []

    /// `true` if there are no differences.
    package var isEmpty: Bool {
        added.isEmpty && upgraded.isEmpty && removed.isEmpty && restored.isEmpty
    }
}
