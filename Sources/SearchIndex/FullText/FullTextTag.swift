// SPDX-License-Identifier: Apache-2.0

/// The bundle of an item, encoded as a one-scalar word, so that FTS5 restricts a search by
/// intersecting lists instead of reading items.
///
/// The scalars belong to a private use plane with 65,534 values. Two bundles may share a scalar, so
/// a tag finds all items of its bundle and possibly items of another bundle.
struct FullTextTag {
    let bundle: Int64

    private static let count: UInt64 = 0xFFFE
    private static let first: UInt32 = 0xF0000

    var scalar: Unicode.Scalar {
        Unicode.Scalar(Self.first + UInt32(UInt64(bitPattern: bundle) % Self.count)) ?? "\u{F0000}"
    }

    static func isTag(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= first }

    /// The text of the tag in FTS5, in documents and in queries.
    var text: String { Self.word(of: scalar) }

    /// Returns the word that represents a tag scalar in tables of ranked words.
    static func word(of scalar: Unicode.Scalar) -> String {
        String(String.UnicodeScalarView([Unicode.Scalar(FullTextTokenizer.tagMark), scalar]))
    }

    /// The expression that restricts matches to texts with the tag.
    var expression: String { "tags : \"\(text)\"" }
}
