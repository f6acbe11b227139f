// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import UniformTypeIdentifiers

/// Reads an Info.plist that a host accepts as a careful colleague would: what is missing, misspelled or not understood.
struct ManifestReview {
    private let bundle: ExtensionBundle
    private let root: [String: Any]

    init(_ bundle: ExtensionBundle) {
        self.bundle = bundle
        // It was read before, with all checks; what has become of it since is the next reader's matter.
        let data = FileManager.default.contents(atPath: bundle.path + "/Info.plist") ?? Data()
        let parsed =
            data.count <= ExtensionManifest.maximumBytes
            ? try? PropertyListSerialization.propertyList(from: data, format: nil) : nil
        root = parsed as? [String: Any] ?? [:]
    }

    var result: CheckResult { findings.result }

    /// Everything there is to say.
    var findings: Findings {
        var findings = Findings()
        reviewNames(&findings)
        reviewKeys(&findings)
        reviewTypes(&findings)
        reviewFolder(&findings)
        for warning in bundle.warnings {
            guard case .readsSessions = warning else { continue }
            findings.warn(warning.description, "Declare only the files that it needs.")
        }
        return findings
    }

    private func reviewNames(_ findings: inout Findings) {
        if root["CFBundleDisplayName"] == nil, root["CFBundleName"] == nil {
            findings.warn(
                "It has no CFBundleDisplayName, so that people are shown \(bundle.identifier).",
                "Add a name for people.")
        }
        if root["CFBundleVersion"] == nil {
            findings.warn(
                "It has no CFBundleVersion.",
                "Add one, and raise it when what is donated changes: a host reindexes then.")
        } else if !(root["CFBundleVersion"] is String) {
            findings.warn("Its CFBundleVersion is no text and is not used.", "Write <string>1</string>.")
        }
        if bundle.path.split(separator: "/").last.map(String.init) != bundle.identifier + ExtensionBundle.suffix {
            findings.warn(
                "Its folder is not named \(bundle.identifier)\(ExtensionBundle.suffix).",
                "Name it after its identifier, so that a bundle that cannot be read is still known by name.")
        }
    }

    /// The keys that are read.
    private static let known: Set<String> = [
        "CFBundleIdentifier", "CFBundleVersion", "CFBundleDisplayName", "CFBundleName", "CFBundleExecutable",
        "NSExtension",
        "UTExportedTypeDeclarations", "UTImportedTypeDeclarations", "CoreSpotlightContinuation", "Searchlight",
    ]
    private static let knownOfExtension: Set<String> = [
        "NSExtensionPointIdentifier", "NSExtensionPrincipalClass", "NSExtensionAttributes",
    ]
    private static let knownOfSearchlight: Set<String> = [
        "ReadablePaths", "ReadablePathsFrom", "WritablePaths", "AllowsNetwork", "MemoryLimit", "DesktopEntry",
        "SymbolBindings",
    ]

    private func reviewKeys(_ findings: inout Findings) {
        // Manifests of Apple's have many keys that mean nothing here; only those are told that look misspelled.
        for key in root.keys.sorted() where !Self.known.contains(key) {
            guard let meant = Self.near(key, Self.known) else { continue }
            findings.warn("The key \(key.quoted) is not read.", "If \(meant) is meant, write it so.")
        }
        review(root["NSExtension"], "NSExtension", Self.knownOfExtension, &findings)
        review(root["Searchlight"], "Searchlight", Self.knownOfSearchlight, &findings)
        if let value = root["Searchlight"], !(value is [String: Any]) {
            findings.warn("Searchlight is no dictionary and is not read.", "Make it a dictionary.")
        }
    }

    private func review(_ value: Any?, _ name: String, _ known: Set<String>, _ findings: inout Findings) {
        for key in (value as? [String: Any] ?? [:]).keys.sorted() where !known.contains(key) {
            let meant = Self.near(key, known)
            findings.warn(
                "The key \(name).\(key.prefix(100)) is not read.",
                meant.map { "If \(name).\($0) is meant, write it so." }
                    ?? "Known are \(known.sorted().joined(separator: ", ")).")
        }
    }

    private static func near(_ key: String, _ known: Set<String>) -> String? {
        let scored = known.map { ($0, EditDistance.between(key.lowercased(), $0.lowercased())) }
        return scored.filter { $0.1 <= 3 }.min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
    }

    private func reviewTypes(_ findings: inout Findings) {
        // In a registry of its own: what parents others declare is no reason to leave an import out.
        let registry = UTTypeRegistry()
        var problems = bundle.manifest.typeDiagnostics
        problems += registry.register(bundle.manifest.typeDeclarations, ofBundle: bundle.identifier)
        let own = Set(bundle.manifest.typeDeclarations.map { $0.identifier.lowercased() })
        problems += registry.snapshot.diagnostics.filter { diagnostic in
            switch diagnostic {
            case .undeclaredParent(_, let identifier), .neverOfAFile(let identifier): own.contains(identifier)
            case .notInForce(_, let owner, _): owner == bundle.identifier
            case .cycle(let identifiers): !own.isDisjoint(with: identifiers)
            default: false
            }
        }
        for problem in problems {
            findings.warn("Types: \(problem.description).", "Mend the declaration; the type means less than it says.")
        }
    }

    /// The most names of a bundle's folder that are looked at.
    private static let maximumNames = 10_000

    private func reviewFolder(_ findings: inout Findings) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: bundle.path)) ?? []
        for name in names.prefix(Self.maximumNames).sorted() where name.hasSuffix(".swp") || name.hasSuffix("~") {
            findings.warn("\(name.quoted) in the bundle is left over from an editor.", "Remove it.")
        }
    }
}
