// SPDX-License-Identifier: Apache-2.0
import TextAnalysis

/// The names of attributes and their properties.
public enum AttributeNames {
    /// Returns the name under which an attribute is stored. Public `kMDItem…` names and Objective-C
    /// spellings are mapped to the property's name. All other names, including unknown `kMDItem…`
    /// names, are unchanged.
    public static func propertyName(for name: String) -> String {
        metadataKeys[name] ?? objectiveCNames[name] ?? name
    }

    /// The names of all properties of an attribute set.
    public static var standard: Set<String> { Set(kinds.keys) }

    /// Returns the kind of an attribute's value; `nil` for a custom attribute of an app.
    ///
    /// - Parameter name: The name of the property.
    public static func kind(of name: String) -> AttributeValueKind? { kinds[name] }

    /// Returns the candidates for correcting an unknown name: `kMDItem…` names for a name with that
    /// prefix, otherwise ``standard``. Empty for a name with dots, which belongs to an app.
    public static func standard(for name: String) -> Set<String> {
        guard !name.contains(".") else { return [] }
        return name.hasPrefix("kMDItem") ? Set(metadataKeys.keys) : standard
    }

    /// Returns `true` if `name` can be used in a query. A name has 1 to 256 characters: letters,
    /// digits or marks of any script, or `_ . - :`.
    public static func isValid(_ name: String) -> Bool {
        let scalars = name.unicodeScalars
        return !scalars.isEmpty && scalars.count <= maximumLength && scalars.allSatisfy(isNameScalar)
    }

    /// The length of the longest attribute name, in Unicode scalars.
    public static let maximumLength = 256

    static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", ".", "-", ":": true
        default: !scalar.isASCII && CharacterKind(scalar) != .separator
        }
    }

    /// The attributes that `**` and `*` cover by default: attributes with text that users read or
    /// type. Excludes identifiers, paths, types and technical texts.
    public static let searchableByDefault: Set<String> = [
        "album", "alternateNames", "artist", "audiences", "authorAddresses", "authorEmailAddresses", "authorNames",
        "authors", "additionalRecipients", "city", "comment", "composer", "contactKeywords", "containerDisplayName",
        "containerTitle", "contentDescription", "contributors", "copyright", "country", "coverage", "creator",
        "director", "displayName", "editors", "emailAddresses", "fullyFormattedAddress", "genre", "headline",
        "hiddenAdditionalRecipients", "information", "instantMessageAddresses", "instructions", "keywords", "kind",
        "lyricist", "musicalGenre", "musicalInstrumentName", "namedLocation", "organizations", "participants",
        "performers", "phoneNumbers", "postalCode", "primaryRecipients", "producer", "projects", "publishers",
        "recipientAddresses", "recipientEmailAddresses", "recipientNames", "stateOrProvince", "subject", "textContent",
        "textContentSummary", "theme", "thoroughfare", "title", "transcribedTextContent",
    ]
}
