// SPDX-License-Identifier: Apache-2.0
import DesktopSearch
import MetadataQuery
import SymbolBindings
import TextAnalysis
import UniformTypeIdentifiers
import UserSearch

extension FuzzTarget {
    private static let words = [
        "==", "!=", "<=", "&&", "||", "!", "(", ")", "\"", "'", "\\", "*", "**", "cdwt", "InRange(", "$time.today(-1)",
        "$time.iso(2024-05-15)", "title", ",", " ", "\u{301}", "\u{0}",
    ]

    /// Texts of users, apps, desktops and manifests.
    static let typed = [
        text(
            "metadataQuery", tokens: words,
            samples: [
                "title == \"Oslo*\"cd && (authorNames != 'Anna' || pixelHeight >= 5)",
                "InRange(contentCreationDate, $time.today(-7), $time.now) && !(kMDItemTitle == '*')",
            ]
        ) { text in
            guard let expression = try? QueryExpression(parsing: text) else { return false }
            var limits = QueryLimits.standard
            limits.maximumBytes = .max
            let again = try QueryExpression(parsing: expression.description, limits: limits)
            try require(again == expression, "printed as \(expression.description)")
            return true
        },
        text(
            "userQuery", tokens: words + [" -"],
            samples: ["visit Oslo", "\"exact words\" -not", "größe -\"a b\" c", "日本語 テスト"]
        ) { text in
            try require(UserQuery(text).terms.count <= UserQuery.maximumTerms, "too many terms")
            return true
        },
        text(
            "searchIntent",
            tokens: ["kind:", "from:", "-app:", "title:", "\"", ",", "last ", "week", "2026", "larger:1MB", "since "],
            samples: [
                "kind:pdf from:anna,ben last week ferry", "photos yesterday -app:mail \"a b\"", "before:3/4/2026 has:x",
            ]
        ) { text in
            let intent = SearchIntent(text, clock: QueryClock(now: 800_000_000, secondsFromUTC: { _ in 3600 }))
            let count = text.utf8.count
            try require(intent.filters.count <= SearchIntent.maximumFilters, "too many filters")
            try require(intent.hints.count <= SearchIntent.maximumHints, "too many hints")
            try require(
                intent.filters.map(\.range).allSatisfy { $0.upperBound <= count && !$0.isEmpty },
                "a filter beyond the text"
            )
            if let expression = intent.expression {
                try require(
                    try QueryExpression(parsing: expression.description) == expression, "\(expression) is another one")
            }
            return !intent.filters.isEmpty
        },
        text(
            "binding",
            tokens: [
                "(", ")", "{", "}", "[", "]", ",", ":", "=", "->", "==", ">", "\"x\"", "null", " int ", " text ",
                " out ",
                " owned(free) ", "length(", "item.contents", " succeeds ", " when ", "call f", "result ",
                "acknowledge()",
            ],
            samples: [
                """
                serve data public.html of net.daringfireball.markdown
                library "libcmark-gfm.so.0.29.0.gfm.6", "libcmark-gfm.so"
                call cmark_markdown_to_html(text: bytes = item.contents, length: usize = length(text), options: int = 0)
                    -> html: owned(free) text
                result html
                """
            ]
        ) { text in
            guard let binding = try? SymbolBinding(parsing: text) else { return false }
            let printed = binding.description
            // The printed form contains spaces, so it may exceed the maximum length of a binding.
            guard printed.utf8.count <= BindingLimits.textBytes else { return true }
            try require(try SymbolBinding(parsing: printed) == binding, "printed as \(printed)")
            return true
        },
        text(
            "indexedText",
            tokens: [
                "'", "’", "v", ".", "++", "#", "-", "\n", "\u{301}", "\u{308}", "ß", "İ", "日", "\u{AD}", "\u{FFFD}",
            ],
            samples: [
                "O'Reilly’s v12.18 C++ and C#: Größe, naïve cafés", "Die Häuser der Verbindungen\nun été à l’île",
                "日本語テスト ΣΊΣΥΦΟΣ İstanbul ﬁle ½", "e\u{301}e\u{301} \u{600}a\u{200D}b",
            ]
        ) { text in
            let bytes = Array(text.utf8)
            var (start, words) = (0, [String]())
            var isWithin = true
            bytes.withUnsafeBufferPointer {
                TextAnalyzer.forEachWord(in: $0, variants: true) { word in
                    isWithin =
                        isWithin && !word.bytes.isEmpty && word.bytes.count <= TextAnalyzer.maximumWordBytes
                        && word.range.upperBound <= bytes.count && word.range.lowerBound >= (word.isVariant ? 0 : start)
                    if !word.isVariant {
                        // A character such as “½” has several words.
                        start = word.range.lowerBound
                        words.append(String(decoding: word.bytes, as: UTF8.self))
                    }
                    return true
                }
            }
            try require(isWithin, "a word outside the text, or out of order")
            let stems = WordStems([])
            for word in words.prefix(8) {
                for language in WordLanguage.allCases {
                    try require(!stems.stem(word, in: language).isEmpty, "\(word) has no stem in \(language)")
                }
            }
            _ = RankedWords().terms([text, text, text, text], language: LanguageGuess.language(of: text) ?? .english)
            let whole = String(decoding: bytes, as: UTF8.self)
            var end = 0
            for range in WordOccurrences([words.first ?? "", String(text.prefix(3))]).ranges(in: bytes[...]) {
                let bounds = [range.lowerBound, range.upperBound].map {
                    String.Index(whole.utf8.index(whole.startIndex, offsetBy: $0), within: whole)
                }
                try require(
                    range.lowerBound >= end && !range.isEmpty && !bounds.contains(nil), "\(range) splits a character")
                end = range.upperBound
            }
            return !words.isEmpty
        },
        text(
            "desktopResult", tokens: ["\u{1}", "\u{0}", "\n", "\u{202E}", "<b>", "&", "/", "../", "public.", "image/"],
            samples: ["Title\u{1}Notes\u{1}a passage\u{1}public.plain-text", "\u{1}\u{1}\u{1}com.example.a-b"]
        ) { text in
            let parts = text.split(separator: "\u{1}", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 4 else { return false }
            let result = DesktopResult(
                item: 1, title: parts[0], app: parts[1], detail: parts[2], contentType: parts[3], isFile: true)
            let shown = [result.title, result.app, result.detail]
            try require(
                !result.title.isEmpty && shown.allSatisfy { $0.count <= 201 }
                    && !shown.joined().unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) },
                "\(shown)")
            try require(
                !result.icon.names.isEmpty && result.icon.names.allSatisfy { !$0.isEmpty && !$0.contains("/") },
                "the icons \(result.icon.names)")
            _ = (RunnerMatch.matches([result, result]), ShellMeta.values(of: result))
            let terms = text.split(separator: " ").map(String.init)
            for query in [DesktopQuery.text(of: terms), DesktopQuery.text(of: text)] {
                try require(query.utf8.count <= DesktopQuery.maximumBytes, "a text of \(query.utf8.count) bytes")
            }
            return true
        },
        text("resultIdentifier", tokens: ["item:", "0", "-", "+"], samples: ["item:12", "item:9223372036854775807"]) {
            guard let identifier = ResultIdentifier($0) else { return false }
            try require(identifier.text == $0 && identifier.item > 0, "another form")
            return true
        },
        text(
            "dynamicType", tokens: ["dyn.", "a", "g81", "%", "?0=6:"],
            samples: ["dyn.ah62d4rv4ge81k5pw", "dyn.age80c6dk", "dyn.ah62d4rv4ge8027pb"]
        ) { text in
            guard let type = DynamicTypeIdentifier(text) else { return false }
            let again = DynamicTypeIdentifier(type.identifier)
            try require(again?.tags == type.tags && again?.parent == type.parent, "\(type) is another one")
            return true
        },
    ]
}
