// SPDX-License-Identifier: Apache-2.0

extension SearchableItemAttribute {
    /// ``CSSearchableItemAttributeSet/comment``
    public static let comment = SearchableItemAttribute(rawValue: "comment")
    /// ``CSSearchableItemAttributeSet/contentCreationDate``
    public static let contentCreationDate = SearchableItemAttribute(rawValue: "contentCreationDate")
    /// ``CSSearchableItemAttributeSet/contentModificationDate``
    public static let contentModificationDate = SearchableItemAttribute(rawValue: "contentModificationDate")
    /// ``CSSearchableItemAttributeSet/contentSources``
    public static let contentSources = SearchableItemAttribute(rawValue: "contentSources")
    /// ``CSSearchableItemAttributeSet/copyright``
    public static let copyright = SearchableItemAttribute(rawValue: "copyright")
    /// ``CSSearchableItemAttributeSet/downloadedDate``
    public static let downloadedDate = SearchableItemAttribute(rawValue: "downloadedDate")
    /// ``CSSearchableItemAttributeSet/editors``
    public static let editors = SearchableItemAttribute(rawValue: "editors")
    /// ``CSSearchableItemAttributeSet/lastUsedDate``
    public static let lastUsedDate = SearchableItemAttribute(rawValue: "lastUsedDate")
    /// ``CSSearchableItemAttributeSet/participants``
    public static let participants = SearchableItemAttribute(rawValue: "participants")
    /// ``CSSearchableItemAttributeSet/projects``
    public static let projects = SearchableItemAttribute(rawValue: "projects")
    /// ``CSSearchableItemAttributeSet/addedDate``
    public static let addedDate = SearchableItemAttribute(rawValue: "addedDate")
    /// ``CSSearchableItemAttributeSet/codecs``
    public static let codecs = SearchableItemAttribute(rawValue: "codecs")
    /// ``CSSearchableItemAttributeSet/contactKeywords``
    public static let contactKeywords = SearchableItemAttribute(rawValue: "contactKeywords")
    /// ``CSSearchableItemAttributeSet/deliveryType``
    public static let deliveryType = SearchableItemAttribute(rawValue: "deliveryType")
    /// ``CSSearchableItemAttributeSet/duration``
    public static let duration = SearchableItemAttribute(rawValue: "duration")
    /// ``CSSearchableItemAttributeSet/mediaTypes``
    public static let mediaTypes = SearchableItemAttribute(rawValue: "mediaTypes")
    /// ``CSSearchableItemAttributeSet/organizations``
    public static let organizations = SearchableItemAttribute(rawValue: "organizations")
    /// ``CSSearchableItemAttributeSet/streamable``
    public static let streamable = SearchableItemAttribute(rawValue: "streamable")
    /// ``CSSearchableItemAttributeSet/totalBitRate``
    public static let totalBitRate = SearchableItemAttribute(rawValue: "totalBitRate")
    /// ``CSSearchableItemAttributeSet/audioBitRate``
    public static let audioBitRate = SearchableItemAttribute(rawValue: "audioBitRate")
    /// ``CSSearchableItemAttributeSet/version``
    public static let version = SearchableItemAttribute(rawValue: "version")
    /// ``CSSearchableItemAttributeSet/videoBitRate``
    public static let videoBitRate = SearchableItemAttribute(rawValue: "videoBitRate")
    /// ``CSSearchableItemAttributeSet/contributors``
    public static let contributors = SearchableItemAttribute(rawValue: "contributors")
    /// ``CSSearchableItemAttributeSet/languages``
    public static let languages = SearchableItemAttribute(rawValue: "languages")
    /// ``CSSearchableItemAttributeSet/publishers``
    public static let publishers = SearchableItemAttribute(rawValue: "publishers")
    /// ``CSSearchableItemAttributeSet/rights``
    public static let rights = SearchableItemAttribute(rawValue: "rights")
    /// ``CSSearchableItemAttributeSet/role``
    public static let role = SearchableItemAttribute(rawValue: "role")
    /// ``CSSearchableItemAttributeSet/contentRating``
    public static let contentRating = SearchableItemAttribute(rawValue: "contentRating")
    /// ``CSSearchableItemAttributeSet/coverage``
    public static let coverage = SearchableItemAttribute(rawValue: "coverage")
    /// ``CSSearchableItemAttributeSet/director``
    public static let director = SearchableItemAttribute(rawValue: "director")
    /// ``CSSearchableItemAttributeSet/genre``
    public static let genre = SearchableItemAttribute(rawValue: "genre")
    /// ``CSSearchableItemAttributeSet/information``
    public static let information = SearchableItemAttribute(rawValue: "information")
    /// ``CSSearchableItemAttributeSet/local``
    public static let local = SearchableItemAttribute(rawValue: "local")
    /// ``CSSearchableItemAttributeSet/originalFormat``
    public static let originalFormat = SearchableItemAttribute(rawValue: "originalFormat")
    /// ``CSSearchableItemAttributeSet/originalSource``
    public static let originalSource = SearchableItemAttribute(rawValue: "originalSource")
    /// ``CSSearchableItemAttributeSet/performers``
    public static let performers = SearchableItemAttribute(rawValue: "performers")
    /// ``CSSearchableItemAttributeSet/playCount``
    public static let playCount = SearchableItemAttribute(rawValue: "playCount")
    /// ``CSSearchableItemAttributeSet/producer``
    public static let producer = SearchableItemAttribute(rawValue: "producer")
    /// ``CSSearchableItemAttributeSet/rating``
    public static let rating = SearchableItemAttribute(rawValue: "rating")
    /// ``CSSearchableItemAttributeSet/ratingDescription``
    public static let ratingDescription = SearchableItemAttribute(rawValue: "ratingDescription")
    /// ``CSSearchableItemAttributeSet/url``
    public static let url = SearchableItemAttribute(rawValue: "url")
}
