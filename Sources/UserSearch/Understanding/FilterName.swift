// SPDX-License-Identifier: Apache-2.0
import MetadataQuery

/// The name of a filter, before the colon.
enum FilterName: String, CaseIterable {
    case kind, from, by, to, app, `in`, tag, title
    case before, after, until, on, created, changed, added, used, due
    case larger, smaller, has

    /// Alternative names; `since` is an alias of `after`.
    private static let aliases: [String: FilterName] = [
        "type": .kind, "author": .by, "sender": .from, "cc": .to, "recipient": .to, "folder": .in, "keyword": .tag,
        "name": .title, "subject": .title, "since": .after, "date": .on, "modified": .changed, "opened": .used,
        "bigger": .larger, "with": .has,
    ]
    static let longestName = 9

    /// Creates the filter with a name, ignoring case.
    init?(name: String) {
        let name = name.lowercased()
        guard let filter = FilterName(rawValue: name) ?? Self.aliases[name] else { return nil }
        self = filter
    }

    /// All names and aliases, for hints.
    static let names: [String] = (allCases.map(\.rawValue) + aliases.keys).sorted()

    /// `true` if the value may include the words that follow.
    var takesDates: Bool { dateRule != nil }
    /// `true` if the values are sizes.
    var takesSizes: Bool { self == .larger || self == .smaller }

    /// The rule for a date filter: the condition, the attributes, and the verb of the sentence.
    private var dateRule: (bound: DatePeriod.Bound, attributes: [String], verb: String)? {
        switch self {
        case .before: (.before, Self.dates, "dated")
        case .after: (.onOrAfter, Self.dates, "dated")
        case .until: (.through, Self.dates, "dated")
        case .on: (.within, Self.dates, "dated")
        case .created: (.within, ["contentCreationDate", "recordingDate"], "created")
        case .changed: (.within, ["contentModificationDate"], "changed")
        case .added: (.within, ["addedDate", "downloadedDate"], "added")
        case .used: (.within, ["lastUsedDate"], "used")
        case .due: (.within, ["dueDate"], "due")
        default: nil
        }
    }

    /// The dates of an item. A date filter is satisfied if one of them satisfies it, or if the
    /// item's time from start to end does (``DatePeriod/Bound/spans(_:)``).
    static let dates = [
        "contentModificationDate", "contentCreationDate", "addedDate", "downloadedDate", "lastUsedDate", "startDate",
        "dueDate", "recordingDate",
    ]

    // MARK: Meaning

    /// Returns the meaning of a value; `nil` if the filter does not accept it.
    func meaning(_ value: FilterValue, _ dates: DatePhrase) -> FilterMeaning? {
        switch self {
        case .kind:
            let name = FoldedText.fold(value.text)
            return KindNames.expression(name).map { FilterMeaning($0, "of the kind \(value.text)") }
        case .from:
            return people(
                value, ["authorNames", "authors", "authorEmailAddresses", "authorAddresses", "creator"],
                "from \(value.text)")
        case .by:
            return people(
                value,
                [
                    "authorNames", "authors", "authorEmailAddresses", "creator", "artist", "composer", "director",
                    "performers",
                ],
                "by \(value.text)")
        case .to:
            return people(
                value,
                [
                    "primaryRecipients", "additionalRecipients", "hiddenAdditionalRecipients", "recipientNames",
                    "recipientEmailAddresses", "recipientAddresses",
                ], "to \(value.text)")
        case .app: return value.hasWords ? FilterMeaning(app: value.text, "of the app \(value.text)") : nil
        case .in: return folder(value)
        case .tag:
            return value.hasWords ? any(["keywords"], value.words(isBeginning: false), "tagged \(value.text)") : nil
        case .title:
            return people(
                value, ["title", "displayName", "alternateNames", "subject"], "with \(value.text) in the title")
        case .larger: return size(value, .greater, "larger than")
        case .smaller: return size(value, .less, "smaller than")
        case .has: return presence(FoldedText.fold(value.text))
        case .before, .after, .until, .on, .created, .changed, .added, .used, .due: return date(value, dates)
        }
    }

    /// Returns the meaning of a date that has no filter name.
    static func bare(_ period: DatePeriod, isSince: Bool) -> FilterMeaning? {
        let filter: FilterName = isSince ? .after : .on
        return filter.dateRule.flatMap { filter.meaning(period, $0.bound, $0.attributes, $0.verb) }
    }

