// SPDX-License-Identifier: Apache-2.0
import TextAnalysis

/// What is known about names of attributes.
public enum AttributeNames {
    /// The name under which an attribute is stored: public `kMDItem…` names and the spellings of Objective-C become the
    /// property's name; every other name, also an unknown `kMDItem…`, stays as it is.
    public static func propertyName(for name: String) -> String {
        metadataKeys[name] ?? objectiveCNames[name] ?? name
    }

    /// The names of all properties of an attribute set, and of what has a public `kMDItem…` name.
    public static var standard: Set<String> { searchableByDefault.union(metadataKeys.values).union(otherProperties) }

    /// The names among which one that has no meaning may have been meant: `kMDItem…` names for one that begins so, none for one
    /// with dots, which is an app's own, and ``standard`` for any other.
    public static func standard(for name: String) -> Set<String> {
        guard !name.contains(".") else { return [] }
        return name.hasPrefix("kMDItem") ? Set(metadataKeys.keys) : standard
    }

    /// Whether `name` can stand in a query: 1 to 256 characters, each a letter, digit or mark of any script or one of
    /// `_ . - :`.
    public static func isValid(_ name: String) -> Bool {
        let scalars = name.unicodeScalars
        return !scalars.isEmpty && scalars.count <= maximumLength && scalars.allSatisfy(isNameScalar)
    }

    /// The longest name of an attribute, in Unicode scalars.
    public static let maximumLength = 256

    static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", ".", "-", ":": true
        default: !scalar.isASCII && CharacterKind(scalar) != .separator
        }
    }

    /// The attributes that `**` and `*` look at, unless the caller says otherwise: those whose text a person would read
    /// or type. Identifiers, paths, types and technical texts are left out.
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
