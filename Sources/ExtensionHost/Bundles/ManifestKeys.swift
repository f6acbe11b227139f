// SPDX-License-Identifier: Apache-2.0

/// The keys of a manifest that are read, and those of one that are not and look as if they should be.
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
        "MemoryLimit", "DesktopEntry", bindings,
    ]
    private static let bindings = "SymbolBindings"
    /// The most that are told, and bytes of each.
    private static let (maximumKeys, maximumBytes) = (20, 100)

    /// The keys that are not read. Manifests of Apple's have many that mean nothing here; at their top level only those count
    /// that look misspelt.
    static func unknown(in root: [String: Any]) -> [UnknownKey] {
        let extensionTable = root["NSExtension"] as? [String: Any] ?? [:]
        var found = unknown(in: root, ofRoot, prefix: "").filter { !$0.meant.isEmpty }
        found += unknown(in: extensionTable, ofExtension, prefix: "NSExtension.")
        found += unknown(in: root["Searchlight"] as? [String: Any] ?? [:], ofSearchlight, prefix: "Searchlight.")
        return Array(found.prefix(maximumKeys))
    }

    /// The key that somebody who meant the bindings may have written instead.
    static func misspeltBindings(in root: [String: Any]) -> UnknownKey? {
        unknown(in: root).first { $0.meant.contains { $0 == "Searchlight" || $0 == "Searchlight." + bindings } }
    }

    private static func unknown(in table: [String: Any], _ known: [String], prefix: String) -> [UnknownKey] {
        table.keys.filter { !known.contains($0) }.sorted().prefix(maximumKeys).map { key in
            let near = NearNames.nearest(to: key, among: known)
            let shown = String(decoding: key.utf8.prefix(maximumBytes), as: UTF8.self)
            return UnknownKey(key: prefix + shown, meant: near.map { prefix + $0 })
        }
    }
}

/// A key of a manifest that is not read.
public struct UnknownKey: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The key, with those it is under.
    public var key: String
    /// What may be meant, the nearest first.
    public var meant: [String]

    /// A sentence, and a question where something else may be meant.
    public var description: String {
        let question = meant.isEmpty ? "" : " Did you mean \(meant.joined(separator: " or "))?"
        return "Its Info.plist has the unknown key \(key), which is not read.\(question)"
    }
}
