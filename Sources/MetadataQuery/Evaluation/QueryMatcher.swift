// SPDX-License-Identifier: Apache-2.0
import ItemRecord

extension QueryExpression {
    /// Returns `true` if an item satisfies the query. For many items, create one ``QueryMatcher``.
    public func matches(_ record: ItemRecord, context: QueryContext) -> Bool {
        QueryMatcher(self, context: context).matches(record)
    }
}

/// A query prepared for testing many items, with folded patterns and resolved `$time` terms.
///
/// This is the reference implementation of the language, without an index; every other
/// implementation must agree with it. It can be used from several threads concurrently.
///
/// - Complexity: For each item, the number of comparisons times the length of the tested texts. In
///   the worst case this is multiplied by the length of the value divided by 64. No comparison
///   backtracks.
public struct QueryMatcher: Sendable {
    private let root: Node
    private let context: QueryContext

    /// Prepares a query. Reads the context's clock once, here.
    public init(_ expression: QueryExpression, context: QueryContext) {
        root = Node(expression, clock: context.clock)
        self.context = context
    }

    /// Returns `true` if the item satisfies the query.
    public func matches(_ record: ItemRecord) -> Bool {
        var evaluation = RecordEvaluation(record: record, context: context)
        return evaluation.holds(root)
    }

    indirect enum Node: Sendable {
        case test(AttributeSelector, ValueTest)
        case and([Node])
        case or([Node])
        case not(Node)

        init(_ expression: QueryExpression, clock: QueryClock) {
            switch expression {
            case .and(let operands): self = .and(operands.map { Node($0, clock: clock) })
            case .or(let operands): self = .or(operands.map { Node($0, clock: clock) })
            case .not(let operand): self = .not(Node(operand, clock: clock))
            case .range(let range): self = .test(range.attribute, ValueTest(range, clock: clock))
            case .comparison(let comparison):
                let test = Node.test(comparison.attribute, ValueTest(comparison, clock: clock))
                // `!=` is the negation of equality, even for arrays, missing attributes and
                // wildcards.
                self = comparison.operation == .notEqual ? .not(test) : test
            }
        }
    }
}

/// The test that a predicate applies to one value.
enum ValueTest: Sendable {
    /// The value exists.
    case presence
    /// The value equals a text, or a number if the text is one.
    case equal(TextMatcher, literal: String?, number: QueryNumber?)
    /// The value is a date within a period, or a number that is such a date in seconds since 2001.
    case during(ResolvedTime)
    /// The value is a number or a date in the given order relative to another. A Boolean is treated
    /// as a number, except with `$time`.
    case ordered(ComparisonOperator, QueryNumber, isTime: Bool)
    /// Both comparisons are true for a single value.
    case range(minimum: QueryNumber, maximum: QueryNumber, isTime: Bool)
    /// Texts have no order, so the test always fails.
    case never

    init(_ comparison: Comparison, clock: QueryClock) {
        if comparison.isPresenceTest {
            self = .presence
            return
        }
        let isOrdering = comparison.operation.isOrdering
        switch comparison.value {
        case .time(let term):
            let time = term.resolved(at: clock)
            self = isOrdering ? .ordered(comparison.operation, .double(time.start), isTime: true) : .during(time)
        case .number(let number):
            if isOrdering {
                self = .ordered(comparison.operation, number.value, isTime: false)
            } else {
                let matcher = TextMatcher(TextPattern(literal: number.spelling), options: comparison.options)
                self = .equal(matcher, literal: number.spelling, number: number.value)
            }
        case .text(let pattern):
            if isOrdering {
                self = pattern.number.map { .ordered(comparison.operation, $0.value, isTime: false) } ?? .never
            } else {
                let matcher = TextMatcher(pattern, options: comparison.options)
                self = .equal(matcher, literal: pattern.literal, number: pattern.number?.value)
            }
        }
    }

    init(_ range: RangePredicate, clock: QueryClock) {
        func value(_ bound: RangeBound) -> (QueryNumber, isTime: Bool) {
            switch bound {
            case .number(let number): (number.value, false)
            case .time(let term): (.double(term.resolved(at: clock).start), true)
            }
        }
        let (minimum, firstIsTime) = value(range.minimum)
        let (maximum, secondIsTime) = value(range.maximum)
        self = .range(minimum: minimum, maximum: maximum, isTime: firstIsTime || secondIsTime)
    }
}
