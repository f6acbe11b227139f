// SPDX-License-Identifier: Apache-2.0

import Foundation

// Films, recordings and facts about any file.
extension CSSearchableItemAttributeSet {
    /// Who edited the item.
    public var editors: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// Who can be seen or heard in the item, or takes part in it.
    public var participants: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The projects that the item belongs to.
    public var projects: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// When the item was last downloaded.
    public var downloadedDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// Where the item came from: addresses or senders.
    public var contentSources: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// A comment on the item.
    public var comment: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Who holds the copyright.
    public var copyright: String? {
        get { value() }
        set { store(newValue) }
    }

    /// When the item was last used.
    public var lastUsedDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// When the content was made.
    public var contentCreationDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// When the content last changed.
    public var contentModificationDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// When the item came to where it is now.
    public var addedDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// How long it plays, in seconds.
    public var duration: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// People associated with the item, other than its authors.
    public var contactKeywords: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// How the content is encoded.
    public var codecs: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The kinds of media in the item.
    public var mediaTypes: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if the content can be streamed.
    public var streamable: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// Bits of sound and picture in a second.
    public var totalBitRate: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// Bits of picture in a second.
    public var videoBitRate: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// Bits of sound in a second.
    public var audioBitRate: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// 0 for a fast start, 1 for RTSP.
    public var deliveryType: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The organisations that made the content.
    public var organizations: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// What its creator did for the content.
    public var role: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The languages of the content, as BCP 47 tags.
    public var languages: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The rights in the content, or a link to them.
    public var rights: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Who published the content.
    public var publishers: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// Who contributed to the content.
    public var contributors: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The extent of the content in space and time.
    public var coverage: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The rating, 0 to 5 stars.
    public var rating: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// How the rating came about, such as the number of reviews.
    public var ratingDescription: String? {
        get { value() }
        set { store(newValue) }
    }

    /// How often the item was played.
    public var playCount: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// Information about the item.
    public var information: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Who directed the film.
    public var director: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Who produced the content.
    public var producer: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The genre.
    public var genre: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Who performs.
    public var performers: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The format in which the content was first made.
    public var originalFormat: String? {
        get { value() }
        set { store(newValue) }
    }

    /// Where the content was first published.
    public var originalSource: String? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if the content is on this machine.
    public var local: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// 1 if the content is explicit, 0 if it is clean.
    public var contentRating: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The address of the item.
    public var url: URL? {
        get { value() }
        set { store(newValue) }
    }
}
