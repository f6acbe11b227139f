// SPDX-License-Identifier: Apache-2.0
import DatabaseBindings
import Foundation
import UniformTypeIdentifiers

/// The contents of an extension's `Info.plist`: Apple's keys, and one dictionary with Searchlight's
/// own keys.
public struct ExtensionManifest: Hashable, Sendable {
    /// `CFBundleIdentifier`, in reverse-DNS form. The extension's items and records are stored
    /// under it.
    public var identifier: String
    /// `CFBundleVersion`, or `0`.
    public var version: String
    /// `CFBundleDisplayName`, else `CFBundleName`, else the identifier.
    public var displayName: String
    /// `CFBundleExecutable`: the library's file name in the bundle; `nil` for an extension without
    /// its own code.
    public var libraryName: String?
    /// `NSExtensionPrincipalClass`: the principal class of an extension that uses CoreSpotlight.
    public var principalClass: String?
    /// `NSExtensionPointIdentifier`: the extension points.
    public var extensionPoints: Set<ExtensionPoint>
    /// The valid declarations of `UTExportedTypeDeclarations` and `UTImportedTypeDeclarations`.
    public var typeDeclarations: [UTTypeDeclaration]
    /// The problems of invalid type declarations.
    public var typeDiagnostics: [UTTypeDiagnostic]
    /// The declared access.
    public var access: DeclaredAccess
    /// `CoreSpotlightContinuation`: `true` if the app accepts activities when it is launched.
    public var continuesActivities: Bool

    /// `Searchlight.SymbolBindings`: the bindings of an extension without its own code; see
    /// docs/BINDINGS.md.
    public var bindings: [String]

    /// `Searchlight.Database`: the app's database, whose rows become items; see docs/DATABASES.md.
    package var database: DatabaseBinding?

    /// The unknown keys that look misspelt; at most 20.
    public var unknownKeys: [UnknownKey]

    /// An extension point.
    public enum ExtensionPoint: String, Sendable, CaseIterable {
        /// Reindexing and promises.
        case index = "com.apple.spotlight.index"
        /// Previews.
        case preview = "com.apple.quicklook.preview"
    }

    /// The maximum size of a manifest, in bytes.
    public static let maximumBytes = 256 << 10

    /// Reads a manifest from the bytes of an `Info.plist`.
    ///
    /// - Throws: ``BundleProblem`` for the first key that is missing or invalid.
    public init(propertyList data: Data) throws(BundleProblem) {
        try self.init(try Self.values(Array(data)))
    }

    /// Returns the values of an `Info.plist`.
    static func values(_ bytes: [UInt8]) throws(BundleProblem) -> PropertyValue {
        guard bytes.count <= maximumBytes else { throw .manifestTooLarge(bytes: bytes.count) }
        do throws(PropertyListReader.Problem) {
            return try PropertyListReader.read(bytes)
        } catch {
            throw .manifestUnreadable(reason: error.reason)
        }
    }

