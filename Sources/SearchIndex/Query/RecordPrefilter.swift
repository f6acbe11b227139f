// SPDX-License-Identifier: Apache-2.0
import MetadataQuery

/// Rejects most records that do not satisfy a query by searching their bytes, which is ten times as
/// fast as decoding and folding their texts.
struct RecordPrefilter: Sendable {
    /// A string that one attribute, or one of the attributes searchable by default, must contain.
    private struct Demand {
        /// The attribute name; `nil` for the attributes that are searchable by default.
        var name: [UInt8]?
        var needle: ByteNeedle
    }

    /// The demands. Every match satisfies at least one of them.
    private let demands: [Demand]
    private let isSearchableByDefault: @Sendable (String) -> Bool

    /// The largest number of demands. With more, decoding the record is just as fast.
    private static let maximumDemands = 8

    /// Creates a filter; `nil` if nothing is known about the bytes of the matches.
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

    /// Returns the demands of an expression; `nil` if an item may match without satisfying a
    /// demand.
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
            // Uses only one operand: the one that is likely to reject the most records.
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
            // Names that are not ASCII have several spellings.
            guard name.utf8.allSatisfy({ $0 < 0x80 }), !AttributeKind.special.contains(name) else { return nil }
            return Demand(name: Array(name.utf8), needle: needle)
        }
    }

    /// Returns the longest run of ASCII letters and digits in the pattern.
    private static func needle(_ pattern: TextPattern) -> ByteNeedle? {
        var longest = ""
        for case .literal(let literal) in pattern.elements {
            guard !literal.unicodeScalars.contains(where: AttributeKey.isUnpredictable) else { continue }
            let runs = AttributeKey.folded(literal).split { $0.value >= 0x80 || !FoldedByte.isLetter(UInt8($0.value)) }
            for run in runs where run.count > longest.utf8.count { longest = AttributeKey.string(run) }
        }
        return ByteNeedle(longest)
    }

    /// Returns `false` only if the item does not satisfy the query. Returns `true` for bytes that
    /// are not a record.
    func mayMatch(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = RecordScanner(bytes)
        guard scanner.skipHeader() != nil, let count = scanner.count() else { return true }
        var mayMatch = false
        for _ in 0..<count {
            guard let name = scanner.text(), let traits = scanner.traits() else { return true }
            let wanted = UnsafeBufferPointer(rebasing: bytes[name])
            // Cached, so that each attribute name is checked at most once.
            var isDefault: Bool?
            let isSound = scanner.skipValue(depth: 0) { range in
                guard !mayMatch else { return }
                let text = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[range]))
                mayMatch = demands.contains { demand in
                    if let name = demand.name {
                        return name.elementsEqual(wanted) && demand.needle.mayOccur(in: text)
                    }
                    // Checking the name takes longer than searching most texts.
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
        // Trailing bytes make the record invalid, which decoding reports.
        return !scanner.isAtEnd
    }
}
