// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The text and the properties of a saved web page.
package struct WebPageContent: Sendable, Equatable {
    /// A picture that is embedded in the file, as PNG, JPEG, GIF or WebP.
    package struct Picture: Sendable, Equatable {
        package var bytes: [UInt8]
        /// The uniform type identifier.
        package var contentType: String

        /// Returns nil for other formats, which the first bytes show.
        package init?(_ bytes: [UInt8]) {
            let formats: [(start: [UInt8], type: String)] = [
                ([0x89, 0x50, 0x4E, 0x47], "public.png"), ([0xFF, 0xD8, 0xFF], "public.jpeg"),
                (Array("GIF8".utf8), "com.compuserve.gif"),
            ]
            let isWebP = bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
            guard
                let type = isWebP
                    ? "org.webmproject.webp" : formats.first(where: { bytes.starts(with: $0.start) })?.type
            else { return nil }
            self.bytes = bytes
            contentType = type
        }
    }

    /// A place, or the location of an event.
    package struct Place: Sendable, Equatable {
        package var name: String?
        package var address: String?
        package var city: String?
        package var country: String?
        package var latitude: Double?
        package var longitude: Double?

        package init() {}
    }

    /// The maximum length of the text, in UTF-8 bytes: an item may have 16 MiB with all its
    /// attributes.
    package static let maximumText = 15 << 20
    /// The maximum size of an item's thumbnail, in bytes.
    package static let maximumThumbnail = 192 << 10

    package var title: String?
    package var text = ""
    package var description: String?
    package var authors: [String] = []
    package var publishers: [String] = []
    package var keywords: [String] = []
    /// The name of the web site.
    package var site: String?
    package var language: String?
    package var published: Date?
    package var modified: Date?
    /// When the user saved the page; `nil` if the file does not state it.
    package var kept: Date?
    /// The dates of an event.
    package var starts: Date?
    package var ends: Date?
    /// The duration in seconds.
    package var duration: Double?
    /// The number of stars, 0 to 5.
    package var rating: Double?
    /// The kind of thing that the page is about, as a schema.org name such as `Recipe`.
    package var type: String?
    /// The price, including the currency.
    package var price: String?
    package var phoneNumbers: [String] = []
    package var place = Place()
    /// The URL of the page on the web.
    package var address: URL?
    /// The URLs of the page in apps (App Links), at most 20.
    package var appLinks: [URL] = []
    package var picture: Picture?
    package var reading = TextReading.utf8
    /// The number of text bytes that are known to be missing.
    package var missing = 0
    package var problem: WebPageProblem?

    package init() {}
}

/// The reason why a page's text is not indexed, or only in part.
package enum WebPageProblem: Error, Sendable, Equatable, CaseIterable {
    /// An MHTML file that contains no page.
    case damaged
    case tooDeep, tooLarge, notText, endedWorker

    /// The reason in a few words, without names.
    package var kind: String {
        switch self {
        case .damaged: "damaged, or without a page"
        case .tooDeep: "its elements nest too deeply"
        case .tooLarge: "has too many parts"
        case .notText: "not text"
        case .endedWorker: "the reader of web pages crashed on it"
        }
    }
}