    /// Creates a manifest from the values of an `Info.plist` or of the cache. Both undergo the same
    /// checks.
    init(_ values: PropertyValue) throws(BundleProblem) {
        guard let root = values.any as? [String: Any] else {
            throw .manifestUnreadable(reason: "its top level is not a dictionary")
        }
        identifier = try Self.identifier(in: root)
        version = root["CFBundleVersion"] as? String ?? "0"
        displayName = root["CFBundleDisplayName"] as? String ?? root["CFBundleName"] as? String ?? identifier
        bindings = try Self.bindings(in: root)
        database = try Self.database(in: values, root)
        libraryName = bindings.isEmpty && database == nil ? try Self.libraryName(in: root) : nil
        unknownKeys = ManifestKeys.unknown(in: root)
        (typeDeclarations, typeDiagnostics) = UTTypeDeclaration.declarations(in: root, ofBundle: identifier)
        access = try DeclaredAccess(manifest: root, identifier: identifier)
        if let continuation = root["CoreSpotlightContinuation"] {
            guard let continues = continuation as? Bool else {
                throw .invalidValue(
                    key: "CoreSpotlightContinuation", value: DeclaredAccess.shown(continuation),
                    expected: "true or false")
            }
            continuesActivities = continues
        } else {
            continuesActivities = false
        }
        if let database { try access.watch(database, manifest: root) }
        guard let point = root["NSExtension"] as? [String: Any] else { throw .missingKey("NSExtension") }
        let pointNames =
            point["NSExtensionPointIdentifier"] as? [String]
            ?? (point["NSExtensionPointIdentifier"] as? String).map { [$0] } ?? []
        guard !pointNames.isEmpty else { throw .missingKey("NSExtension.NSExtensionPointIdentifier") }
        extensionPoints = Set(pointNames.compactMap(ExtensionPoint.init(rawValue:)))
        guard !extensionPoints.isEmpty else {
            throw .invalidValue(
                key: "NSExtension.NSExtensionPointIdentifier", value: pointNames.joined(separator: ", "),
                expected: ExtensionPoint.allCases.map(\.rawValue).joined(separator: " or "))
        }
        if let name = point["NSExtensionPrincipalClass"] {
            guard let name = name as? String, !name.isEmpty else {
                throw .invalidValue(
                    key: "NSExtension.NSExtensionPrincipalClass", value: "\(name)", expected: "Module.Class")
            }
            principalClass = name
        }
    }

    /// `true` if the bundle is named after its app's desktop entry, so that the entry belongs to
    /// it; see ``AppNames``.
    package var ownsDesktopEntry: Bool {
        guard let entry = access.desktopEntry else { return false }
        return entry == identifier + ".desktop" || AppNames(bundle: identifier, desktopEntry: entry).app != nil
    }

    /// The maximum length of a bundle identifier, in bytes.
    public static let maximumIdentifierBytes = 255

    /// Returns `true` if a text is a valid bundle identifier: a reverse-DNS name of letters,
    /// digits, `-` and `.`.
    public static func isIdentifier(_ text: String) -> Bool { isName(text, parts: 2) }

    /// Returns `true` if a text is a valid app identifier with at least `parts` parts. `_` is valid
    /// too, because Flatpak identifiers and desktop file names may contain it.
    public static func isAppIdentifier(_ text: String, parts: Int = 2) -> Bool {
        isName(String(text.map { $0 == "_" ? "-" : $0 }), parts: parts)
    }

    private static func isName(_ text: String, parts least: Int) -> Bool {
        let allowed = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return allowed && parts.count >= least && parts.allSatisfy { !$0.isEmpty }
            && text.utf8.count <= maximumIdentifierBytes
    }

    private static func identifier(in root: [String: Any]) throws(BundleProblem) -> String {
        guard let identifier = root["CFBundleIdentifier"] as? String else { throw .missingKey("CFBundleIdentifier") }
        guard isIdentifier(identifier) else {
            throw .invalidValue(
                key: "CFBundleIdentifier", value: String(identifier.prefix(300)),
                expected: "a reverse-DNS name such as com.example.journal (letters, digits, '-' and '.')")
        }
        return identifier
    }

    private static func libraryName(in root: [String: Any]) throws(BundleProblem) -> String {
        guard let name = root["CFBundleExecutable"] as? String else {
            // A manifest that misspells the bindings needs no library, so the advice to add one
            // would be wrong.
            if let key = ManifestKeys.misspeltBindings(in: root) { throw .misspeltKey(key) }
            throw .missingKey("CFBundleExecutable")
        }
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(where: { $0 == 0x2F || $0 == 0 }),
            name.utf8.count <= 255
        else {
            throw .invalidValue(
                key: "CFBundleExecutable", value: String(name.prefix(300)), expected: "a file name in the bundle")
        }
        return name
    }
}
