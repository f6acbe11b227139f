// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import TestSupport

/// Random items and queries over a small set of values, so that many comparisons match, with all
/// features that make texts hard to compare.
enum QueryRandomItems {
    static let names = [
        "title", "keywords", "rating", "dueDate", "contentType", "contentTypeTree", "com_example_key", "größe",
        "textContent", "domainIdentifier", "uniqueIdentifier", "neverUsed",
    ]
    static let types = [
        "public", "public.image", "Public.Image.jpeg", "public.text", "public.größe", "com.example.note",
        "dyn." + String(repeating: "ah62d4rv4", count: 9),
    ]
    static let fragments = [
        "Oslo", "oslo", "Visit", "a", "b", "ab", "TableView", "View", " ", " ", "-", "_", "É", "é", "e", "e\u{301}",
        "\u{301}", "5", "-0", "x*y?", "\"'\\", "日本語", "日", "本", "\n", "ß", "SS", "İ", "ı", "i", "K", "\u{212A}", "k",
        "ᾳ", "α", "αι", "\u{345}", "서", "석", "\u{1100}", "\u{1161}", "\u{11A8}", "\u{1100}\u{301}\u{1161}", "か", "が",
        "\u{3099}", "กำ", "\u{9C7}", "\u{9BE}", "\u{9C7}\u{301}\u{9BE}", "\0", "ﬁ", "fi", "Ω", "\u{2126}", "👩‍👩‍👧", "😀",
        "\u{10FFFF}", "public", ".image", "$time.now", "1e3", "\u{D7FF}", "ǰ", "ŉ", "\u{1E9E}",
    ]

    static func text(_ random: inout SplitMix64) -> String {
        switch random.below(12) {
        case 0: return ""
        case 1: return random.pick(types)
        case 2...8: return (0..<(1 + random.below(3))).map { _ in random.pick(fragments) }.joined()
        case 9:
            // About as long as an index key.
            let start = String(repeating: random.pick(["a", "日", "é", "e\u{301}", "서"]), count: 60 + random.below(8))
            return start + random.pick(fragments)
        case 10:
            return "a" + String(repeating: "\u{301}", count: random.pick([10, 130, 1030])) + random.pick(fragments)
        default: return (0..<40).map { _ in random.pick(fragments) }.joined(separator: " ")
        }
    }

    static func number(_ random: inout SplitMix64) -> Double {
        random.pick([0, 1, -0.0, 0.5, 2, 5, 5.000000000000001, -3, 1e3, 9007199254740992, 1e19, -1e300])
    }

    static func integer(_ random: inout SplitMix64) -> Int64 {
        random.pick([0, 1, 2, 5, -3, 1000, 9_007_199_254_740_993, 9_007_199_254_740_992, .max, .min])
    }

    static func value(_ random: inout SplitMix64, depth: Int = 0) -> AttributeValue {
        switch random.below(depth < 2 ? 17 : 13) {
        case 0: .integer(integer(&random))
        case 1: .double(number(&random))
        case 2: .boolean(random.below(2) == 0)
        case 3: .date(queryTestNow + Double(random.below(60) - 30) * 43_200)
        case 4: random.pick([.date(0), .date(1), .double(.nan), .double(.infinity), .date(-.infinity), .date(.nan)])
        case 5: random.pick([.null, .data([1]), .data([]), .localizedString([:])])
        case 6: .url("https://example.com/" + text(&random))
        case 7:
            .person(
                PersonValue(
                    displayName: random.below(2) == 0 ? nil : text(&random),
                    handles: (0..<random.below(3)).map { _ in text(&random) }, handleIdentifier: "emailAddresses"))
        case 8: .localizedString(["en": text(&random), "nb": text(&random)])
        case 13, 14: .array((0..<random.below(4)).map { _ in value(&random, depth: depth + 1) })
        case 15:
            .dictionary(
                Dictionary(
                    (0..<random.below(3)).map { _ in (text(&random), value(&random, depth: depth + 1)) }
                ) { first, _ in first })
        default: .string(text(&random))
        }
    }

