// SPDX-License-Identifier: Apache-2.0

extension UTTypeDeclaration {
    /// The keys of an Info.plist.
    private enum Key {
        static let exported = "UTExportedTypeDeclarations"
        static let imported = "UTImportedTypeDeclarations"
        static let identifier = "UTTypeIdentifier"
        static let conformsTo = "UTTypeConformsTo"
        static let tags = "UTTypeTagSpecification"
        static let localizedDescription = "UTTypeDescription"
        static let version = "UTTypeVersion"
        static let referenceURL = "UTTypeReferenceURL"
    }

    /// Reads the declarations of a bundle from its Info.plist.
    ///
    /// - Parameters:
    ///   - infoDictionary: The parsed property list: dictionaries, arrays, strings and numbers.
    ///   - bundle: The identifier of the bundle, for diagnostics.
    /// - Returns: The readable declarations, exported ones first, and diagnostics that explain the
    ///   others. Never fails as a whole.
    public static func declarations(
        in infoDictionary: [String: Any], ofBundle bundle: String
    ) -> (declarations: [UTTypeDeclaration], diagnostics: [UTTypeDiagnostic]) {
        var declarations: [UTTypeDeclaration] = []
        var diagnostics: [UTTypeDiagnostic] = []
        for (key, kind) in [(Key.exported, Kind.exported), (Key.imported, Kind.imported)] {
            guard let value = infoDictionary[key] else { continue }
            guard let list = value as? [Any] else {
                diagnostics.append(.notAList(key: key, bundle: bundle))
                continue
            }
            if list.count > maximumPerBundle {
                diagnostics.append(.tooMany(key, limit: maximumPerBundle, identifier: bundle))
            }
            for (position, element) in list.prefix(maximumPerBundle).enumerated() {
                guard let dictionary = element as? [String: Any] else {
                    diagnostics.append(.notADictionary(key: key, position: position, bundle: bundle))
                    continue
                }
                guard let identifier = dictionary[Key.identifier] as? String else {
                    diagnostics.append(.missingIdentifier(key: key, position: position, bundle: bundle))
                    continue
                }
                declarations.append(
                    UTTypeDeclaration(
                        identifier: identifier, dictionary: dictionary, kind: kind, diagnostics: &diagnostics))
            }
        }
        return (declarations, diagnostics)
    }

    private init(
        identifier: String, dictionary: [String: Any], kind: Kind, diagnostics: inout [UTTypeDiagnostic]
    ) {
        func unreadable(_ key: String) {
            diagnostics.append(.unreadableValue(key: key, identifier: String(identifier.prefix(200))))
        }
        self.init(identifier: identifier, kind: kind)
        if let value = dictionary[Key.conformsTo] {
            if let list = UTTypeDeclaration.strings(value) { conformsTo = list } else { unreadable(Key.conformsTo) }
        }
        if let value = dictionary[Key.tags] {
            if let classes = value as? [String: Any] {
                for (name, value) in classes where UTTagClass(rawValue: name).key != nil {
                    if let list = UTTypeDeclaration.strings(value) {
                        tags[UTTagClass(rawValue: name)] = list
                    } else {
                        unreadable(name)
                    }
                }
            } else {
                unreadable(Key.tags)
            }
        }
        if let value = dictionary[Key.localizedDescription] {
            localizedDescription = value as? String
            if localizedDescription == nil { unreadable(Key.localizedDescription) }
        }
        if let value = dictionary[Key.referenceURL] {
            referenceURL = value as? String
            if referenceURL == nil { unreadable(Key.referenceURL) }
        }
        if let value = dictionary[Key.version] {
            version = UTTypeDeclaration.integer(value)
            if version == nil { unreadable(Key.version) }
        }
    }

    /// Accepts a string or a list of strings, the two forms used in property lists.
    private static func strings(_ value: Any) -> [String]? {
        if let text = value as? String { return [text] }
        guard let list = value as? [Any] else { return nil }
        let texts = list.compactMap { $0 as? String }
        return texts.count == list.count ? texts : nil
    }

    /// Accepts an integer in any of its property list forms.
    private static func integer(_ value: Any) -> Int? {
        if let number = value as? Int { return number }
        if let number = value as? any BinaryInteger { return Int(exactly: number) }
        if let number = value as? Double { return Int(exactly: number) }
        if let text = value as? String { return Int(text) }
        return nil
    }
}
