// SPDX-License-Identifier: Apache-2.0

import Foundation

// What an item is, how it is shown and how it is ranked.
extension CSSearchableItemAttributeSet {
    /// The name to show to people.
    public var displayName: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Other names to show or to find the item by.
    public var alternateNames: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The full path of the item's file.
    public var path: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The file that holds the item's content; items and files with the same URL are one result.
    public var contentURL: URL? {
        get { value() }
        set { store(newValue) }
    }

    /// A local file with the thumbnail; a web address is never fetched.
    public var thumbnailURL: URL? {
        get { value() }
        set { store(newValue) }
    }

    /// The thumbnail as encoded image bytes.
    public var thumbnailData: Data? {
        get { value() }
        set { store(newValue) }
    }

    /// A local file with the thumbnail for dark backgrounds.
    public var darkThumbnailURL: URL? {
        get { value() }
        set { store(newValue) }
    }

    /// The identifier of the item that this entry belongs to and lives as long as.
    ///
    /// - Note: Differs on Linux: it ties every item, not activities alone, to the life of the item that it names.
    public var relatedUniqueIdentifier: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The identifier of a related item whose removal does not remove this entry.
    public var weakRelatedUniqueIdentifier: String? {
        get { value() }
        set { store(newValue) }
    }

    /// When any attribute last changed.
    public var metadataModificationDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The uniform type identifier of the content; any text is kept as it is.
    public var contentType: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The content type and its ancestors, if the donor wants to state them itself.
    public var contentTypeTree: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// Words to find the item by.
    public var keywords: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The title, the first line of a result.
    public var title: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The version of the item.
    public var version: String? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if the person made the item.
    public var userCreated: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if the person bought or acquired the item.
    public var userOwned: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if the person chose or saved the item.
    public var userCurated: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// How much the item matters among the items of the same app: 0 to 100, larger is better.
    public var rankingHint: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The domain, for entries that are not donated as a `CSSearchableItem`.
    public var domainIdentifier: String? {
        get { value() }
        set { store(newValue) }
    }

    /// A summary of the text, written by the system; `nil` until there is one.
    ///
    /// - Note: Unused on Linux: nothing writes summaries, so it stays `nil`.
    public var textContentSummary: String? { value() }

    /// What is said in an audio item.
    public var transcribedTextContent: String? {
        get { value() }
        set { store(newValue) }
    }
}
