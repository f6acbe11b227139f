// SPDX-License-Identifier: Apache-2.0
import TextAnalysis
import ItemRecord
import MetadataQuery
import TestSupport

/// Random texts made of a few words and of characters that word division, full text and folding may
/// treat differently. Patterns are cut from them, so that most patterns match.
enum QueryWordSoup {
    static let names = [
        "title", "displayName", "keywords", "contactKeywords", "contentDescription", "subject", "textContent",
        "transcribedTextContent", "größe", "textContentSummary",
    ]
    private static let words = [
        "oslo", "Oslo", "OSLO", "fjord", "TableViewCell", "tableview", "viewCell", "ViewController2", "NSView", "view",
        "View", "café", "cafe\u{301}", "cafés", "résumé", "naïve", "a\u{338}bc", "Straße", "STRASSE", "ﬁle", "File",
        "\u{212A}elvin", "kelvin", "İstanbul", "ısparta", "a\u{345}bcd", "ᾳbcd", "日本語", "日本View", "viewの", "서울View",
        "x日y",
        "foo\u{F0000}bar", "bar\u{100010}", "fooBar", "foo", "bar", "éView", "e\u{301}View", "z\u{94D}foo", "no1",
        "2nd",
        "emoji😀tail", "ab", "a", "of", "the", "don't", "don’t", "x_y", "re-view", "ſeal", "ŉow", "\u{301}mark",
    ]
    private static let separators = [
        " ", " ", " ", " ", "-", "_", ", ", "\n", "\0", "\u{1}", "–", "’", "\u{301} ", "\u{AD}", "≠", "\u{37E}", "/",
        "",
    ]

    static func text(_ random: inout SplitMix64) -> String {
        var text = ""
        for _ in 0..<(1 + random.below(random.below(4) == 0 ? 30 : 5)) {
            switch random.below(40) {
            case 0: text += String(repeating: "long", count: 13 + random.below(3)) + random.pick(words)
            case 1: text += String(repeating: "é", count: 47 + random.below(4)) + random.pick(words)
            default: text += random.pick(words)
            }
            text += random.pick(separators)
        }
        return text
    }

    static func record(_ random: inout SplitMix64, _ identifier: String) -> ItemRecord {
        var record = ItemRecord(uniqueIdentifier: identifier)
        for name in names where random.below(3) == 0 {
            switch random.below(8) {
            case 0: record.attributes[name] = .array((0..<3).map { _ in .string(text(&random)) })
            case 1: record.attributes[name] = .localizedString(["en": text(&random), "nb": text(&random)])
            case 2: record.attributes[name] = .dictionary(["a": .string(text(&random)), "b": .integer(5)])
            case 3: record.attributes[name] = .integer(5)
            case 4:
                record.attributes[name] = .person(
                    PersonValue(displayName: text(&random), handles: [text(&random)], handleIdentifier: "phoneNumbers"))
            default: record.attributes[name] = .string(text(&random))
            }
        }
        if random.below(3) == 0 { record.attributes["com_example_own"] = .string(text(&random)) }
        for name in record.attributes.keys.sorted() where random.below(12) == 0 {
            record.traits[name] = random.pick([[.searchable, .searchableByDefault], []])
        }
        if random.below(8) == 0 { record.expiration = .at(queryTestNow - 1) }
        return record
    }

    // MARK: Queries

    static func comparison(_ random: inout SplitMix64, of records: [ItemRecord]) -> Comparison {
        let isNamed = random.below(3) > 0
        return Comparison(
            attribute: isNamed ? .named(random.pick(names)) : .anyAttribute, operation: .equal,
            value: .text(pattern(&random, of: records)), options: MatchOptions(rawValue: UInt8(random.below(16))))
    }

    static func expression(_ random: inout SplitMix64, of records: [ItemRecord]) -> QueryExpression {
        func next(_ random: inout SplitMix64) -> QueryExpression { .comparison(comparison(&random, of: records)) }
        return switch random.below(8) {
        case 0: .and([next(&random), next(&random)])
        case 1: .or([next(&random), next(&random)])
        case 2: .and([next(&random), .not(next(&random))])
        default: next(&random)
        }
    }

    private static func pattern(_ random: inout SplitMix64, of records: [ItemRecord]) -> TextPattern {
        if random.below(30) == 0 { return TextPattern(literal: "5") }
        let texts = random.pick(records).attributes.values.flatMap(\.texts)
        let source = texts.isEmpty ? random.pick(words) : random.pick(texts.sorted())
        var elements: [TextPattern.Element] = []
        if random.below(3) == 0 { elements.append(.anyText) }
        elements.append(.literal(piece(&random, of: source)))
        if random.below(8) == 0 {
            elements.append(random.pick([.anyText, .anyCharacter]))
            elements.append(.literal(piece(&random, of: source)))
        }
        if random.below(2) == 0 { elements.append(.anyText) }
        return TextPattern(elements)
    }

    /// Returns a piece that mostly starts and ends at word boundaries.
    private static func piece(_ random: inout SplitMix64, of text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        let starts = Words(text, splittingCaseChanges: random.below(3) == 0).map {
            text.unicodeScalars.distance(from: text.startIndex, to: $0.lowerBound)
        }
        let start = starts.isEmpty || random.below(4) == 0 ? random.below(scalars.count) : random.pick(starts)
        let rest = scalars[start...].prefix(1 + random.below(random.below(3) == 0 ? 60 : 9))
        let piece = String(String.UnicodeScalarView(rest))
        switch random.below(4) {
        case 0: return piece.lowercased()
        case 1: return TextFolding.folded(piece, case: random.below(2) == 0, diacritics: true)
        default: return piece
        }
    }
}
