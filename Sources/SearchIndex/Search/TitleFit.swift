// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import ServiceProtocol

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
                let start = String(title.unicodeScalars.prefix(typed.unicodeScalars.count * 4 + 16))
                let folded = TextFolding.folded(start, case: true, diacritics: true)
                if folded == typed { return .wholeTitle }
                if folded.utf8.starts(with: typed.utf8) { best = .titleStart }
            }
        }
        return best
    }
}
