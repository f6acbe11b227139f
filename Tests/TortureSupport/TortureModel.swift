// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// The expected items in a scope after a batch, computed in the simplest way.
public struct TortureModel: Sendable {
    public private(set) var items: [String: ItemRecord] = [:]
    /// The number of the last applied batch.
    public private(set) var batch = 0
    /// The number of the scope.
    public let scope: Int
    private let seed: UInt64
    private let expires: Bool

    /// Creates the model of an empty scope.
    public init(scope: Int, seed: UInt64, expires: Bool = true) {
        self.scope = scope
        self.seed = seed
        self.expires = expires
    }

    /// Applies all batches up to a number.
    public mutating func advance(to number: Int) {
        while batch < number {
            batch += 1
            for change in TortureBatch(batch, scope: scope, seed: seed, expires: expires).changes { apply(change) }
        }
    }

    private mutating func apply(_ change: TortureChange) {
        switch change {
        case .put(let record) where record.isUpdate:
            guard var old = items[record.uniqueIdentifier] else { return }
            for (name, value) in record.attributes { old.attributes[name] = value == .null ? nil : value }
            items[record.uniqueIdentifier] = old
        case .put(let record): items[record.uniqueIdentifier] = record
        case .delete(let identifiers): for identifier in identifiers { items[identifier] = nil }
        case .deleteDomain(let domain):
            items = items.filter { $0.value.domainIdentifier?.hasPrefix(domain + ".") != true }
        case .deleteAll: items = [:]
        case .rename(let renames): renames.apply(to: &items, key: { $0 }) { $0.uniqueIdentifier = $1 }
        }
    }
}
