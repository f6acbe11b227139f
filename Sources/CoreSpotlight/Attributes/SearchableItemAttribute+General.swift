// SPDX-License-Identifier: Apache-2.0

extension SearchableItemAttribute {
    /// ``CSSearchableItemAttributeSet/alternateNames``
    public static let alternateNames = SearchableItemAttribute(rawValue: "alternateNames")
    /// ``CSSearchableItemAttributeSet/contentType``
    public static let contentType = SearchableItemAttribute(rawValue: "contentType")
    /// ``CSSearchableItemAttributeSet/contentTypeTree``
    public static let contentTypeTree = SearchableItemAttribute(rawValue: "contentTypeTree")
    /// ``CSSearchableItemAttributeSet/contentURL``
    public static let contentURL = SearchableItemAttribute(rawValue: "contentURL")
    /// ``CSSearchableItemAttributeSet/darkThumbnailURL``
    public static let darkThumbnailURL = SearchableItemAttribute(rawValue: "darkThumbnailURL")
    /// ``CSSearchableItemAttributeSet/displayName``
    public static let displayName = SearchableItemAttribute(rawValue: "displayName")
    /// ``CSSearchableItemAttributeSet/keywords``
    public static let keywords = SearchableItemAttribute(rawValue: "keywords")
    /// ``CSSearchableItemAttributeSet/metadataModificationDate``
    public static let metadataModificationDate = SearchableItemAttribute(rawValue: "metadataModificationDate")
    /// ``CSSearchableItemAttributeSet/path``
    public static let path = SearchableItemAttribute(rawValue: "path")
    /// ``CSSearchableItemAttributeSet/rankingHint``
    public static let rankingHint = SearchableItemAttribute(rawValue: "rankingHint")
    /// ``CSSearchableItemAttributeSet/relatedUniqueIdentifier``
    public static let relatedUniqueIdentifier = SearchableItemAttribute(rawValue: "relatedUniqueIdentifier")
    /// ``CSSearchableItemAttributeSet/thumbnailData``
    public static let thumbnailData = SearchableItemAttribute(rawValue: "thumbnailData")
    /// ``CSSearchableItemAttributeSet/thumbnailURL``
    public static let thumbnailURL = SearchableItemAttribute(rawValue: "thumbnailURL")
    /// ``CSSearchableItemAttributeSet/title``
    public static let title = SearchableItemAttribute(rawValue: "title")
    /// ``CSSearchableItemAttributeSet/domainIdentifier``
    public static let domainIdentifier = SearchableItemAttribute(rawValue: "domainIdentifier")
    /// ``CSSearchableItemAttributeSet/weakRelatedUniqueIdentifier``
    public static let weakRelatedUniqueIdentifier = SearchableItemAttribute(rawValue: "weakRelatedUniqueIdentifier")
    /// ``CSSearchableItemAttributeSet/userCreated``
    public static let userCreated = SearchableItemAttribute(rawValue: "userCreated")
    /// ``CSSearchableItemAttributeSet/userCurated``
    public static let userCurated = SearchableItemAttribute(rawValue: "userCurated")
    /// ``CSSearchableItemAttributeSet/userOwned``
    public static let userOwned = SearchableItemAttribute(rawValue: "userOwned")
    /// ``CSSearchableItemAttributeSet/containerDisplayName``
    public static let containerDisplayName = SearchableItemAttribute(rawValue: "containerDisplayName")
    /// ``CSSearchableItemAttributeSet/containerIdentifier``
    public static let containerIdentifier = SearchableItemAttribute(rawValue: "containerIdentifier")
    /// ``CSSearchableItemAttributeSet/containerOrder``
    public static let containerOrder = SearchableItemAttribute(rawValue: "containerOrder")
    /// ``CSSearchableItemAttributeSet/containerTitle``
    public static let containerTitle = SearchableItemAttribute(rawValue: "containerTitle")
    /// ``CSSearchableItemAttributeSet/supportsNavigation``
    public static let supportsNavigation = SearchableItemAttribute(rawValue: "supportsNavigation")
    /// ``CSSearchableItemAttributeSet/supportsPhoneCall``
    public static let supportsPhoneCall = SearchableItemAttribute(rawValue: "supportsPhoneCall")
}
