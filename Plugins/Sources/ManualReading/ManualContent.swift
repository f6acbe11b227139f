// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The contents of a manual.
package struct ManualContent: Sendable {
    /// The maximum length of the text, in UTF-8 bytes: an item may have 16 MiB with all its
    /// attributes.
    package static let maximumText = 8 << 20

    package var title: String?
    /// The names that the page describes, such as `gunzip` and `zcat`.
    package var names: [String] = []
    package var summary: String?
    /// The title of the section, such as "User Commands".
    package var volume: String?
    package var blocks: [ManualBlock] = []
    /// `true` if the page is an alias of another page, whose text this content contains.
    package var isAlias = false
    package var reading = TextReading.utf8
    /// The number of text bytes that are known to be missing.
    package var missing = 0
    package var problem: ManualProblem?

    package init() {}

    /// The text, with the lines of each block. U+000C ends each Info section except the last.
    package var text: String {
        var text: [UInt8] = []
        for (index, block) in blocks.enumerated() {
            if index > 0 { text += block.kind == .section ? [0x0A, 0x0C] : [0x0A] }
            text += block.text.utf8
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The number of Info sections.
    package var sections: Int { blocks.reduce(0) { $0 + ($1.kind == .section ? 1 : 0) } }
}

/// A heading or paragraph.
package struct ManualBlock: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The name of an Info section.
        case section
        case heading, subheading, paragraph
        /// A term, which ends at the first line break, and its description.
        case item
        case preformatted
    }

    package var kind: Kind
    package var text: String
    /// The text as HTML with fonts and the original line breaks; empty if it was not requested.
    package var html: String

    package init(_ kind: Kind, _ text: String, html: String = "") {
        (self.kind, self.text, self.html) = (kind, text, html)
    }
}

/// The reason why a manual's text is not indexed, or only in part.
package enum ManualProblem: Error, Sendable, Equatable, CaseIterable {
    case damaged, tooLarge, notText, missingPage, endedWorker

    /// The reason in a few words, without names.
    package var kind: String {
        switch self {
        case .damaged: "damaged compressed file"
        case .tooLarge: "expands to more than 16 MiB, or its macros to too much"
        case .notText: "not text"
        case .missingPage: "names another page, which is missing"
        case .endedWorker: "the reader of manuals crashed on it"
        }
    }
}
