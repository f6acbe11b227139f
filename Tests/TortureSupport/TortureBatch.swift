// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchIndex
import TestSupport

/// A change in a batch.
public enum TortureChange: Sendable {
    case put(ItemRecord)
    case delete([String])
    case deleteDomain(String)
    case rename([ItemRename])
    case deleteAll
}

/// A batch that is determined by its number: equal seeds, scopes and numbers give equal batches in
/// every process.
public struct TortureBatch: Sendable {
    /// Two indexes in one bundle that receive donations concurrently.
    public static let scopes = [
        IndexScope(bundle: "org.example.torture"), IndexScope(bundle: "org.example.torture", index: "second"),
    ]
    /// The fixed current time for donors and checks, so that nothing expires during a run.
    public static let now = 780_000_000.0
    /// A word that all items contain. `words` lists words that only some items contain.
    public static let commonWord = "torture"
    public static let words = ["anvil", "bellows", "chisel", "drill", "etching"]

    public let number: Int
    public let changes: [TortureChange]
    private let stream: Int

    /// Creates the batch with a number; the first batch is 1.
    ///
    /// - Parameters:
    ///   - scope: The index in ``scopes``. A donor with its own scopes passes any number, which
    ///     selects its own stream of batches.
    ///   - expires: `true` if some items expire in a month.
    public init(_ number: Int, scope: Int, seed: UInt64, expires: Bool = true) {
        stream = scope
        self.number = number
        var random = SplitMix64(seed: seed ^ UInt64(scope + 1) << 48 ^ UInt64(number) << 16)
        var changes = (0..<(1 + random.below(6))).map {
            TortureChange.put(Self.item("b\(number)-\($0)", number, expires, &random))
        }
        // An item that every batch replaces.
        changes.append(.put(Self.item("latest", number, expires, &random)))
        func earlier() -> String { "b\(max(1, number - random.below(12)))-\(random.below(6))" }
        for _ in 0..<random.below(3) { changes.append(.put(Self.item(earlier(), number, expires, &random))) }
        for _ in 0..<random.below(3) {
            var update = ItemRecord(uniqueIdentifier: earlier(), isUpdate: true)
            update.attributes["pageCount"] = .integer(Int64(number))
            update.attributes["contentDescription"] = random.below(3) == 0 ? .null : .string(random.pick(Self.words))
            changes.append(.put(update))
        }
        for _ in 0..<(1 + random.below(3)) { changes.append(.delete([earlier(), earlier()])) }
        if random.below(3) == 0 {
            let (one, other) = (earlier(), earlier())
            changes.append(.rename([ItemRename(one, to: other), ItemRename(other, to: one)]))
        }
        if random.below(4) == 0 { changes.append(.rename([ItemRename(earlier(), to: "renamed \(random.below(9))")])) }
        if random.below(8) == 0 { changes.append(.deleteDomain("d.\(random.below(5))")) }
        if random.below(60) == 0 { changes.append(.deleteAll) }
        self.changes = changes
    }

    private static func item(
        _ identifier: String, _ number: Int, _ expires: Bool, _ random: inout SplitMix64
    ) -> ItemRecord {
        ItemRecord(
            uniqueIdentifier: identifier, domainIdentifier: "d.\(random.below(5)).\(random.below(3))",
            expiration: random.below(2) == 0 || !expires ? .never : .standard,
            attributes: [
                "title": .string("\(commonWord) \(random.pick(words))"), "pageCount": .integer(Int64(number)),
                "keywords": .array([.string(random.pick(words)), .string("n\(number)")]),
                // Some items are larger than a database page or a log segment.
                "textContent": .string(String(repeating: "filler ", count: random.below(10) == 0 ? 900 : 3)),
            ])
    }

    /// Returns the batch in a form that can be donated.
    ///
    /// - Parameter scope: The target scope; `nil` for the batch's entry in ``scopes``.
    /// - Throws: `ItemRecordError`.
    public func donation(to scope: IndexScope? = nil) throws -> IndexBatch {
        var batch = IndexBatch(scope: scope ?? Self.scopes[stream])
        for change in changes {
            switch change {
            case .put(let record): batch.index([try EncodedItem(record)])
            case .delete(let identifiers): batch.delete(identifiers: identifiers)
            case .deleteDomain(let domain): batch.delete(domains: [domain])
            case .deleteAll: batch.deleteAll()
            case .rename(let renames): batch.rename(renames)
            }
        }
        return batch
    }

    /// The client state after the batch.
    public var clientState: [UInt8] { Array("\(number)".utf8) }
}
