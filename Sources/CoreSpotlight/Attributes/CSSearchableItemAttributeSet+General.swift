// SPDX-License-Identifier: Apache-2.0

import Foundation

// The identity, presentation and ranking of an item.
extension CSSearchableItemAttributeSet {
    /// The display name.
    public var displayName: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Other names that are displayed or by which the item can be found.
    public var alternateNames: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The path of the item's file.
    public var path: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The URL of the file with the item's content. Items and files with the same URL are one
    /// result.
    public var contentURL: URL? {
        get { value() }
        set { store(newValue) }
    }

    /// The URL of a local thumbnail file. A web address is never fetched.
    public var thumbnailURL: URL? {
        get { value() }
        set { store(newValue) }
    }

    /// The thumbnail as encoded image data.
    public var thumbnailData: Data? {
        get { value() }
        set { store(newValue) }
    }

    /// The URL of a local thumbnail file for dark backgrounds.
    public var darkThumbnailURL: URL? {
        get { value() }
        set { store(newValue) }
    }

    /// The identifier of the item that this item belongs to. This item is removed together with
    /// that item.
    ///
    /// - Note: Differs on Linux: the attribute ties any item, not only an activity, to the item
    ///   that it names.
    public var relatedUniqueIdentifier: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The identifier of a related item. Removing that item does not remove this one.
    public var weakRelatedUniqueIdentifier: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The date when an attribute was last changed.
    public var metadataModificationDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The uniform type identifier of the content. Other text is stored unchanged.
    public var contentType: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The content type and its supertypes, if the app provides them itself.
    public var contentTypeTree: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// Keywords by which the item can be found.
    public var keywords: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The title, shown as the first line of a result.
    public var title: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The version of the item.
    public var version: String? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether the user created the item (1) or not (0).
    public var userCreated: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether the user bought or acquired the item (1) or not (0).
    public var userOwned: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether the user selected or saved the item (1) or not (0).
    public var userCurated: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The importance of the item among the app's items, from 0 to 100. Higher values are more
    /// important.
    public var rankingHint: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The domain, for entries that are not donated as a `CSSearchableItem`.
    public var domainIdentifier: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The system's summary of the text; `nil` until there is a summary.
    ///
    /// - Note: Unused on Linux: nothing writes summaries, so it stays `nil`.
    public var textContentSummary: String? { value() }

    /// The transcribed speech of an audio item.
    public var transcribedTextContent: String? {
        get { value() }
        set { store(newValue) }
    }
}
