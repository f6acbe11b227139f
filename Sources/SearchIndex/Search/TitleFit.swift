// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import TextAnalysis

/// How the titles of an item compare with what was typed.
struct TitleFit {
    /// What was typed, folded.
    let typed: String

    init(_ text: String) { typed = TextFolding.folded(text, case: true, diacritics: true) }

    /// Attributes that hold titles.
    static let attributes = ["title", "displayName"]

    /// Whole title, start of the title, or neither.
    func kind(of record: ItemRecord) -> SearchHit.Kind? {
        var best: SearchHit.Kind?
        for name in Self.attributes {
            for title in record.texts(name) {
                // Only as much is folded as can matter, and some for what folding makes shorter.
                let folded = Self.folded(title, length: typed.unicodeScalars.count * 4 + 16)
                if folded == typed { return .wholeTitle }
                if folded.utf8.starts(with: typed.utf8) { best = .titleStart }
            }
        }
        return best
    }

    /// How much of a title the typed text is, from 0, for a title that does not contain it, to 1.
    func cover(of title: String) -> Double {
        let folded = Self.folded(title, length: Self.maximumLength)
        guard folded.contains(typed) else { return 0 }
        return Double(typed.unicodeScalars.count) / Double(folded.unicodeScalars.count)
    }

    /// Of a longer title the beginning counts.
    private static let maximumLength = 256

    private static func folded(_ title: String, length: Int) -> String {
        TextFolding.folded(String(title.unicodeScalars.prefix(length)), case: true, diacritics: true)
    }
}
