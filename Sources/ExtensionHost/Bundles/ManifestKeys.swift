// SPDX-License-Identifier: Apache-2.0

/// The known keys of a manifest, and a search for unknown keys that look misspelt.
enum ManifestKeys {
    private static let ofRoot = [
        "CFBundleIdentifier", "CFBundleVersion", "CFBundleDisplayName", "CFBundleName", "CFBundleExecutable",
        "NSExtension", "UTExportedTypeDeclarations", "UTImportedTypeDeclarations", "CoreSpotlightContinuation",
        "Searchlight",
    ]
    private static let ofExtension = [
        "NSExtensionPointIdentifier", "NSExtensionPrincipalClass", "NSExtensionAttributes",
    ]
    private static let ofSearchlight = [
        "ReadablePaths", "ReadablePathsFrom", "WritablePaths", "WatchedPaths", "IdentifiersArePaths", "AllowsNetwork",
        "MemoryLimit", "DesktopEntry", bindings, database,
    ]
    private static let (bindings, database) = ("SymbolBindings", "Database")
    /// The maximum number of reported keys, and the maximum length of each in bytes.
    private static let (maximumKeys, maximumBytes) = (20, 100)

    /// Returns the unknown keys. Apple's manifests have many keys that Searchlight does not use, so
    /// at the top level only keys that look misspelt are returned.
    static func unknown(in root: [String: Any]) -> [UnknownKey] {
        let extensionTable = root["NSExtension"] as? [String: Any] ?? [:]
        var found = unknown(in: root, ofRoot, prefix: "").filter { !$0.meant.isEmpty }
        found += unknown(in: extensionTable, ofExtension, prefix: "NSExtension.")
        found += unknown(in: root["Searchlight"] as? [String: Any] ?? [:], ofSearchlight, prefix: "Searchlight.")
        return Array(found.prefix(maximumKeys))
    }

    /// Returns the key that looks like a misspelling of a bindings key.
    static func misspeltBindings(in root: [String: Any]) -> UnknownKey? {
        let meant = ["Searchlight", "Searchlight." + bindings, "Searchlight." + database]
        return unknown(in: root).first { $0.meant.contains(where: meant.contains) }
    }

    private static func unknown(in table: [String: Any], _ known: [String], prefix: String) -> [UnknownKey] {
        table.keys.filter { !known.contains($0) }.sorted().prefix(maximumKeys).map { key in
            let near = SpellingSuggestions.nearest(to: key, among: known)
            let shown = String(decoding: key.utf8.prefix(maximumBytes), as: UTF8.self)
            return UnknownKey(key: prefix + shown, meant: near.map { prefix + $0 })
        }
    }
}

/// An unknown key of a manifest.
public struct UnknownKey: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The key, prefixed with the keys of its enclosing dictionaries.
    public var key: String
    /// The known keys with similar names, closest first.
    public var meant: [String]

    /// A sentence, followed by a question if a known key has a similar name.
    public var description: String {
        let question = meant.isEmpty ? "" : " Did you mean \(meant.joined(separator: " or "))?"
        return "Its Info.plist has the unknown key \(key), which has no effect.\(question)"
    }
}
