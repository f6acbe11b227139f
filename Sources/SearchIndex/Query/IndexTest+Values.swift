// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery
import TextAnalysis

extension IndexTest {
    /// Creates the test for a comparison; `!=` has the same test as `==`.
    init(_ comparison: Comparison, context: QueryContext) {
        if comparison.isPresenceTest {
            self = .presence
            return
        }
        let isOrdering = comparison.operation.isOrdering
        switch comparison.value {
        case .time(let term):
            let time = term.resolved(at: context.clock)
            if isOrdering {
                self.init(comparison.operation, .double(time.start), isTime: true)
            } else {
                self.init(during: time)
            }
        case .number(let number):
            if isOrdering {
                self.init(comparison.operation, number.value, isTime: false)
            } else {
                let pattern = TextPattern(literal: number.spelling)
                self.init(pattern, comparison.options, number: number.value, context)
            }
        case .text(let pattern):
            if !isOrdering {
                self.init(pattern, comparison.options, number: pattern.number?.value, context)
            } else if let number = pattern.number {
                self.init(comparison.operation, number.value, isTime: false)
            } else {
                self = .never
            }
        }
    }

    // MARK: Numbers

    /// Creates the test for `InRange`.
    init(_ range: RangePredicate, context: QueryContext) {
        func value(_ bound: RangeBound) -> (number: QueryNumber, isTime: Bool) {
            switch bound {
            case .number(let number): (number.value, false)
            case .time(let term): (.double(term.resolved(at: context.clock).start), true)
            }
        }
        let (minimum, maximum) = (value(range.minimum), value(range.maximum))
        self.init(
            from: (minimum.number, true), to: (maximum.number, true), isTime: minimum.isTime || maximum.isTime)
    }

    private init(_ operation: ComparisonOperator, _ number: QueryNumber, isTime: Bool) {
        switch operation {
        case .less: self.init(from: nil, to: (number, false), isTime: isTime)
        case .lessOrEqual: self.init(from: nil, to: (number, true), isTime: isTime)
        case .greater: self.init(from: (number, false), to: nil, isTime: isTime)
        case .greaterOrEqual: self.init(from: (number, true), to: nil, isTime: isTime)
        case .equal, .notEqual: self.init(from: (number, true), to: (number, true), isTime: isTime)
        }
    }

    private init(during time: ResolvedTime) {
        if let end = time.end {
            self.init(from: (.double(time.start), true), to: (.double(end), false), isTime: true)
        } else {
            self.init(from: (.double(time.start), true), to: (.double(time.start), true), isTime: true)
        }
    }

    private typealias Bound = (number: QueryNumber, isIncluded: Bool)

    private init(from lower: Bound?, to upper: Bound?, isTime: Bool) {
        func bound(_ bound: Bound?) -> AttributeLookup.NumberBound? {
            bound.map { AttributeLookup.NumberBound(value: $0.number.databaseValue, isIncluded: $0.isIncluded) }
        }
        let isNaN = [lower, upper].contains { $0?.number.approximation.isNaN ?? false }
        guard !isNaN else {
            self = .never
            return
        }
        // The index stores Booleans as 0 and 1, which are not times, so a time range that contains
        // 0 or 1 is not exact.
        let mayBeTruth =
            (lower?.number.approximation ?? -.infinity) <= 1 && (upper?.number.approximation ?? .infinity) >= 0
        self.init(.numbers(lower: bound(lower), upper: bound(upper)), isExact: !(isTime && mayBeTruth))
    }

    // MARK: Texts

    private static let anyText = AttributeLookup.Test.texts(lower: "", upper: nil, parts: [])

    private init(_ pattern: TextPattern, _ options: MatchOptions, number: QueryNumber?, _ context: QueryContext) {
        let isAnywhere = !options.isDisjoint(with: [.wordBased, .tokenized])
        if pattern.elements.isEmpty {
            // The empty text, with any modifiers. A text that consists only of diacritics has the
            // same key.
            self.init(.values(["".databaseValue]), isExact: false)
        } else if isAnywhere {
            self.init(Self.containing(pattern.elements, options), isExact: false)
        } else if let literal = pattern.literal {
            self.init(whole: literal, options, context)
        } else {
            self.init(beginning: pattern, options, context)
        }
        if let number { tests.append((.values([number.databaseValue]), true)) }
        literal = pattern.literal
    }

    /// Returns `true` if the comparison is equivalent to a comparison of keys that are not
    /// truncated.
    private static func comparesKeys(_ options: MatchOptions, _ context: QueryContext) -> Bool {
        options == [.caseInsensitive, .diacriticInsensitive]
            && context.maximumTextLength >= AttributeKey.maximumExamined
    }

    private init(whole literal: String, _ options: MatchOptions, _ context: QueryContext) {
        guard !literal.unicodeScalars.contains(where: AttributeKey.isUnpredictable) else {
            self.init(Self.anyText, isExact: false)
            return
        }
        let folded = AttributeKey.folded(literal)
        let isCut = folded.count > AttributeKey.length
        let key = isCut ? AttributeKey.cutKey(folded) : AttributeKey.string(folded)
        self.init(.values([key.databaseValue]), isExact: !isCut && Self.comparesKeys(options, context))
    }

    private init(beginning pattern: TextPattern, _ options: MatchOptions, _ context: QueryContext) {
        guard case .literal(let literal)? = pattern.elements.first,
            let start = AttributeKey.Part(literal, isStart: true)
        else {
            self.init(Self.containing(pattern.elements[...], options), isExact: false)
            return
        }
        let parts = Self.parts(pattern.elements.dropFirst(), options)
        let isExact =
            pattern.prefix != nil && start.isComplete && !start.isOpen
            && Self.comparesKeys(options, context)
        let test = AttributeLookup.Test.texts(lower: start.lowerBound, upper: start.upperBound, parts: parts)
        self.init(test, isExact: isExact)
        if let cut = start.cutKey { tests.append((.values([cut.databaseValue]), false)) }
    }

    private static func containing(
        _ elements: some Sequence<TextPattern.Element>, _ options: MatchOptions
    ) -> AttributeLookup.Test {
        .texts(lower: "", upper: nil, parts: parts(elements, options))
    }

    /// Returns the strings that the keys of all matches contain. The longest literals come first,
    /// because they rule out the most items.
    private static func parts(_ elements: some Sequence<TextPattern.Element>, _ options: MatchOptions) -> [String] {
        var parts: Set<String> = []
        for case .literal(let literal) in elements {
            // With `t`, each word is matched separately; otherwise, the literal is matched as a
            // whole.
            let texts = options.contains(.tokenized) ? words(of: literal, options) : [literal]
            for text in texts {
                if let part = AttributeKey.Part(text, isStart: false), !part.contained.isEmpty {
                    parts.insert(part.contained)
                }
            }
        }
        let sorted = parts.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
        return Array(sorted.prefix(8))
    }

    /// Returns the words of a literal as the evaluator sees them. Case folding splits some scalars
    /// into several words.
    private static func words(of literal: String, _ options: MatchOptions) -> [String] {
        let folded = TextFolding.folded(
            literal, case: options.contains(.caseInsensitive), diacritics: options.contains(.diacriticInsensitive))
        return Words(folded).map { String(folded[$0]) }
    }
}

extension QueryNumber {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .integer(let number): number.databaseValue
        case .double(let number): number.databaseValue
        }
    }

    fileprivate var approximation: Double {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        }
    }
}
