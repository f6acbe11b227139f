// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// The evaluation of one query for one item. Caches folded texts, which several comparisons may
/// need.
struct RecordEvaluation {
    private struct FoldedKey: Hashable {
        let attribute: String
        let ordinal: Int
        let options: UInt8
    }

    private let record: ItemRecord
    private let context: QueryContext
    private var folded: [FoldedKey: ComparableText] = [:]
    private var foldedLength = 0
    /// The largest number of scalars in cached texts; texts beyond it are folded again each time.
    private static let maximumFoldedLength = 1 << 20

    init(record: ItemRecord, context: QueryContext) {
        self.record = record
        self.context = context
    }

    mutating func holds(_ node: QueryMatcher.Node) -> Bool {
        switch node {
        case .and(let operands):
            for operand in operands where !holds(operand) { return false }
            return true
        case .or(let operands):
            for operand in operands where holds(operand) { return true }
            return false
        case .not(let operand): return !holds(operand)
        case .test(.named(let name), let test): return holds(test, for: name)
        case .test(.anyAttribute, let test):
            for name in record.attributes.keys
            where context.isSearchableByDefault(name) || record.isSearchableByDefault(name) {
                if holds(test, for: name) { return true }
            }
            return false
        }
    }

    private mutating func holds(_ test: ValueTest, for name: String) -> Bool {
        if name == AttributeNames.contentTypeTree { return typeTreeHolds(test) }
        guard record.isSearchable(name), let value = value(of: name) else { return false }
        return holds(test, value: value, name: name)
    }

    /// Returns the value of an attribute. Identifier and domain are properties of the item, but
    /// queries refer to them like attributes.
    private func value(of name: String) -> AttributeValue? {
        switch name {
        case "uniqueIdentifier": .string(record.uniqueIdentifier)
        case "domainIdentifier": record.domainIdentifier.map { .string($0) } ?? record.attributes[name]
        default: record.attributes[name]
        }
    }

    private mutating func holds(_ test: ValueTest, value: AttributeValue, name: String) -> Bool {
        if case .presence = test { return value.isPresent }
        var ordinal = 0
        return anyElement(of: value) { evaluation, element in
            ordinal += 1
            return evaluation.holds(test, element: element, name: name, ordinal: ordinal)
        }
    }

    /// Tests the stored type tree, the type itself, and all types to which the type conforms.
    private mutating func typeTreeHolds(_ test: ValueTest) -> Bool {
        for name in [AttributeNames.contentTypeTree, AttributeNames.contentType] {
            guard let value = record.attributes[name] else { continue }
            if holds(test, value: value, name: name) { return true }
            if case .equal(_, let literal?, _) = test, value.texts.contains(where: { context.conforms($0, literal) }) {
                return true
            }
        }
        return false
    }

    // MARK: Elements

    enum Element {
        case text(String)
        case number(QueryNumber)
        case boolean(Bool)
        case date(Double)
    }

    private mutating func anyElement(
        of value: AttributeValue, _ body: (inout RecordEvaluation, Element) -> Bool
    ) -> Bool {
        switch value {
        case .null, .data: return false
        case .string(let text), .url(let text): return body(&self, .text(text))
        case .integer(let number): return body(&self, .number(.integer(number)))
        case .double(let number): return body(&self, .number(.double(number)))
        case .boolean(let truth): return body(&self, .boolean(truth))
        case .date(let moment): return body(&self, .date(moment))
        case .person, .localizedString:
            // A fixed order keeps the ordinals of cached texts valid.
            for text in value.texts where body(&self, .text(text)) { return true }
            return false
        case .array(let values):
            for element in values where anyElement(of: element, body) { return true }
            return false
        case .dictionary(let values):
            for (_, element) in values.sorted(by: { $0.key < $1.key }) where anyElement(of: element, body) {
                return true
            }
            return false
        }
    }

    private mutating func holds(_ test: ValueTest, element: Element, name: String, ordinal: Int) -> Bool {
        switch (test, element) {
        case (.equal(let matcher, _, _), .text(let text)):
            return matcher.matches(comparable(text, matcher.options, name: name, ordinal: ordinal))
        case (.equal(_, _, let number?), _):
            return element.number.flatMap { $0.compared(to: number) } == .equal
        case (.during(let period), .date(let moment)), (.during(let period), .number(.double(let moment))):
            return period.contains(moment)
        case (.during(let period), .number(.integer(let moment))): return period.contains(Double(moment))
        case (.ordered(let operation, let number, let isTime), _):
            if isTime, case .boolean = element { return false }
            return element.number?.compared(to: number)?.satisfies(operation) ?? false
        case (.range(let minimum, let maximum, let isTime), _):
            if isTime, case .boolean = element { return false }
            guard let number = element.number, let low = number.compared(to: minimum),
                let high = number.compared(to: maximum)
            else { return false }
            return low.satisfies(.greaterOrEqual) && high.satisfies(.lessOrEqual)
        case (.presence, _), (.never, _), (.equal, _), (.during, _): return false
        }
    }

    private mutating func comparable(
        _ text: String, _ options: MatchOptions, name: String, ordinal: Int
    ) -> ComparableText {
        let key = FoldedKey(attribute: name, ordinal: ordinal, options: options.rawValue)
        if let kept = folded[key] { return kept }
        let made = ComparableText(text, options: options, limit: context.maximumTextLength)
        if foldedLength + made.scalars.count <= Self.maximumFoldedLength {
            folded[key] = made
            foldedLength += made.scalars.count
        }
        return made
    }
}

extension RecordEvaluation.Element {
    /// The value of a number, a Boolean (0 or 1) or a date (seconds since 2001).
    fileprivate var number: QueryNumber? {
        switch self {
        case .text: nil
        case .number(let number): number
        case .boolean(let truth): .integer(truth ? 1 : 0)
        case .date(let moment): .double(moment)
        }
    }
}

extension AttributeValue {
    /// `true` if the value is considered present: neither null nor a collection without values.
    var isPresent: Bool {
        switch self {
        case .null: false
        case .array(let values): values.contains(where: \.isPresent)
        case .dictionary(let values): values.values.contains(where: \.isPresent)
        case .localizedString(let texts): !texts.isEmpty
        default: true
        }
    }
}

extension AttributeNames {
    static let contentType = "contentType"
    static let contentTypeTree = "contentTypeTree"
}
