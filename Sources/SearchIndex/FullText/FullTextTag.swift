// SPDX-License-Identifier: Apache-2.0

/// Whose an item is, as a word of one scalar: so that FTS5 restricts a search by intersecting lists instead of looking at
/// items.
///
/// The scalars are of a plane for private use, one of 65,534 for each bundle. Two bundles may share one, so a tag finds
/// all that are meant, and perhaps others.
struct FullTextTag {
    let bundle: Int64

    private static let count: UInt64 = 0xFFFE
    private static let first: UInt32 = 0xF0000

    var scalar: Unicode.Scalar {
        Unicode.Scalar(Self.first + UInt32(UInt64(bitPattern: bundle) % Self.count)) ?? "\u{F0000}"
    }

    static func isTag(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= first }

    /// The text that FTS5 is given for it, in documents and in queries.
    var text: String { Self.word(of: scalar) }

    /// The word that a scalar of tags is in tables of ranked words.
    static func word(of scalar: Unicode.Scalar) -> String {
        String(String.UnicodeScalarView([Unicode.Scalar(FullTextTokenizer.tagMark), scalar]))
    }

    /// The expression that restricts matches to those with the tag.
    var expression: String { "tags : \"\(text)\"" }
}