    private func people(_ value: FilterValue, _ attributes: [String], _ sentence: String) -> FilterMeaning? {
        guard value.hasWords else { return nil }
        return any(attributes, value.words(isBeginning: !value.isQuoted), sentence)
    }

    private func folder(_ value: FilterValue) -> FilterMeaning? {
        guard value.hasWords else { return nil }
        // The index belongs to one user, so the name of the home folder's owner is irrelevant.
        let name = (value.text.hasPrefix("~/") ? String(value.text.dropFirst(2)) : value.text).trimmingSlashes
        guard !name.isEmpty else { return nil }
        let isPath = value.text.hasPrefix("/")
        let inside: [TextPattern.Element] = [
            isPath ? .literal("/") : .anyText, .literal(isPath ? name : "/" + name), .literal("/"), .anyText,
        ]
        let path = QueryValue.text(TextPattern(inside))
        let url = QueryValue.text(
            TextPattern(
                [.literal("file://")]
                    + inside.map { element in
                        if case .literal(let text) = element { return .literal(text.percentEncodedPath) }
                        return element
                    }))
        let loose: MatchOptions = [.caseInsensitive, .diacriticInsensitive]
        var parts: [QueryExpression] = [
            .comparison(Comparison(attribute: .named("path"), operation: .equal, value: path, options: loose)),
            .comparison(Comparison(attribute: .named("contentURL"), operation: .equal, value: url, options: loose)),
        ]
        if !name.contains("/") {
            let words = value.words(isBeginning: false)
            parts += ["containerTitle", "containerDisplayName", "mailboxIdentifiers"].map(words)
        }
        return FilterMeaning(.or(parts), "in the folder \(value.text)")
    }

    private func size(
        _ value: FilterValue, _ operation: ComparisonOperator, _ comparison: String
    ) -> FilterMeaning? {
        guard let size = FileSize(value.text), let megabytes = NumberLiteral(size.megabytes) else { return nil }
        return FilterMeaning(
            .comparison(
                Comparison(attribute: .named("fileSize"), operation: operation, value: .number(megabytes))),
            "\(comparison) \(size.text)")
    }

    private static let presences: [(names: [String], attributes: [String], sentence: String)] = [
        (["attachment", "attachments", "file"], ["attachmentNames", "attachmentTypes"], "with an attachment"),
        (["location", "place"], ["latitude", "namedLocation"], "with a place"),
        (["link", "url"], ["url"], "with a link"), (["tag", "tags", "keyword", "keywords"], ["keywords"], "with tags"),
        (["duedate", "due"], ["dueDate"], "with a due date"), (["phone"], ["phoneNumbers"], "with a telephone number"),
        (["email", "mail"], ["emailAddresses"], "with an e-mail address"), (["rating"], ["rating"], "with a rating"),
        (["comment"], ["comment"], "with a comment"), (["author"], ["authorNames", "authors"], "with an author"),
    ]

    /// The property names for `has:`, for hints.
    static let presenceNames = presences.map { $0.names[0] }

    private func presence(_ name: String) -> FilterMeaning? {
        guard let known = Self.presences.first(where: { $0.names.contains(name) }) else { return nil }
        var parts: [QueryExpression] = known.attributes.map {
            .comparison(Comparison(attribute: .named($0), operation: .equal, value: .text(TextPattern([.anyText]))))
        }
        if known.attributes.first == "attachmentNames" {
            parts.append(
                .comparison(
                    Comparison(
                        attribute: .named("emailHeaders"), operation: .equal,
                        value: .text(TextPattern([.literal("multipart/mixed"), .anyText])), options: .caseInsensitive)))
        }
        return FilterMeaning(parts.count == 1 ? parts[0] : .or(parts), known.sentence)
    }

    private func date(_ value: FilterValue, _ dates: DatePhrase) -> FilterMeaning? {
        guard let rule = dateRule else { return nil }
        var text = value.text[...]
        var bound = rule.bound
        if bound == .within {
            for (sign, meant) in [
                (">=", DatePeriod.Bound.onOrAfter), ("<=", .through), (">", .onOrAfter), ("<", .before),
            ]
            where text.hasPrefix(sign) {
                (text, bound) = (text.dropFirst(sign.count), meant)
                break
            }
        }
        let words = FoldedText.fold(String(text)).split(whereSeparator: \.isWhitespace).map(String.init)
        guard let period = dates.exactly(words) else { return nil }
        return meaning(period, bound, rule.attributes, rule.verb)
    }

