// SPDX-License-Identifier: Apache-2.0

import Foundation

// Movies, recordings and properties of all files.
extension CSSearchableItemAttributeSet {
    /// The editors of the item.
    public var editors: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The people who are visible or audible in the item, or who take part in it.
    public var participants: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The projects that the item belongs to.
    public var projects: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The date of the last download.
    public var downloadedDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The addresses or senders that the item came from.
    public var contentSources: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// A comment on the item.
    public var comment: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The copyright owner.
    public var copyright: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The date of the last use.
    public var lastUsedDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The creation date of the content.
    public var contentCreationDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The date when the content was last changed.
    public var contentModificationDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The date on which the item was moved to its current location.
    public var addedDate: Date? {
        get { value() }
        set { store(newValue) }
    }

    /// The duration in seconds.
    public var duration: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The people associated with the item, except its authors.
    public var contactKeywords: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The codecs of the content.
    public var codecs: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The kinds of media in the item.
    public var mediaTypes: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether the content can be streamed (1) or not (0).
    public var streamable: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The total bit rate, audio and video, in bits per second.
    public var totalBitRate: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The video bit rate in bits per second.
    public var videoBitRate: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The audio bit rate in bits per second.
    public var audioBitRate: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The delivery type: 0 for fast start, 1 for RTSP.
    public var deliveryType: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The organizations that created the content.
    public var organizations: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The role of the creator.
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

    /// The publishers of the content.
    public var publishers: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The contributors to the content.
    public var contributors: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The extent of the content in space and time.
    public var coverage: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The rating from 0 to 5 stars.
    public var rating: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// A description of the rating, such as the number of reviews.
    public var ratingDescription: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The number of times the item was played.
    public var playCount: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// Information about the item.
    public var information: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The director of the movie.
    public var director: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The producer of the content.
    public var producer: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The genre.
    public var genre: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The performers.
    public var performers: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The original format of the content.
    public var originalFormat: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The original publication of the content.
    public var originalSource: String? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether the content is on this machine (1) or not (0).
    public var local: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// A number that indicates whether the content is explicit (1) or clean (0).
    public var contentRating: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The URL of the item.
    public var url: URL? {
        get { value() }
        set { store(newValue) }
    }
}
