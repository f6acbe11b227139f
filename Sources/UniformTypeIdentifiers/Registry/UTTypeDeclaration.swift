// SPDX-License-Identifier: Apache-2.0

/// A type declaration in a bundle's Info.plist.
public struct UTTypeDeclaration: Hashable, Sendable {
    /// The owner of the format.
    public enum Kind: String, Hashable, Sendable {
        /// The bundle itself (`UTExportedTypeDeclarations`).
        case exported
        /// Another owner. The bundle only requires the type to exist
        /// (`UTImportedTypeDeclarations`).
        case imported
    }

    /// The identifier, in any case.
    public var identifier: String
    /// The identifiers of the direct parents, in order.
    public var conformsTo: [String]
    /// The tags by class, preferred tags first. Unknown classes are dropped.
    public var tags: [UTTagClass: [String]]
    /// A short name for users.
    public var localizedDescription: String?
    /// The version of the declaration. Among otherwise equal declarations, the highest version
    /// wins.
    public var version: Int?
    /// The URL of the format's documentation; not validated.
    public var referenceURL: String?
    /// The owner of the format.
    public var kind: Kind

    /// Creates a declaration from its parts. ``UTTypeRegistry/register(_:ofBundle:)`` validates
    /// them.
    public init(
        identifier: String, conformsTo: [String] = [], tags: [UTTagClass: [String]] = [:],
        localizedDescription: String? = nil, version: Int? = nil, referenceURL: String? = nil, kind: Kind = .exported
    ) {
        self.identifier = identifier
        self.conformsTo = conformsTo
        self.tags = tags
        self.localizedDescription = localizedDescription
        self.version = version
        self.referenceURL = referenceURL
        self.kind = kind
    }

    /// The maximum number of declarations accepted from a bundle.
    public static let maximumPerBundle = 256
    /// The maximum number of parents in a declaration.
    public static let maximumParents = 32
    /// The maximum number of tags of one class in a declaration.
    public static let maximumTags = 128
    /// The maximum length of the description and of the reference URL, in bytes.
    public static let maximumTextBytes = 4096

    /// Returns the declaration in stored form: identifiers are lowercase, and duplicates and
    /// invalid parts are removed. Diagnostics name the invalid parts.
    ///
    /// - Returns: `nil` if the whole declaration is rejected.
    func normalized(bundle: String, diagnostics: inout [UTTypeDiagnostic]) -> UTTypeDeclaration? {
        guard !TypeIdentifier.isDynamic(identifier) else {
            diagnostics.append(.dynamicIdentifier(identifier, bundle: bundle))
            return nil
        }
        guard TypeIdentifier.isWellFormed(identifier) else {
            diagnostics.append(.illegalIdentifier(String(identifier.prefix(200)), bundle: bundle))
            return nil
        }
        let name = TypeIdentifier.lowercased(identifier)
        guard !name.utf8.starts(with: "public.".utf8) else {
            // Importing a system type is common and harmless.
            if kind == .exported || CoreTable.shared.index(ofLowercase: name) == nil {
                diagnostics.append(.reservedIdentifier(name, bundle: bundle))
            }
            return nil
        }

        var result = self
        result.identifier = name
        result.conformsTo = []
        for parent in conformsTo {
            let parentName = TypeIdentifier.lowercased(parent)
            if result.conformsTo.contains(parentName) { continue }
            if result.conformsTo.count == UTTypeDeclaration.maximumParents {
                diagnostics.append(.tooMany("parents", limit: UTTypeDeclaration.maximumParents, identifier: name))
                break
            }
            if TypeIdentifier.isWellFormed(parent) {
                result.conformsTo.append(parentName)
            } else {
                diagnostics.append(.illegalParent(String(parent.prefix(200)), identifier: name))
            }
        }
        result.tags = UTTypeDeclaration.normalized(tags, of: name, diagnostics: &diagnostics)
        if let text = localizedDescription, text.utf8.count > UTTypeDeclaration.maximumTextBytes {
            diagnostics.append(.unreadableValue(key: "UTTypeDescription", identifier: name))
            result.localizedDescription = nil
        }
        if let text = referenceURL, text.utf8.count > UTTypeDeclaration.maximumTextBytes {
            diagnostics.append(.unreadableValue(key: "UTTypeReferenceURL", identifier: name))
            result.referenceURL = nil
        }
        return result
    }

    private static func normalized(
        _ tags: [UTTagClass: [String]], of identifier: String, diagnostics: inout [UTTypeDiagnostic]
    ) -> [UTTagClass: [String]] {
        var result: [UTTagClass: [String]] = [:]
        for (tagClass, texts) in tags.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard let key = tagClass.key else { continue }
            for text in texts {
                let tag = key == .mimeType ? text.lowercased() : text
                let isDotted = key == .filenameExtension && text.utf8.first == UInt8(ascii: ".")
                guard !tag.isEmpty, !isDotted, TypeIdentifier.isTagText(tag, key) else {
                    diagnostics.append(
                        .illegalTag(String(text.prefix(200)), tagClass: tagClass, identifier: identifier))
                    continue
                }
                let known = result[UTTagClass(key)] ?? []
                guard known.count < maximumTags else {
                    diagnostics.append(.tooMany("tags", limit: maximumTags, identifier: identifier))
                    break
                }
                if !known.contains(tag) { result[UTTagClass(key), default: []].append(tag) }
            }
        }
        return result
    }
}