    private func meaning(
        _ period: DatePeriod, _ bound: DatePeriod.Bound, _ attributes: [String], _ verb: String
    ) -> FilterMeaning? {
        var parts = attributes.compactMap { bound.expression($0, period) }
        guard parts.count == attributes.count else { return nil }
        if attributes == Self.dates {
            guard let spans = bound.spans(period) else { return nil }
            parts += spans
        }
        return FilterMeaning(parts.count == 1 ? parts[0] : .or(parts), "\(verb) \(bound.text(period))")
    }

    private func any(
        _ attributes: [String], _ comparison: (String) -> QueryExpression, _ sentence: String
    ) -> FilterMeaning {
        FilterMeaning(attributes.count == 1 ? comparison(attributes[0]) : .or(attributes.map(comparison)), sentence)
    }

    /// A description of the filter's values, for hints about an invalid value.
    var expectation: String {
        switch self {
        case .kind: "a kind such as pdf, image, mail or folder"
        case .larger, .smaller: "a size such as 500kB or 10MB"
        case .has: "one of " + Self.presenceNames.joined(separator: ", ")
        case _ where takesDates: "a date such as 2026-11-16, yesterday, “last week” or “2 days ago”"
        default: "a name"
        }
    }
}

/// The meaning of one value of a filter.
struct FilterMeaning {
    /// The condition; `nil` for an app filter.
    var expression: QueryExpression?
    var app: String?
    var sentence: String

    init(_ expression: QueryExpression, _ sentence: String) {
        (self.expression, self.sentence) = (expression, sentence)
    }
    init(app: String, _ sentence: String) { (self.app, self.sentence) = (app, sentence) }
}

/// A value as typed, without its quotes.
struct FilterValue {
    var text: String
    var isQuoted: Bool

    var hasWords: Bool { !FoldedText.words(text).isEmpty }

    /// Returns a comparison with all words of the value, in any order.
    ///
    /// - Parameter isBeginning: `true` if the last word may be a prefix.
    func words(isBeginning: Bool) -> (String) -> QueryExpression {
        var elements: [TextPattern.Element] = [.literal(text)]
        if isBeginning { elements.append(.anyText) }
        let value = QueryValue.text(TextPattern(elements))
        return { name in
            .comparison(
                Comparison(
                    attribute: .named(name), operation: .equal, value: value,
                    options: [.caseInsensitive, .diacriticInsensitive, .tokenized]))
        }
    }
}

/// A file size as users write it: `10MB`, `1.5 GiB`, `500k`, `1024`. `k`, `M`, `G` and `T` stand
/// for powers of 1,000.
struct FileSize {
    /// The size in millions of bytes, the unit of `fileSize`, as a decimal number.
    let megabytes: String
    /// The size as typed, with a space before the unit.
    let text: String

    init?(_ typed: String) {
        let digits = typed.prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == ",") }
        let unit = typed.dropFirst(digits.count).drop { $0 == " " }
        let number = digits.map { $0 == "," ? "." : String($0) }.joined()
        guard digits.utf8.count <= 15, let value = Double(number), let factor = Self.factor(unit.lowercased()) else {
            return nil
        }
        megabytes = "\(value * factor / 1e6)"
        text = unit.isEmpty ? "\(number) bytes" : "\(number) \(unit)"
    }

    private static func factor(_ unit: String) -> Double? {
        switch unit {
        case "", "b", "byte", "bytes": 1
        case "k", "kb": 1e3
        case "m", "mb": 1e6
        case "g", "gb": 1e9
        case "t", "tb": 1e12
        case "ki", "kib": 1_024
        case "mi", "mib": 1_048_576
        case "gi", "gib": 1_073_741_824
        case "ti", "tib": 1_099_511_627_776
        default: nil
        }
    }
}

extension String {
    fileprivate var trimmingSlashes: String {
        let start = drop { $0 == "/" }
        return String(start.reversed().drop { $0 == "/" }.reversed())
    }

    /// The path with `%` escapes for everything except unreserved characters and slashes.
    fileprivate var percentEncodedPath: String {
        var text = ""
        for byte in utf8 {
            switch byte {
            case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E:
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let hex = String(byte, radix: 16, uppercase: true)
                text += hex.utf8.count < 2 ? "%0" + hex : "%" + hex
            }
        }
        return text
    }
}
