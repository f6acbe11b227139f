// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport

@testable import MetadataQuery

/// Random trees, records and texts for property tests. Values come from a small set, so that many
/// comparisons match.
enum RandomQueries {
    static let names = [
        "title", "keywords", "rating", "dueDate", "contentTypeTree", "com_example_key", "größe", "a.b-c",
    ]
    static let texts = [
        "", "Oslo", "oslo", "Visit Oslo", "a", "ab", "TableView", "É", "e\u{301}", "5", "-0", "x*y?", "q\"'\\", "日本語",
        "\n\t",
        "cd", "$time.now", "1e3", "ß",
    ]

    static func expression(_ random: inout SplitMix64, depth: Int = 0) -> QueryExpression {
        switch random.below(depth < 5 ? 9 : 5) {
        case 0...3: .comparison(comparison(&random))
        case 4: .range(RangePredicate(attribute: attribute(&random), minimum: bound(&random), maximum: bound(&random)))
        case 5: .not(expression(&random, depth: depth + 1))
        case 6, 7: .and((0..<(2 + random.below(3))).map { _ in expression(&random, depth: depth + 1) })
        default: .or((0..<(2 + random.below(3))).map { _ in expression(&random, depth: depth + 1) })
        }
    }

    static func comparison(_ random: inout SplitMix64) -> Comparison {
        let options = MatchOptions(rawValue: UInt8(random.below(16)))
        let value = value(&random)
        var operation = random.pick(ComparisonOperator.allCases)
        if case .text(let pattern) = value, pattern.number == nil, operation.isOrdering { operation = .equal }
        return Comparison(attribute: attribute(&random), operation: operation, value: value, options: options)
    }

    static func attribute(_ random: inout SplitMix64) -> AttributeSelector {
        random.below(6) == 0 ? .anyAttribute : .named(random.pick(names))
    }

    static func value(_ random: inout SplitMix64) -> QueryValue {
        switch random.below(6) {
        case 0: .number(number(&random))
        case 1: .time(time(&random))
        default: .text(pattern(&random))
        }
    }

    static func pattern(_ random: inout SplitMix64) -> TextPattern {
        TextPattern(
            (0..<random.below(4)).map { _ in
                switch random.below(5) {
                case 0: .anyText
                case 1: .anyCharacter
                default: .literal(random.pick(texts))
                }
            })
    }

    static func number(_ random: inout SplitMix64) -> NumberLiteral {
        NumberLiteral(random.pick(["0", "5", "-0", "+7", "2.5", ".5", "1e3", "-9223372036854775808", "0150", "1E-7"]))!
    }

    static func bound(_ random: inout SplitMix64) -> RangeBound {
        random.below(3) == 0 ? .time(time(&random)) : .number(number(&random))
    }

    static func time(_ random: inout SplitMix64) -> TimeTerm {
        if random.below(5) == 0 {
            return .iso(ISOMoment(random.pick(["2024-05-15", "20240515T1200Z", "2024-05-15 12:00:00,5+02:00"]))!)
        }
        let function = random.pick(TimeFunction.allCases)
        guard function.takesArgument, random.below(3) > 0 else { return .relative(function, .none(for: function)) }
        return .relative(function, TimeShift(random.below(41) - 20, random.pick(TimeUnit.allCases))!)
    }

    static func record(_ random: inout SplitMix64) -> ItemRecord {
        var record = ItemRecord(uniqueIdentifier: "i")
        for name in names + ["contentType"] where random.below(3) > 0 {
            record.attributes[name] = attributeValue(&random, depth: 0)
        }
        return record
    }

    static func attributeValue(_ random: inout SplitMix64, depth: Int) -> AttributeValue {
        switch random.below(depth == 0 ? 12 : 8) {
        case 0: .integer(Int64(random.below(12)) - 3)
        case 1: .double(Double(random.below(8)) / 2)
        case 2: .boolean(random.below(2) == 0)
        case 3: .date(testNow + Double(random.below(60) - 30) * 43_200)
        case 4: random.pick([.null, .data([1]), .double(.nan), .url("x:a"), .localizedString(["en": "Oslo"])])
        case 8: .array((0..<random.below(3)).map { _ in attributeValue(&random, depth: 1) })
        default: .string(random.pick(texts))
        }
    }
}
