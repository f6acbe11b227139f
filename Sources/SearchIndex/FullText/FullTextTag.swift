// SPDX-License-Identifier: Apache-2.0

/// What an item is besides its words, as words of one scalar each: so that FTS5 restricts a search by intersecting lists
/// instead of looking at items.
///
/// The scalars are of the two planes for private use, each tag one of 65,534. Different bundles or types may share one,
/// so a tag finds all that are meant, and perhaps others.
enum FullTextTag {
    case bundle(Int64)
    case contentType(String)

    private static let count: UInt64 = 0xFFFE
    private static let firstOfBundles: UInt32 = 0xF0000
    private static let firstOfTypes: UInt32 = 0x100000

    var scalar: Unicode.Scalar {
        switch self {
        case .bundle(let number): Self.scalar(Self.firstOfBundles, UInt64(bitPattern: number))
        case .contentType(let identifier):
            // FNV-1a: a file holds these, so the hash must be the same in every process.
            Self.scalar(
                Self.firstOfTypes,
                identifier.lowercased().utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
        }
    }

    private static func scalar(_ first: UInt32, _ number: UInt64) -> Unicode.Scalar {
        Unicode.Scalar(first + UInt32(number % count)) ?? "\u{F0000}"
    }

    /// Whether a scalar may be a tag.
    static func isTag(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= firstOfBundles }

    /// The text that FTS5 is given for tags, in documents and in queries.
    static func text(_ tags: [FullTextTag]) -> String {
        var view = String.UnicodeScalarView([Unicode.Scalar(FullTextTokenizer.tagMark)])
        view.append(contentsOf: tags.map(\.scalar))
        return String(view)
    }
}
