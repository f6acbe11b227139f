// SPDX-License-Identifier: Apache-2.0

import Foundation

// Functions on identifiers from before `UTType`, as a thin layer on top of it. An undeclared
// identifier is accepted, and conforms to itself.

/// A string. Linux has no Core Foundation strings, and source code that casts to `CFString` needs a
/// string.
public typealias CFString = String
/// A dictionary. Linux has no Core Foundation dictionaries.
public typealias CFDictionary = [String: any Sendable]
/// A URL. Linux has no Core Foundation URLs.
public typealias CFURL = URL

/// The result of a function that, on Apple's systems, returns a retained reference. Both methods
/// return the value.
public struct UTCopiedValue<Value: Sendable>: Sendable {
    let value: Value

    /// Returns the value.
    public func takeRetainedValue() -> Value { value }
    /// Returns the value.
    public func takeUnretainedValue() -> Value { value }
}

/// The tag class of filename extensions.
public let kUTTagClassFilenameExtension: CFString = "public.filename-extension"
/// The tag class of MIME types.
public let kUTTagClassMIMEType: CFString = "public.mime-type"
/// The tag class of old pasteboard names.
public let kUTTagClassNSPboardType: CFString = "com.apple.nspboard-type"
/// The tag class of four-character codes.
public let kUTTagClassOSType: CFString = "com.apple.ostype"

/// The `Info.plist` key of the types that the bundle exports.
public let kUTExportedTypeDeclarationsKey: CFString = "UTExportedTypeDeclarations"
/// The `Info.plist` key of the types that the bundle imports from other owners.
public let kUTImportedTypeDeclarationsKey: CFString = "UTImportedTypeDeclarations"
/// The declaration key for the identifier.
public let kUTTypeIdentifierKey: CFString = "UTTypeIdentifier"
/// The declaration key for the tags by class.
public let kUTTypeTagSpecificationKey: CFString = "UTTypeTagSpecification"
/// The declaration key for the identifiers of the parents.
public let kUTTypeConformsToKey: CFString = "UTTypeConformsTo"
/// The declaration key for the description.
public let kUTTypeDescriptionKey: CFString = "UTTypeDescription"
/// The declaration key for the file name of the icon.
public let kUTTypeIconFileKey: CFString = "UTTypeIconFile"
/// The declaration key for the URL of the format's documentation.
public let kUTTypeReferenceURLKey: CFString = "UTTypeReferenceURL"
/// The declaration key for the version.
public let kUTTypeVersionKey: CFString = "UTTypeVersion"

/// Returns the best identifier for a tag. Unlike with `UTType`, an empty tag has a dynamic type in
/// every class.
public func UTTypeCreatePreferredIdentifierForTag(
    _ tagClass: CFString, _ tag: CFString, _ conformingTo: CFString?
) -> UTCopiedValue<CFString>? {
    legacyTypes(tagClass, tag, conformingTo).first.map { UTCopiedValue(value: $0.identifier) }
}

/// Returns all identifiers for a tag, best first; `nil` for an invalid tag.
public func UTTypeCreateAllIdentifiersForTag(
    _ tagClass: CFString, _ tag: CFString, _ conformingTo: CFString?
) -> UTCopiedValue<[CFString]>? {
    let types = legacyTypes(tagClass, tag, conformingTo)
    return types.isEmpty ? nil : UTCopiedValue(value: types.map(\.identifier))
}

/// Returns a type's preferred tag in a class.
public func UTTypeCopyPreferredTagWithClass(
    _ identifier: CFString, _ tagClass: CFString
) -> UTCopiedValue<CFString>? {
    legacyType(identifier).tags[UTTagClass(rawValue: tagClass)]?.first.map { UTCopiedValue(value: $0) }
}

/// Returns all of a type's tags in a class; `nil` if it has none.
public func UTTypeCopyAllTagsWithClass(
    _ identifier: CFString, _ tagClass: CFString
) -> UTCopiedValue<[CFString]>? {
    legacyType(identifier).tags[UTTagClass(rawValue: tagClass)].map { UTCopiedValue(value: $0) }
}

/// Returns the localized description of a type.
public func UTTypeCopyDescription(_ identifier: CFString) -> UTCopiedValue<CFString>? {
    legacyType(identifier).localizedDescription.map { UTCopiedValue(value: $0) }
}

/// Returns the declaration of a type with the keys used in an `Info.plist`, such as
/// `kUTTypeIdentifierKey`. Tags are always lists, even if a class has only one tag.
///
/// ```swift
/// let declaration = UTTypeCopyDeclaration(kUTTypePNG)?.takeRetainedValue()
/// let parents = declaration?[kUTTypeConformsToKey] as? [String]
/// ```
///
/// - Returns: `nil` for a type that is not declared, such as a dynamic type.
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

/// Returns the folder of the bundle whose declaration of a type is in force.
///
/// - Returns: `nil` if the type is not declared, if the folder is unknown, or if the type is in the
///   core table, which does not belong to a bundle.
public func UTTypeCopyDeclaringBundleURL(_ identifier: CFString) -> UTCopiedValue<CFURL>? {
    let snapshot = UTTypeRegistry.currentSnapshot
    return snapshot.type(identifier).flatMap(snapshot.declaringDirectory).map {
        UTCopiedValue(value: URL(filePath: $0, directoryHint: .isDirectory))
    }
}

/// Returns `true` if two identifiers are equal, ignoring case.
public func UTTypeEqual(_ one: CFString, _ other: CFString) -> Bool {
    TypeIdentifier.lowercased(one) == TypeIdentifier.lowercased(other)
}

/// Returns `true` if a type equals or conforms to another type.
public func UTTypeConformsTo(_ identifier: CFString, _ other: CFString) -> Bool {
    legacyType(identifier).conforms(to: legacyType(other))
}

/// Returns `true` if the type is declared.
public func UTTypeIsDeclared(_ identifier: CFString) -> Bool { UTType(identifier)?.isDeclared ?? false }

/// Returns `true` if the identifier is a valid dynamic identifier.
public func UTTypeIsDynamic(_ identifier: CFString) -> Bool { UTType(identifier)?.isDynamic ?? false }

/// Converts a four-character code to text, including trailing NUL characters. Returns an empty text
/// if any other character of the code is not printable ASCII.
public func UTCreateStringForOSType(_ code: UInt32) -> UTCopiedValue<CFString> {
    let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) }
    let end = bytes.lastIndex { $0 != 0 } ?? 0
    let isText = bytes[...end].allSatisfy { (0x20..<0x7F).contains($0) }
    return UTCopiedValue(value: isText ? String(decoding: bytes, as: UTF8.self) : "")
}

/// Converts text to a four-character code, padded with zeros; 0 if it is longer than four bytes.
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