    static func record(_ random: inout SplitMix64, _ number: Int) -> ItemRecord {
        var record = ItemRecord(uniqueIdentifier: "\(number)" + random.pick(["", "", "a", "é", "\u{212A}", "k", "K"]))
        if random.below(2) == 0 {
            // Names that contain a NUL character are rejected.
            record.domainIdentifier = String(text(&random).unicodeScalars.filter { $0 != "\0" })
        }
        for name in names.dropLast() where random.below(3) > 0 { record.attributes[name] = value(&random) }
        if random.below(2) == 0 { record.attributes["contentType"] = .string(random.pick(types)) }
        if random.below(3) == 0 {
            record.attributes["contentTypeTree"] = .array([.string(random.pick(types)), .string(random.pick(types))])
        }
        if random.below(30) == 0 {
            record.attributes["keywords"] = .array((0..<1_100).map { .string("many \($0)") } + [.string("Oslo")])
        }
        if random.below(2) == 0 {
            for name in record.attributes.keys.sorted() where random.below(3) == 0 {
                record.traits[name] = random.pick([
                    [], .all, [.searchable, .searchableByDefault], .searchableByDefault,
                ])
            }
        }
        return record
    }

    // MARK: Queries

    static func expression(_ random: inout SplitMix64, depth: Int = 0) -> QueryExpression {
        switch random.below(depth < 4 ? 10 : 5) {
        case 0...3: .comparison(comparison(&random))
        case 4: .range(RangePredicate(attribute: attribute(&random), minimum: bound(&random), maximum: bound(&random)))
        case 5: .not(expression(&random, depth: depth + 1))
        case 6, 7: .and((0..<(random.below(4))).map { _ in expression(&random, depth: depth + 1) })
        default: .or((0..<(random.below(4))).map { _ in expression(&random, depth: depth + 1) })
        }
    }

    static func comparison(_ random: inout SplitMix64) -> Comparison {
        let options = MatchOptions(rawValue: random.below(3) == 0 ? 3 : UInt8(random.below(16)))
        return Comparison(
            attribute: attribute(&random),
            operation: random.pick(ComparisonOperator.allCases + [.equal, .equal, .equal]),
            value: queryValue(&random), options: options)
    }

    static func attribute(_ random: inout SplitMix64) -> AttributeSelector {
        random.below(7) == 0 ? .anyAttribute : .named(random.pick(names))
    }

    static func queryValue(_ random: inout SplitMix64) -> QueryValue {
        switch random.below(8) {
        case 0: .number(literal(&random))
        case 1: .time(time(&random))
        default: .text(pattern(&random))
        }
    }

    static func pattern(_ random: inout SplitMix64) -> TextPattern {
        let elements = (0..<random.below(4)).map { _ -> TextPattern.Element in
            switch random.below(6) {
            case 0, 1: .anyText
            case 2 where random.below(3) == 0: .anyCharacter
            case 3: .literal(text(&random))
            default: .literal(random.pick(fragments))
            }
        }
        return TextPattern(elements)
    }

    static func literal(_ random: inout SplitMix64) -> NumberLiteral {
        let spellings = [
            "0", "1", "5", "-0", "+2", "0.5", "1e3", "-9223372036854775808", "9007199254740993", "1e19", "5.0", "12",
        ]
        return NumberLiteral(random.pick(spellings))!
    }

    static func bound(_ random: inout SplitMix64) -> RangeBound {
        random.below(3) == 0 ? .time(time(&random)) : .number(literal(&random))
    }

    static func time(_ random: inout SplitMix64) -> TimeTerm {
        if random.below(4) == 0 {
            return .iso(ISOMoment(random.pick(["2024-05-15", "20240515T1200Z", "2001-01-01", "2001-01-01T00:00:01"]))!)
        }
        let function = random.pick(TimeFunction.allCases)
        guard function.takesArgument, random.below(3) > 0 else { return .relative(function, .none(for: function)) }
        return .relative(function, TimeShift(random.below(41) - 20, random.pick(TimeUnit.allCases))!)
    }
}
