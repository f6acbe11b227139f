// SPDX-License-Identifier: Apache-2.0
import DesktopSearch
import MetadataQuery
import SymbolBindings
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
