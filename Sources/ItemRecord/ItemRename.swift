// SPDX-License-Identifier: Apache-2.0

/// A new unique identifier for an item. The item keeps its number, its engagement history and its
/// dates.
///
/// All renames in one change take effect at the same time, so that two items can swap their
/// identifiers.
public struct ItemRename: Hashable, Sendable {
    /// The current identifier.
    public var identifier: String
    /// The new identifier.
    public var newIdentifier: String

    /// Creates a rename.
    public init(_ identifier: String, to newIdentifier: String) {
        self.identifier = identifier
        self.newIdentifier = newIdentifier
    }

    /// `true` if both identifiers are valid and different.
    public var isPossible: Bool {
        let possible = 1...ItemLimit.identifierBytes.maximum
        return possible.contains(identifier.utf8.count) && possible.contains(newIdentifier.utf8.count)
            && !identifier.utf8.elementsEqual(newIdentifier.utf8)
    }
}

extension [ItemRename] {
    /// The first rename that conflicts with an earlier one: it renames the same item again, or uses
    /// the same new identifier.
    public var contradiction: ItemRename? {
        var names = (old: Set<Name>(), new: Set<Name>())
        return first { !$0.claims(&names) }
    }

    /// The renames that take effect: renames that change something and do not conflict with earlier
    /// ones.
    public var effective: [ItemRename] {
        var names = (old: Set<Name>(), new: Set<Name>())
        return filter { $0.isPossible && $0.claims(&names) }
    }

    /// Applies the renames to a dictionary. A renamed item replaces the item that currently has its
    /// new identifier.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - key: Returns the key for an identifier.
    ///   - change: Called for each renamed item with its new identifier.
    public func apply<Key: Hashable, Item>(
        to items: inout [Key: Item], key: (String) -> Key, _ change: (inout Item, String) -> Void
    ) {
        let moved = effective.compactMap { rename in
            items.removeValue(forKey: key(rename.identifier)).map { (rename.newIdentifier, $0) }
        }
        for (identifier, item) in moved {
            var item = item
            change(&item, identifier)
            items[key(identifier)] = item
        }
    }
}

/// An identifier as compared by the index: by bytes. Texts in different Unicode normal forms are
/// equal strings but different identifiers.
private struct Name: Hashable {
    let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }
}

extension ItemRename {
    /// Claims both identifiers. Returns `false` and claims neither if one of them is already taken.
    fileprivate func claims(_ names: inout (old: Set<Name>, new: Set<Name>)) -> Bool {
        let (old, new) = (Name(identifier), Name(newIdentifier))
        guard !names.old.contains(old), !names.new.contains(new) else { return false }
        names.old.insert(old)
        names.new.insert(new)
        return true
    }
}
