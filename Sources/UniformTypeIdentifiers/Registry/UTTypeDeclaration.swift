// SPDX-License-Identifier: Apache-2.0

/// A type as a bundle declares it in its Info.plist.
public struct UTTypeDeclaration: Hashable, Sendable {
    /// Who owns the format.
    public enum Kind: String, Hashable, Sendable {
        /// The declaring bundle (`UTExportedTypeDeclarations`).
        case exported
        /// Somebody else; the bundle only needs the type to exist (`UTImportedTypeDeclarations`).
        case imported
    }

    /// The identifier, in any case.
    public var identifier: String
    /// The identifiers of the direct parents, in order.
    public var conformsTo: [String]
    /// The tags by class, preferred first. Classes the system does not know are dropped.
    public var tags: [UTTagClass: [String]]
    /// A short name for people.
    public var localizedDescription: String?
    /// The version of the declaration; the highest wins among equals.
    public var version: Int?
    /// Where the format is described; not checked.
    public var referenceURL: String?
    /// Whether the bundle owns the format.
    public var kind: Kind

    /// Makes a declaration from its parts; ``UTTypeRegistry/register(_:ofBundle:)`` checks them.
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

    /// The most declarations of one bundle that are taken.
    public static let maximumPerBundle = 256
    /// The most parents of one declaration.
    public static let maximumParents = 32
    /// The most tags of one class in one declaration.
    public static let maximumTags = 128
    /// The longest description or reference address, in bytes.
    public static let maximumTextBytes = 4096

    /// The declaration as it is kept: identifiers lowercase, duplicates gone, what is not allowed left out and named.
    ///
    /// - Returns: `nil` when the declaration as a whole is refused.
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
            // To import what the system has is common and harmless.
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
