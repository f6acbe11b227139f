// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport
import Testing

@testable import UserSearch

@Suite("Word forms")
struct WordStemsTests {
    @Test(
        "Forms of a word have one stem, even if typed without accents",
        arguments: [
            ("en", ["connect", "connects", "connected", "connection", "connections"]),
            ("de", ["haus", "hauser", "hausern", "hauses"]), ("de", ["strasse", "strassen"]),
            ("es", ["notificacion", "notificaciones"]), ("es", ["pais", "paises"]),
            ("pt", ["informacao", "informacoes"]), ("fr", ["activite", "activites"]),
            ("fr", ["aimee", "aimees", "aimes"]),
            ("ca", ["informacio", "informacions"]), ("it", ["universita"]), ("ro", ["informatie", "informatiile"]),
            ("ru", ["русскии", "русского", "русские"]), ("ru", ["новыи", "новая", "новои"]),
            ("nl", ["boek", "boeken"]), ("sv", ["bil", "bilar", "bilarna"]), ("nb", ["bil", "biler", "bilene"]),
            ("fi", ["talo", "talossa", "taloissa"]), ("tr", ["ev", "evler", "evlerde"]),
            ("hu", ["haz", "hazak", "hazban"]),
        ] as [(String, [String])])
    func forms(tag: String, forms: [String]) throws {
        let stems = WordStems(languages: [tag])
        #expect(stems.languages.count == 1)
        #expect(Set(forms.map { stems.stem($0) }).count == 1, "\(forms.map { stems.stem($0) })")
    }

    @Test("Different words have different stems")
    func different() {
        let stems = WordStems(languages: ["en"])
        for (left, right) in [("new", "news"), ("policy", "police"), ("ls", "l"), ("python3", "python")] {
            #expect(stems.stem(left) != stems.stem(right))
        }
    }

    @Test("Every language has a stemmer and is named by its tags")
    func languages() {
        for language in WordLanguage.allCases {
            #expect(WordLanguage(tag: language.rawValue) == language)
            #expect(!WordStems([language]).stem("abcabc").isEmpty)
        }
        #expect(WordLanguage(tag: "pt_BR.UTF-8") == .portuguese)
        #expect(WordLanguage(tag: "NN-no") == .norwegian)
        #expect(WordLanguage(tag: "ger") == .german)
        for tag in ["", "x", "C", "ja", "zh-Hans", "english", "C.UTF-8", "é", "POSIX"] {
            #expect(WordLanguage(tag: tag) == nil)
        }
    }

    @Test("Unknown languages are ignored, repeated ones count once, and without any a word is unchanged")
    func unknown() {
        #expect(WordStems(languages: ["tlh", "de", "de-CH", "en"]).languages == [.german, .english])
        #expect(WordStems(languages: ["ja"]).stem("running") == "running")
    }

