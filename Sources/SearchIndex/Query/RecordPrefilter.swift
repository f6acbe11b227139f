// SPDX-License-Identifier: Apache-2.0
import MetadataQuery

/// Turns down most records that do not satisfy a query by a look at their bytes: decoding and folding their texts takes ten
/// times as long.
struct RecordPrefilter: Sendable {
    /// One attribute, or those that are searchable by default, must contain something.
    private struct Demand {
        /// `nil` means those that are searchable by default.
        var name: [UInt8]?
        var needle: ByteNeedle
    }

    /// At least one of these is fulfilled by every item that satisfies the query.
    private let demands: [Demand]
    private let isSearchableByDefault: @Sendable (String) -> Bool

    /// With more, it is as well to decode the record.
    private static let maximumDemands = 8

    /// `nil` if nothing is known of the bytes of the matches.
    init?(_ expression: QueryExpression, context: QueryContext) {
        guard let demands = Self.demands(expression), !demands.isEmpty else { return nil }
        if demands.contains(where: { $0.name == nil }),
            AttributeKind.special.contains(where: context.isSearchableByDefault)
        {
            return nil
        }
        self.demands = demands
        isSearchableByDefault = context.isSearchableByDefault
    }

    /// `nil` if there may be matches without any.
    private static func demands(_ expression: QueryExpression) -> [Demand]? {
        switch expression {
        case .range, .not: return nil
        case .comparison(let comparison): return demand(comparison).map { [$0] }
        case .or(let operands):
            var all: [Demand] = []
            for operand in operands {
                guard let demands = demands(operand), all.count + demands.count <= maximumDemands else { return nil }
                all += demands
            }
            return all
        case .and(let operands):
            // One operand is enough: the one that is likely to turn down most.
            return operands.compactMap(demands).max { weight($0) < weight($1) }
        }
    }

    private static func weight(_ demands: [Demand]) -> Int { demands.map(\.needle.count).min() ?? 0 }

    private static func demand(_ comparison: Comparison) -> Demand? {
        guard comparison.operation == .equal, !comparison.isPresenceTest, case .text(let pattern) = comparison.value,
            pattern.number == nil, let needle = needle(pattern)
        else { return nil }
        switch comparison.attribute {
        case .anyAttribute: return Demand(name: nil, needle: needle)
        case .named(let name):
            // Of other names there are several spellings.
            guard name.utf8.allSatisfy({ $0 < 0x80 }), !AttributeKind.special.contains(name) else { return nil }
            return Demand(name: Array(name.utf8), needle: needle)
        }
    }

    /// The longest run of plain letters and digits in the pattern.
    private static func needle(_ pattern: TextPattern) -> ByteNeedle? {
        var longest = ""
        for case .literal(let literal) in pattern.elements {
            guard !literal.unicodeScalars.contains(where: AttributeKey.isUnpredictable) else { continue }
            let runs = AttributeKey.folded(literal).split { $0.value >= 0x80 || !FoldedByte.isLetter(UInt8($0.value)) }
            for run in runs where run.count > longest.utf8.count { longest = AttributeKey.string(run) }
        }
        return ByteNeedle(longest)
    }

    /// Whether the item of a record may satisfy the query: `false` only if it does not. Of bytes that are no record nothing
    /// is said.
    func mayMatch(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = RecordScanner(bytes)
        guard scanner.skipHeader() != nil, let count = scanner.count() else { return true }
        var mayMatch = false
        for _ in 0..<count {
            guard let name = scanner.text(), let traits = scanner.traits() else { return true }
            let wanted = UnsafeBufferPointer(rebasing: bytes[name])
            // Asked at most once for each attribute.
            var isDefault: Bool?
            let isSound = scanner.skipValue(depth: 0) { range in
                guard !mayMatch else { return }
                let text = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[range]))
                mayMatch = demands.contains { demand in
                    if let name = demand.name {
                        return name.elementsEqual(wanted) && demand.needle.mayOccur(in: text)
                    }
                    // To ask for the name takes longer than to look at most texts.
                    guard demand.needle.mayOccur(in: text) else { return false }
                    let known =
                        isDefault
                        ?? (traits.contains(.searchableByDefault)
                            || isSearchableByDefault(String(decoding: wanted, as: UTF8.self)))
                    isDefault = known
                    return known
                }
            }
            if mayMatch || !isSound { return true }
        }
        // Whatever follows is no record, and decoding says so.
        return !scanner.isAtEnd
    }
}
