// SPDX-License-Identifier: Apache-2.0

import Foundation

// The functions on identifiers before `UTType` existed, as a thin layer above it. Names that are not declared take part:
// they conform to themselves.

/// There is no Core Foundation string here; source that casts to it means a string.
public typealias CFString = String
/// Nor a Core Foundation dictionary.
public typealias CFDictionary = [String: any Sendable]
/// Nor a Core Foundation address.
public typealias CFURL = URL

/// The answer of a function that once returned a reference to release: both ways of taking it give the value.
public struct UTCopiedValue<Value: Sendable>: Sendable {
    let value: Value

    /// The value.
    public func takeRetainedValue() -> Value { value }
    /// The value.
    public func takeUnretainedValue() -> Value { value }
}

/// The class of filename extensions.
public let kUTTagClassFilenameExtension: CFString = "public.filename-extension"
/// The class of MIME types.
public let kUTTagClassMIMEType: CFString = "public.mime-type"
/// The class of old pasteboard names.
public let kUTTagClassNSPboardType: CFString = "com.apple.nspboard-type"
/// The class of four-character codes.
public let kUTTagClassOSType: CFString = "com.apple.ostype"

/// The key of an `Info.plist` under which types of the bundle's own are declared.
public let kUTExportedTypeDeclarationsKey: CFString = "UTExportedTypeDeclarations"
/// The key of an `Info.plist` under which types of others are declared.
public let kUTImportedTypeDeclarationsKey: CFString = "UTImportedTypeDeclarations"
/// The key of a declaration for the identifier.
public let kUTTypeIdentifierKey: CFString = "UTTypeIdentifier"
/// The key of a declaration for the tags, by class.
public let kUTTypeTagSpecificationKey: CFString = "UTTypeTagSpecification"
/// The key of a declaration for the identifiers of the parents.
public let kUTTypeConformsToKey: CFString = "UTTypeConformsTo"
/// The key of a declaration for the name for people.
public let kUTTypeDescriptionKey: CFString = "UTTypeDescription"
/// The key of a declaration for the file of an icon.
public let kUTTypeIconFileKey: CFString = "UTTypeIconFile"
/// The key of a declaration for the address where the format is described.
public let kUTTypeReferenceURLKey: CFString = "UTTypeReferenceURL"
/// The key of a declaration for its version.
public let kUTTypeVersionKey: CFString = "UTTypeVersion"

/// The best identifier for a tag. Unlike `UTType`, an empty tag has a dynamic type in every class.
public func UTTypeCreatePreferredIdentifierForTag(
    _ tagClass: CFString, _ tag: CFString, _ conformingTo: CFString?
) -> UTCopiedValue<CFString>? {
    legacyTypes(tagClass, tag, conformingTo).first.map { UTCopiedValue(value: $0.identifier) }
}

/// All identifiers for a tag, best first, or `nil` for a malformed tag.
public func UTTypeCreateAllIdentifiersForTag(
    _ tagClass: CFString, _ tag: CFString, _ conformingTo: CFString?
) -> UTCopiedValue<[CFString]>? {
    let types = legacyTypes(tagClass, tag, conformingTo)
    return types.isEmpty ? nil : UTCopiedValue(value: types.map(\.identifier))
}

/// The preferred tag of a type in a class.
public func UTTypeCopyPreferredTagWithClass(
    _ identifier: CFString, _ tagClass: CFString
) -> UTCopiedValue<CFString>? {
    legacyType(identifier).tags[UTTagClass(rawValue: tagClass)]?.first.map { UTCopiedValue(value: $0) }
}

/// All tags of a type in a class, or `nil` if it has none.
public func UTTypeCopyAllTagsWithClass(
    _ identifier: CFString, _ tagClass: CFString
) -> UTCopiedValue<[CFString]>? {
    legacyType(identifier).tags[UTTagClass(rawValue: tagClass)].map { UTCopiedValue(value: $0) }
}

/// The name of a type for people.
public func UTTypeCopyDescription(_ identifier: CFString) -> UTCopiedValue<CFString>? {
    legacyType(identifier).localizedDescription.map { UTCopiedValue(value: $0) }
}