    @Test("Long, short and numbered words are unchanged")
    func unchanged() {
        let stems = WordStems(languages: ["en"])
        let long = String(repeating: "b", count: 55) + "connection"
        for word in ["", "is", "c3s", "utf8s", long] { #expect(stems.stem(word) == word) }
        let longest = String(repeating: "b", count: 54) + "connection"
        #expect(longest.utf8.count == 64 && stems.stem(longest) != longest)
    }

    @Test("The stem of any text is folded, and equal from the cache", arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let stems = WordStems(WordLanguage.allCases)
        for _ in 0..<2_000 {
            let word = FoldedText.fold(random.text(length: 1 + random.below(24)))
            let language = random.pick(WordLanguage.allCases)
            let first = stems.stem(word, in: language)
            #expect(stems.stem(word, in: language) == first)
            #expect(WordStems([language]).stem(word) == first)
            #expect(FoldedText.fold(first) == first)
        }
    }

    @Test("Words that share a slot of the cache do not share a stem")
    func collisions() {
        let cached = WordStems(languages: ["en"])
        let words = (0..<20_000).map { number in
            "w" + String(number, radix: 26).map { $0.isNumber ? "g" : $0 } + (number % 2 == 0 ? "ing" : "s")
        }
        for word in words {
            let fresh = cached.stem(word)
            #expect(word.hasPrefix(String(fresh.dropLast())))
        }
    }
}

@Suite("The language of a text")
struct LanguageGuessTests {
    @Test(
        "The language of a sentence is recognised",
        arguments: [
            ("The list of the files that are in this folder is not sorted by name", .english),
            ("Die Rechnung für das neue Büro ist noch nicht bezahlt, und der Termin steht auf dem Kalender", .german),
            ("Le contrat que nous avons signé est dans le dossier, mais pas sur la table des matières", .french),
            ("La reunión del martes es en la oficina de los abogados y no se puede cambiar", .spanish),
            ("Não há uma lista dos documentos que foram enviados para o escritório com as notas", .portuguese),
            ("Il contratto è nella cartella con gli altri documenti che sono stati inviati per la riunione", .italian),
            ("Het boek van mijn vader is niet op de tafel, maar het ligt in de kast met een brief", .dutch),
            ("Det är inte en bra idé att ha alla filer på samma plats och som inte har säkerhetskopior", .swedish),
            ("Jeg har ikke sett hva som ble sagt på møtet, men det var ikke bra fra min side", .norwegian),
            ("Jeg har ikke set hvad der blev sagt på mødet, men det var ikke godt af dem efter min mening", .danish),
            ("Это не так просто, как было раньше, но все это уже есть в книге", .russian),
            ("Η συνάντηση είναι στο γραφείο και δεν θα αλλάξει για την επόμενη εβδομάδα από το πρόγραμμα", .greek),
            ("Ez nem egy nagy dolog, de meg kell nézni, hogy van-e már új levél", .hungarian),
            ("Bu dosya çok büyük ve bir daha açmak için ne kadar zaman var", .turkish),
            ("यह किताब मेरे घर में है और इस को पढ़ने के लिए एक दिन है", .hindi),
        ] as [(String, WordLanguage)])
    func sentences(text: String, expected: WordLanguage) {
        #expect(LanguageGuess.language(of: text) == expected)
    }

    @Test(
        "Little evidence gives no language",
        arguments: ["", "IMG_2041.jpg", "the", "Invoice 2026-11 Contoso", "libfoo-dev 1.2.3 amd64", "東京の駅", "a a a e"])
    func nothing(text: String) { #expect(LanguageGuess.language(of: text) == nil) }

    @Test("Only the beginning is read, and a word truncated by the limit is no evidence")
    func bounded() {
        let filler = String(repeating: "x ", count: 1_000)
        #expect(LanguageGuess.language(of: filler + "the list of the files that are in this folder") == nil)
    }

    @Test("An item's own languages come first, then the guess, then English")
    func record() {
        let german = "Die Rechnung für das neue Büro ist nicht auf dem Tisch"
        func language(_ value: AttributeValue?) -> WordLanguage {
            LanguageGuess.indexLanguage(
                of: ItemRecord(uniqueIdentifier: "a", attributes: value.map { ["languages": $0] } ?? [:]), text: german)
        }
        #expect(language(.array([.string("ja"), .string("fr-CA")])) == .french)
        #expect(language(.array([.string("ja")])) == .german)
        #expect(language(nil) == .german)
        #expect(LanguageGuess.indexLanguage(of: ItemRecord(uniqueIdentifier: "a"), text: "x") == .english)
    }

    @Test("The tables are folded")
    func folded() {
        for language in WordLanguage.allCases {
            let words = FunctionWords.words(of: language)
            #expect(words.count >= 14 && Set(words).count == words.count, "\(language)")
            for word in words { #expect(FoldedText.fold(String(word)) == String(word), "\(word)") }
        }
    }

    @Test("Any text is accepted", arguments: [1, 2] as [UInt64])
    func random(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<500 {
            let text = random.text(length: random.below(3_000))
            #expect(LanguageGuess.language(of: text) == LanguageGuess.language(of: text))
        }
    }
}
