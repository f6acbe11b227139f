// SPDX-License-Identifier: Apache-2.0

/// A new unique identifier for an item, which stays the item that it is: with its number in the index, what was learned of it, and
/// its dates.
///
/// The renames of one change are carried out at once, so that two items can swap their identifiers.
public struct ItemRename: Hashable, Sendable {
    /// The identifier that the item has.
    public var identifier: String
    /// The identifier that it gets.
    public var newIdentifier: String

    /// Creates a rename.
    public init(_ identifier: String, to newIdentifier: String) {
        self.identifier = identifier
        self.newIdentifier = newIdentifier
    }

    /// Whether an item can have both identifiers, and they differ.
    public var isPossible: Bool {
        let possible = 1...ItemLimit.identifierBytes.maximum
        return possible.contains(identifier.utf8.count) && possible.contains(newIdentifier.utf8.count)
            && !identifier.utf8.elementsEqual(newIdentifier.utf8)
    }
}

extension [ItemRename] {
    /// The first rename that contradicts one before it: it gives the same item another identifier, or another item the same one.
    public var contradiction: ItemRename? {
        var names = (old: Set<Name>(), new: Set<Name>())
        return first { !$0.claims(&names) }
    }

    /// The renames that are carried out: those that change something and contradict none before them.
    public var effective: [ItemRename] {
        var names = (old: Set<Name>(), new: Set<Name>())
        return filter { $0.isPossible && $0.claims(&names) }
    }

    /// Carries the renames out in a dictionary. A renamed item replaces the one that has its new identifier.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - key: The key of an identifier.
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

/// An identifier as the index compares it: texts in two normal forms are different identifiers, though equal strings.
private struct Name: Hashable {
    let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }
}

extension ItemRename {
    /// Takes both identifiers; `false`, and takes none, if one of them is taken.
    fileprivate func claims(_ names: inout (old: Set<Name>, new: Set<Name>)) -> Bool {
        let (old, new) = (Name(identifier), Name(newIdentifier))
        guard !names.old.contains(old), !names.new.contains(new) else { return false }
        names.old.insert(old)
        names.new.insert(new)
        return true
    }
}