/// The declaration of a type, with the keys of an `Info.plist`: `kUTTypeIdentifierKey` and so on. Tags are lists, also where the
/// declaration has one. `nil` for a type that nobody declares, a dynamic one among them.
///
/// ```swift
/// let declaration = UTTypeCopyDeclaration(kUTTypePNG)?.takeRetainedValue()
/// let parents = declaration?[kUTTypeConformsToKey] as? [String]
/// ```
public func UTTypeCopyDeclaration(_ identifier: CFString) -> UTCopiedValue<CFDictionary>? {
    let snapshot = UTTypeRegistry.currentSnapshot
    guard let type = snapshot.type(identifier), type.isDeclared else { return nil }
    let declaration = snapshot.declaration(of: type)
    var values: CFDictionary = [kUTTypeIdentifierKey: type.identifier]
    let parents = declaration?.conformsTo ?? snapshot.parents(of: type).map(\.identifier)
    if !parents.isEmpty { values[kUTTypeConformsToKey] = parents }
    let tags = snapshot.tags(of: type)
    if !tags.isEmpty {
        let named = tags.map { ($0.key.rawValue, $0.value) }
        values[kUTTypeTagSpecificationKey] = Dictionary(uniqueKeysWithValues: named)
    }
    if let declaration {
        values[kUTTypeDescriptionKey] = declaration.localizedDescription
        values[kUTTypeVersionKey] = declaration.version
        values[kUTTypeReferenceURLKey] = declaration.referenceURL
    } else if case .core(let core) = type.storage {
        values[kUTTypeDescriptionKey] = CoreTable.shared.localizedDescription(core)
    }
    return UTCopiedValue(value: values)
}

/// The folder of the bundle whose declaration of a type is in force. `nil` for a type that nobody declares and for one of the
/// system's table, which is in no bundle.
public func UTTypeCopyDeclaringBundleURL(_ identifier: CFString) -> UTCopiedValue<CFURL>? {
    let snapshot = UTTypeRegistry.currentSnapshot
    return snapshot.type(identifier).flatMap(snapshot.declaringDirectory).map {
        UTCopiedValue(value: URL(filePath: $0, directoryHint: .isDirectory))
    }
}

/// Whether two identifiers are equal without case.
public func UTTypeEqual(_ one: CFString, _ other: CFString) -> Bool {
    TypeIdentifier.lowercased(one) == TypeIdentifier.lowercased(other)
}

/// Whether a type is another one or stands below it.
public func UTTypeConformsTo(_ identifier: CFString, _ other: CFString) -> Bool {
    legacyType(identifier).conforms(to: legacyType(other))
}

/// Whether a declaration is registered.
public func UTTypeIsDeclared(_ identifier: CFString) -> Bool { UTType(identifier)?.isDeclared ?? false }

/// Whether the identifier is a well-formed dynamic one.
public func UTTypeIsDynamic(_ identifier: CFString) -> Bool { UTType(identifier)?.isDynamic ?? false }

/// A four-character code as text, with the NULs at its end; characters that are not printable ASCII make it empty.
public func UTCreateStringForOSType(_ code: UInt32) -> UTCopiedValue<CFString> {
    let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) }
    let end = bytes.lastIndex { $0 != 0 } ?? 0
    let isText = bytes[...end].allSatisfy { (0x20..<0x7F).contains($0) }
    return UTCopiedValue(value: isText ? String(decoding: bytes, as: UTF8.self) : "")
}

/// A text as four-character code, filled up with zeros; 0 when it is longer than four bytes.
public func UTGetOSTypeFromString(_ text: CFString) -> UInt32 {
    let bytes = Array(text.utf8)
    guard bytes.count <= 4 else { return 0 }
    return (bytes + [0, 0, 0, 0]).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
}

private func legacyType(_ identifier: String) -> UTType { UTTypeRegistry.currentSnapshot.typeOrName(identifier) }

private func legacyTypes(_ tagClass: String, _ tag: String, _ parent: String?) -> [UTType] {
    let snapshot = UTTypeRegistry.currentSnapshot
    let tagClass = UTTagClass(rawValue: tagClass)
    let parent = parent.map { snapshot.typeOrName($0) }
    if tag.isEmpty {
        return DynamicTypeIdentifier(parent: parent?.identifier, tags: [.init(tagClass: tagClass, value: "")])
            .flatMap { snapshot.type($0.identifier) }.map { [$0] } ?? []
    }
    return snapshot.types(tag: tag, tagClass: tagClass, conformingTo: parent)
}
