// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import UniformTypeIdentifiers

/// Reviews an Info.plist that hosts accept for missing, misspelled and unknown entries.
struct ManifestReview {
    private let bundle: ExtensionBundle
    private let root: [String: Any]

    init(_ bundle: ExtensionBundle) {
        self.bundle = bundle
        // The manifest passed all checks when it was read. Later changes are not covered here.
        let data = FileManager.default.contents(atPath: bundle.path + "/Info.plist") ?? Data()
        let parsed =
            data.count <= ExtensionManifest.maximumBytes
            ? try? PropertyListSerialization.propertyList(from: data, format: nil) : nil
        root = parsed as? [String: Any] ?? [:]
    }

    var result: CheckResult { findings.result }

    /// All findings.
    var findings: Findings {
        var findings = Findings()
        reviewNames(&findings)
        reviewKeys(&findings)
        reviewTypes(&findings)
        reviewFolder(&findings)
        for warning in bundle.warnings {
            switch warning {
            case .readsSessions: findings.warn(warning.description, "Declare only the files that it needs.")
            case .changesAllDocuments: findings.warn(warning.description, "Declare a folder below it.")
            case .nameMismatch, .unknownKey: continue
            }
        }
        return findings
    }

    private func reviewNames(_ findings: inout Findings) {
        if root["CFBundleDisplayName"] == nil, root["CFBundleName"] == nil {
            findings.warn(
                "It has no CFBundleDisplayName, so users see \(bundle.identifier).",
                "Add a name for users.")
        }
        if root["CFBundleVersion"] == nil {
            findings.warn(
                "It has no CFBundleVersion.",
                "Add one, and raise it when the donations change: the host then reindexes.")
        } else if !(root["CFBundleVersion"] is String) {
            findings.warn("Its CFBundleVersion is not text and is not used.", "Write <string>1</string>.")
        }
        if bundle.path.split(separator: "/").last.map(String.init) != bundle.identifier + ExtensionBundle.suffix {
            findings.warn(
                "Its folder is not named \(bundle.identifier)\(ExtensionBundle.suffix).",
                "Name it after its identifier, so that an unreadable bundle is still identified.")
        }
    }

    private func reviewKeys(_ findings: inout Findings) {
        for key in bundle.manifest.unknownKeys {
            findings.warn(
                key.description,
                key.meant.isEmpty ? "Remove it; docs/EXTENSIONS.md lists the known keys." : "Correct it.")
        }
    }

    private func reviewTypes(_ findings: inout Findings) {
        // In a separate registry, so that other bundles' types do not hide a missing import.
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
            findings.warn("Types: \(problem.description).", "Fix the declaration; parts of it have no effect.")
        }
    }

    /// The maximum number of names in the bundle's folder that are checked.
    private static let maximumNames = 10_000

    private func reviewFolder(_ findings: inout Findings) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: bundle.path)) ?? []
        for name in names.prefix(Self.maximumNames).sorted() where name.hasSuffix(".swp") || name.hasSuffix("~") {
            findings.warn("\(name.quoted) in the bundle is left over from an editor.", "Remove it.")
        }
    }
}
