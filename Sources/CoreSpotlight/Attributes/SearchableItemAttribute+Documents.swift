// SPDX-License-Identifier: Apache-2.0

extension SearchableItemAttribute {
    /// ``CSSearchableItemAttributeSet/audiences``
    public static let audiences = SearchableItemAttribute(rawValue: "audiences")
    /// ``CSSearchableItemAttributeSet/contentDescription``
    public static let contentDescription = SearchableItemAttribute(rawValue: "contentDescription")
    /// ``CSSearchableItemAttributeSet/creator``
    public static let creator = SearchableItemAttribute(rawValue: "creator")
    /// ``CSSearchableItemAttributeSet/encodingApplications``
    public static let encodingApplications = SearchableItemAttribute(rawValue: "encodingApplications")
    /// ``CSSearchableItemAttributeSet/fileSize``
    public static let fileSize = SearchableItemAttribute(rawValue: "fileSize")
    /// ``CSSearchableItemAttributeSet/fontNames``
    public static let fontNames = SearchableItemAttribute(rawValue: "fontNames")
    /// ``CSSearchableItemAttributeSet/identifier``
    public static let identifier = SearchableItemAttribute(rawValue: "identifier")
    /// ``CSSearchableItemAttributeSet/kind``
    public static let kind = SearchableItemAttribute(rawValue: "kind")
    /// ``CSSearchableItemAttributeSet/pageCount``
    public static let pageCount = SearchableItemAttribute(rawValue: "pageCount")
    /// ``CSSearchableItemAttributeSet/pageHeight``
    public static let pageHeight = SearchableItemAttribute(rawValue: "pageHeight")
    /// ``CSSearchableItemAttributeSet/pageWidth``
    public static let pageWidth = SearchableItemAttribute(rawValue: "pageWidth")
    /// ``CSSearchableItemAttributeSet/securityMethod``
    public static let securityMethod = SearchableItemAttribute(rawValue: "securityMethod")
    /// ``CSSearchableItemAttributeSet/subject``
    public static let subject = SearchableItemAttribute(rawValue: "subject")
    /// ``CSSearchableItemAttributeSet/theme``
    public static let theme = SearchableItemAttribute(rawValue: "theme")
}
