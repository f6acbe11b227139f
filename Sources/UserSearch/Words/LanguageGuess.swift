// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// Guesses the language of a text from its function words, because most items do not declare
/// theirs.
///
/// Deterministic. Reads the first ``maximumBytes`` bytes, and stops once the lead is clear. Returns
/// `nil` if there is little evidence: the language needs at least ``leastEvidence`` function words,
/// which must make up a tenth of the words read, and a score a quarter above the next language's
/// score. A word has less weight if it is common to more languages.
///
/// ```swift
/// LanguageGuess.language(of: "Die Rechnung ist für das neue Büro und nicht für uns")  // .german
/// LanguageGuess.language(of: "IMG_2041.jpg")                                          // nil
/// ```
public enum LanguageGuess {
    /// The number of UTF-8 bytes that are read at most.
    public static let maximumBytes = 2_000
    /// The smallest number of function words that identifies a language.
    static let leastEvidence = 3
    /// The number of function words at which reading stops, if the score is twice the next
    /// language's score.
    private static let clearEvidence = 16

    /// Returns the language of a text; `nil` if there is little evidence.
    public static func language(of text: String) -> WordLanguage? {
        var text = text
        return text.withUTF8 { language(of: $0) }
    }

    /// Returns the language of a record's words: the first of its `languages` that has a stemmer,
    /// else a guess from the text, else English.
    ///
    /// - Parameter text: The indexed text of the item, such as its title and body.
    public static func indexLanguage(of record: ItemRecord, text: String) -> WordLanguage {
        indexLanguage(tags: record.texts("languages"), text: text)
    }

    /// Returns the language of an item from the tags in its `languages` attribute.
    public static func indexLanguage(tags: [String], text: String) -> WordLanguage {
        for tag in tags.prefix(16) {
            if let language = WordLanguage(tag: tag) { return language }
        }
        return language(of: text) ?? .english
    }

    /// Returns the language of a text in UTF-8; `nil` if there is little evidence.
    package static func language(of bytes: UnsafeBufferPointer<UInt8>) -> WordLanguage? {
        var counter = Counter()
        let end = min(bytes.count, maximumBytes)
        var start: Int?
        var packed: UInt64 = 0
        var isASCII = true
        var index = 0
        while index <= end {
            let first = index
            while index < end {
                let letter = bytes[index] | 0x20
                guard letter &- 0x61 < 26 else { break }
                packed = packed << 8 | UInt64(letter)
                index &+= 1
            }
            if index > first, start == nil { start = first }
            let byte = index < end ? bytes[index] : 0x20
            if byte >= 0x80, !isPunctuation(bytes, index) {
                if start == nil { start = index }
                isASCII = false
            } else if let first = start {
                // A word truncated by the limit is ignored.
                if index < end || end == bytes.count {
                    counter.count(UnsafeBufferPointer(rebasing: bytes[first..<index]), isASCII ? packed : nil)
                    if counter.isClear { break }
                }
                (start, packed, isASCII) = (nil, 0, true)
            }
            // Skips a complete general punctuation mark.
            index += byte == 0xE2 && isPunctuation(bytes, index) ? 3 : byte == 0xC2 ? 2 : 1
        }
        return counter.winner
    }

    /// Returns `true` for Latin-1 symbols (C2 …) and general punctuation (E2 80 …, E2 81 …).
    private static func isPunctuation(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        if bytes[index] == 0xC2 { return true }
        return bytes[index] == 0xE2 && index + 1 < bytes.count && bytes[index + 1] & 0xFE == 0x80
    }

    private struct Counter {
        private var counts = [Int](repeating: 0, count: WordLanguage.allCases.count)
        private var scores = [Int](repeating: 0, count: WordLanguage.allCases.count)
        private var words = 0
        private var best = 0
        private let short = FunctionWords.short

        mutating func count(_ word: UnsafeBufferPointer<UInt8>, _ packed: UInt64?) {
            words += 1
            var languages: UInt32 = 0
            if let packed {
                if word.count <= 8 { languages = short.languages(of: packed) }
            } else if word.count <= FunctionWords.longestBytes {
                // The word is valid UTF-8, because truncated words are not counted.
                languages = FunctionWords.all[FoldedText.fold(String(decoding: word, as: UTF8.self))] ?? 0
            }
            guard languages != 0 else { return }
            let share = 60 / languages.nonzeroBitCount
            while languages != 0 {
                let language = languages.trailingZeroBitCount
                counts[language] += 1
                scores[language] += share
                best = max(best, counts[language])
                languages &= languages - 1
            }
        }

        var isClear: Bool {
            guard best >= LanguageGuess.clearEvidence else { return false }
            let (_, first, second) = ranking
            return first >= 2 * second
        }

        var winner: WordLanguage? {
            let (language, first, second) = ranking
            let count = counts[language]
            guard count >= LanguageGuess.leastEvidence, count * 10 >= words, first * 4 >= second * 5 else { return nil }
            return WordLanguage.allCases[language]
        }

        /// The language with the highest score, its score, and the second highest score.
        private var ranking: (language: Int, first: Int, second: Int) {
            var (language, first, second) = (0, 0, 0)
            for (index, score) in scores.enumerated() {
                if score > first {
                    (language, first, second) = (index, score, first)
                } else {
                    second = max(second, score)
                }
            }
            return (language, first, second)
        }
    }
}

/// The most common function words of each language, folded.
enum FunctionWords {
    /// The words of up to eight ASCII letters.
    static let short = ShortWords(
        all.filter { $0.key.utf8.count <= 8 && $0.key.utf8.allSatisfy { $0 < 0x80 } })

