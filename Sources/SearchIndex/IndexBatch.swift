// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import ItemRecord

/// Changes to one index of a bundle that become durable together.
public struct IndexBatch: Hashable, Sendable {
    /// Whose index.
    public let scope: IndexScope
    var changes: [EncodedChange] = []
    private var firstProblem: SearchIndexError?

    /// Begins an empty batch.
    public init(scope: IndexScope) { self.scope = scope }

    /// Adds or replaces items.
    public mutating func index(_ items: [EncodedItem]) {
        for item in items {
            let record = item.record
            if !SearchIndex.canBeStored(record.uniqueIdentifier) || !SearchIndex.canBeStored(record.domainIdentifier) {
                firstProblem =
                    firstProblem
                    ?? .invalidItem(
                        identifier: record.uniqueIdentifier, reason: "its identifier or its domain contains a NUL")
            }
            changes.append(.put(item.bytes))
        }
    }

    /// Deletes items by identifier.
    public mutating func delete(identifiers: [String]) {
        let identifiers = identifiers.filter(Self.canExist)
        if !identifiers.isEmpty { changes.append(.deleteItems(identifiers)) }
    }

    /// Deletes domains and everything below them.
    public mutating func delete(domains: [String]) {
        let domains = domains.filter(Self.canExist)
        if !domains.isEmpty { changes.append(.deleteDomains(domains)) }
    }

    /// Deletes everything, the client state included.
    public mutating func deleteAll() { changes.append(.deleteAll) }

    /// Whether an item can have this name; deleting what cannot be there is no error.
    private static func canExist(_ name: String) -> Bool { name.utf8.count <= ItemLimit.identifierBytes.maximum }

    /// Refuses what could not be applied later.
    func check() throws(SearchIndexError) {
        guard SearchIndex.canBeStored(scope.bundle), SearchIndex.canBeStored(scope.index) else {
            throw .invalidItem(
                identifier: scope.bundle, reason: "the name of its bundle or of its index contains a NUL")
        }
        if let firstProblem { throw firstProblem }
    }
}
