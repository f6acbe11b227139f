// SPDX-License-Identifier: Apache-2.0

/// The word endings that folding changes, and that Snowball recognizes only with their accents.
///
/// An ending is listed if its folded spelling has no other common reading, or if the other reading
/// has the same stem (French `limite` and `limité`).
enum FoldedEndings {
    /// Replaces the longest listed ending of a folded word with its accented form.
    static func restore(_ word: inout [UInt8], _ language: WordLanguage) {
        guard let endings = table[language] else { return }
        for (folded, accented) in endings where word.count > folded.count && word.suffix(folded.count) == folded[...] {
            word.replaceSubrange((word.count - folded.count)..., with: accented)
            return
        }
    }

    /// The endings of each language, longest first.
    private static let table: [WordLanguage: [(folded: [UInt8], accented: [UInt8])]] = {
        let endings: [WordLanguage: [(String, String)]] = [
            .spanish: [
                ("abamos", "ábamos"), ("iamos", "íamos"), ("logia", "logía"), ("cion", "ción"), ("sion", "sión"),
            ],
            .portuguese: [("coes", "ções"), ("soes", "sões"), ("cao", "ção"), ("sao", "são")],
            .catalan: [("cio", "ció"), ("sio", "sió")],
            .french: [("ites", "ités"), ("ite", "ité"), ("ees", "ées"), ("ee", "ée")],
            .romanian: [
                ("atiilor", "aţiilor"), ("atiile", "aţiile"), ("atiei", "aţiei"), ("atie", "aţie"), ("atii", "aţii"),
                ("atia", "aţia"),
            ],
            // Folding replaces every й with и.
            .russian: [("ии", "ий"), ("ыи", "ый"), ("ои", "ой"), ("еи", "ей")],
        ]
        return endings.mapValues { pairs in pairs.map { (Array($0.0.utf8), Array($0.1.utf8)) } }
    }()
}