    /// Words of up to eight ASCII letters, packed big-endian, with a bit for each of their
    /// languages (positions of ``WordLanguage``). A hash table with open addressing, because each
    /// word of a text is looked up; Swift's dictionary takes four times as long.
    struct ShortWords {
        /// The words are stored without their languages, so that lookups of unknown words stay in
        /// the processor's first-level cache.
        private var slots = [UInt64](repeating: 0, count: slotCount)
        private var languages = [UInt32](repeating: 0, count: slotCount)
        private static let slotCount = 2048

        fileprivate init(_ words: [String: UInt32]) {
            for (word, languages) in words {
                let packed = word.utf8.reduce(0) { $0 << 8 | UInt64($1) }
                var slot = Self.slot(packed)
                while slots[slot] != 0 { slot = (slot + 1) % Self.slotCount }
                slots[slot] = packed
                self.languages[slot] = languages
            }
        }

        private static func slot(_ word: UInt64) -> Int { Int((word &* 0x9E37_79B9_7F4A_7C15) >> 53) }

        /// Returns the language bits of a word; 0 for unknown words.
        func languages(of word: UInt64) -> UInt32 {
            var slot = Self.slot(word)
            while slots[slot] != 0 {
                if slots[slot] == word { return languages[slot] }
                slot = (slot + 1) % Self.slotCount
            }
            return 0
        }
    }

    /// The length of the longest word with non-ASCII letters that is looked up, in bytes before
    /// folding.
    static let longestBytes = 24

    /// Returns the function words of one language.
    static func words(of language: WordLanguage) -> [Substring] { lists[language]?.split(separator: " ") ?? [] }

    /// The language bits of each word.
    static let all: [String: UInt32] = {
        var words: [String: UInt32] = [:]
        for language in WordLanguage.allCases {
            for word in Self.words(of: language) { words[String(word), default: 0] |= 1 << UInt32(language.index) }
        }
        return words
    }()

    private static let lists: [WordLanguage: String] = [
        .arabic: "في من علي ان الي التي الذي هذا هذه كان عن مع ما لا هو هي او كل بعد قبل بين لم قد ذلك",
        .catalan: "el la els les de del dels i que en un una per amb es no mes com al als son va ha aquest aquesta",
        .danish:
            "og i det at en den til er som pa de med af for ikke der var sig et har jeg efter hvad blev mig meget nogle",
        .german:
            "der die und in den von zu das mit sich des auf fur ist im dem nicht ein eine als auch es an werden aus er",
        .greek: "και το να του η τησ με που την απο για τα ειναι των σε ο οι στο θα τη στη δεν τον τουσ",
        .english:
            "the of and to a in is that for it as was with be by on not he are at from this or have an they which",
        .spanish:
            "de la que el en y a los se del las un por con no una su para es al lo como mas pero sus le ya este esta",
        .basque:
            "eta da ez bat du izan dira zen egin baina ere dute hori dela hau edo beste zuen den baten ziren behar",
        .finnish:
            "ja on ei se etta oli hanen mutta han kun ovat myos joka sen mita niin tai jos ole kuin olla voi tama",
        .french:
            "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec nous",
        .irish: "an agus na ar is go ag le seo sin bhi ata ach do mar se nach leis aon sa ina faoi bheith raibh",
        .hindi: "के में की है और से का को पर इस ने एक यह कि नहीं हैं भी तो था लिए कर हो गया जो",
        .hungarian: "a az es hogy nem is egy ez meg csak de volt van mint ha el vagy azt ki mar kell lehet akkor aki",
        .armenian: "է որ եւ են ու մեջ այս համար նա իր մի հետ չի այդ նրա բայց եմ կամ էր պետք",
        .indonesian:
            "yang dan di dengan untuk dari dalam ini itu pada tidak adalah ke akan juga oleh saya ada atau mereka",
        .italian:
            "di e il la che in a per un del con non una sono si dei da le della nel gli alla come piu anche ha lo",
        .lithuanian: "ir kad i yra su is tai buvo kaip bet o jis ar apie del nuo jo po iki tik savo bus kai",
        .nepali: "छ र को मा लाई पनि यो हो गर्न भने छन् एक थियो गरेको तर त्यो हुन् गरी का ले बाट भएको",
        .dutch:
            "de van een het en in is dat op te zijn met voor niet aan er die om ook als dan maar bij uit wordt naar hij",
        .norwegian:
            "og i det er pa til som en for av at med har de den ikke et jeg var ble blir seg hva etter noe mye meg",
        .portuguese:
            "de a o que e do da em um para com nao uma os no se na por mais as dos como mas ao ele das pelo sao",
        .romanian: "de si in la a cu pe nu din o care un ce mai este ca sa pentru au fost sunt al lui prin sau dar",
        .russian: "и в не на что с он как это по но из у за от к для о же так его было все или бы еще",
        .serbian: "је и у да се на за су од са не што који као или али из како би до то га ova je da su se na koji",
        .swedish:
            "och i att det som en pa ar av for med den till inte har de ett om han var jag fran men kan sig nar eller",
        .tamil: "ஒரு என்று மற்றும் இந்த அது என அவர் இது ஆனால் தான் அந்த இல்லை கொண்டு என்ன",
        .turkish: "ve bir bu da de icin ile cok ne o gibi daha ama kadar olarak var olan sonra degil mi her ki ise",
        .yiddish: "און די איז פון אין דער דאס אז צו האט מיט אויף ער זיי נישט איך וואס מען א",
    ]
}
