// SPDX-License-Identifier: Apache-2.0

/// A language with a Snowball stemmer. The raw value is its BCP 47 primary tag.
public enum WordLanguage: String, CaseIterable, Hashable, Sendable {
    /// The languages of libstemmer 2.2, in tag order.
    case arabic = "ar", catalan = "ca", danish = "da", german = "de", greek = "el", english = "en", spanish = "es",
        basque = "eu", finnish = "fi", french = "fr", irish = "ga", hindi = "hi", hungarian = "hu", armenian = "hy",
        indonesian = "id", italian = "it", lithuanian = "lt", nepali = "ne", dutch = "nl", norwegian = "no",
        portuguese = "pt", romanian = "ro", russian = "ru", serbian = "sr", swedish = "sv", tamil = "ta",
        turkish = "tr", yiddish = "yi"

    /// `true` if a stem may begin with another byte than its word, as “ajar” of Indonesian
    /// “mengajar”, and “knjig” of Serbian “књига”. The stemmers of Tamil and Yiddish remove
    /// beginnings too, but all letters of these scripts have the same first byte.
    public var changesBeginnings: Bool {
        switch self {
        case .arabic, .indonesian, .irish, .serbian: true
        default: false
        }
    }

    /// Creates the language for a BCP 47 tag or a POSIX locale (`de`, `de-AT`, `pt_BR.UTF-8`,
    /// `nb`); `nil` if it has no stemmer.
    ///
    /// ```swift
    /// WordLanguage(tag: "nn-NO")  // .norwegian
    /// WordLanguage(tag: "ja")     // nil
    /// ```
    public init?(tag: String) {
        let primary = tag.utf8.prefix(9).prefix { byte in
            (0x61...0x7A).contains(byte | 0x20)
        }
        // A longer word such as “english” or “C.UTF-8” is not a tag.
        guard (2...3).contains(primary.count) else { return nil }
        let name = String(decoding: primary.map { $0 | 0x20 }, as: UTF8.self)
        guard let language = WordLanguage(rawValue: name) ?? Self.otherTags[name] else { return nil }
        self = language
    }

    /// The ISO 639-2 codes, and the tags of languages that share another language's stemmer.
    private static let otherTags: [String: WordLanguage] = [
        "ara": .arabic, "cat": .catalan, "dan": .danish, "deu": .german, "ger": .german, "ell": .greek, "gre": .greek,
        "eng": .english, "spa": .spanish, "eus": .basque, "baq": .basque, "fin": .finnish, "fra": .french,
        "fre": .french, "gle": .irish, "hin": .hindi, "hun": .hungarian, "hye": .armenian, "arm": .armenian,
        "ind": .indonesian, "in": .indonesian, "ita": .italian, "lit": .lithuanian, "nep": .nepali, "nld": .dutch,
        "dut": .dutch, "nor": .norwegian, "nb": .norwegian, "nob": .norwegian, "nn": .norwegian, "nno": .norwegian,
        "por": .portuguese, "ron": .romanian, "rum": .romanian, "mo": .romanian, "rus": .russian, "srp": .serbian,
        "swe": .swedish, "tam": .tamil, "tur": .turkish, "yid": .yiddish, "ji": .yiddish, "gsw": .german,
        "nds": .german,
    ]
}
