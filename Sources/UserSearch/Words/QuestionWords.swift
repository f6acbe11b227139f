// SPDX-License-Identifier: Apache-2.0

/// Question words and other short words that carry no content. In a search for “when does the
/// flight leave”, spelling does not correct `when`, and `flight` and `leave` decide the order.
/// Items are not similar because of such words.
package enum QuestionWords {
    /// Returns `true` if a word is a question word or a function word of one of the languages.
    ///
    ///     QuestionWords.contains("when", in: [.english])   // true
    ///     QuestionWords.contains("flight", in: [.english]) // false
    ///
    /// - Parameters:
    ///   - word: A folded word.
    ///   - languages: The languages of the texts that are searched.
    package static func contains(_ word: String, in languages: some Sequence<WordLanguage>) -> Bool {
        let bits = languages.reduce(0 as UInt32) { $0 | 1 << UInt32($1.index) }
        return (all[word] ?? 0) & bits != 0
    }

    /// The bits of the languages of each word (positions of ``WordLanguage``).
    private static let all: [String: UInt32] = {
        var words = FunctionWords.all
        for (language, text) in lists {
            for word in text.split(separator: " ") {
                words[FoldedText.fold(String(word)), default: 0] |= 1 << UInt32(language.index)
            }
        }
        return words
    }()

    /// Question words, function words, and the verbs of a request (“show”), apart from the words of
    /// ``FunctionWords``.
    private static let lists: [WordLanguage: String] = [
        .english:
            """
        what when where whose does done doing were been being having will would could should shall \
        might must there here their them then than these those your yours mine ours about into over under between \
        again also just only some such very because while until since after before much many more most other both \
        each ever every same who how why did do has had can may its any all our out i my me you your we us his him \
        her she so if but no an am were too did off up down than tell show find give please want need know
        """,
        .german:
            """
        wann welche welcher welches welchen welchem wessen warum wieso weshalb woher wohin wieviel wurde wurden haben \
        hatte hatten sein sind waren kann konnen konnte sollen sollte muss mussen musste habe hast mein meine meinen \
        meinem meiner dein deine unser unsere ihre ihren ihrer dieser diese dieses diesen uber unter zwischen nach \
        aber oder wenn dann noch schon viel viele wer wie was wo ob bin bist hat mir mich dir dich ihr wir uns sie ich \
        du er am beim vom zum zur bei nur so um vor
        """,
        .french:
            """
        quand quel quelle quels quelles comment pourquoi combien lequel laquelle etait etaient peut peuvent doit faut \
        fait notre votre leur leurs cette mais donc entre apres avant depuis pendant chez sans sous aussi tous tout \
        qui ou mon ma mes ton ta tes nos vos je tu il elle vous on si
        """,
        .spanish:
            """
        cuando donde quien quienes cual cuales porque cuanto cuanta cuantos cuantas eran tiene tienen puede pueden \
        debe hace entre sobre desde hasta despues antes cuyo cuya tambien todo todos \
        mi mis tu tus si yo fue hay son
        """,
        .italian:
            """
        quando dove cosa quale quali perche quanto quanta quanti quante erano stato stata possono deve dopo \
        prima sopra sotto delle degli dalla nelle tutto tutti \
        chi mi mio mia ho hai noi voi al dal
        """,
        .portuguese:
            """
        quando onde quem qual quais porque quanto quanta quantos quantas eram pode podem deve entre sobre desde depois \
        antes minha nosso nossa tambem tudo todos
        """,
        .dutch:
            """
        wanneer waar welk welke waarom hoeveel werd werden heeft hebben kunnen moet moeten mijn onze deze over \
        onder tussen veel
        """,
        .swedish:
            "vilken vilket vilka varfor manga blev hade kunde skulle maste mina dina deras over under mellan efter",
        .danish:
            "hvornar hvilken hvilket hvilke hvem hvorfor hvordan mange havde kunne skulle mine dine deres over under",
        .norwegian:
            "hvilken hvilket hvilke hvem hvor hvorfor hvordan mange hadde kunne skulle mine dine deres over under",
        .finnish: "milloin missa mista mihin kuka mika mitka miksi miten kuinka montako paljonko minun sinun meidan",
        .hungarian: "mikor hogyan miert melyik mennyi hany honnan hova",
        .romanian: "cand unde cine cati cate dupa inainte despre",
        .turkish: "zaman nerede nereye nereden hangi nicin neden nasil kimin",
        .russian:
            "когда куда откуда какой какая какое какие почему зачем сколько была были будет может после перед",
    ]
}
