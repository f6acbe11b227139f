// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord

/// The renaming of an existing item.
private struct Move {
    let item: Int64
    let rename: ItemRename
}

/// An item before its identifier changed.
private struct ItemBefore {
    let item: ItemRow
    let text: Int64?
}

extension ItemWriter {
    /// Changes the identifiers of items, all at the same time, so that two items can swap
    /// identifiers.
    ///
    /// A renamed item keeps its number, the references to it, its dates, its text and its domain.
    /// It replaces the item that currently has its new identifier. If that item was donated again
    /// during a reindex, the renamed item counts as donated again. Items that depend on the renamed
    /// item (``RelatedItems``) refer to its new identifier. Expired items are not renamed.
    ///
    /// - Parameter leftOut: Receives the items that cannot have their new identifier. They are
    ///   deleted, because their old identifier is no longer valid.
    /// - Returns: The new identifiers of the renamed items; the keys are the UTF-8 bytes of the old
    ///   identifiers.
    func rename(_ renames: [ItemRename], _ leftOut: inout [LeftOutItem]) throws -> [Data: String] {
        try derived.flush()
        let moves = try moves(renames)
        guard !moves.isEmpty else { return [:] }
        let leftOutBefore = leftOut.count
        try confirm(moves)
        let followers = try RelatedItems.followers(of: moves.map(\.rename), bundle: bundle, index: index, db)
        try carryOut(moves, &leftOut)
        for follower in followers {
            guard let before = try row(of: follower.item) else { continue }
            var record = before.item.record
            record.attributes[RelatedItems.attribute] = .string(follower.related)
            try replace(before, with: record, &leftOut)
        }
        if leftOut.count > leftOutBefore {
            let orphans = try RelatedItems.orphans(
                of: moves.map { ($0.rename.newIdentifier, bundle) }, index: relatedIndex, db)
            for orphan in orphans { try Self.delete(db, where: "id = ?", [orphan], derived, relatedIn: relatedIndex) }
        }
        return Dictionary(
            moves.map { (Data($0.rename.identifier.utf8), $0.rename.newIdentifier) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Gives each item its new identifier once that identifier is free.
    private func carryOut(_ moves: [Move], _ leftOut: inout [LeftOutItem]) throws {
        var positions: [Data: Int] = [:]
        for (position, move) in moves.enumerated() { positions[Data(move.rename.identifier.utf8)] = position }
        func next(after position: Int) -> Int? { positions[Data(moves[position].rename.newIdentifier.utf8)] }

        var isDone = Array(repeating: false, count: moves.count)
        for first in moves.indices where !isDone[first] {
            // In a chain of renames, the last item moves first.
            var chain = [first]
            var isCircle = false
            while let position = next(after: chain[chain.count - 1]), !isDone[position], !isCircle {
                isCircle = position == first
                if !isCircle { chain.append(position) }
            }
            let aside = isCircle ? try setAside(moves[first].item) : nil
            for position in chain.reversed() {
                isDone[position] = true
                let (item, rename) = (moves[position].item, moves[position].rename)
                if next(after: position) == nil { try makeRoom(for: rename.newIdentifier) }
                guard let before = try position == first ? aside ?? row(of: item) : row(of: item) else { continue }
                var record = before.item.record
                record.uniqueIdentifier = rename.newIdentifier
                // An item that names itself as its related item continues to do so.
                if let related = record.text(RelatedItems.attribute),
                    related.utf8.elementsEqual(rename.identifier.utf8)
                {
                    record.attributes[RelatedItems.attribute] = .string(rename.newIdentifier)
                }
                try replace(before, with: record, &leftOut)
            }
        }
    }

    /// Deletes the item that has an identifier, expired or not. Keeps the items that depend on it,
    /// because another item takes over the identifier.
    private func makeRoom(for identifier: String) throws {
        let find = try db.cachedStatement(
            sql: "SELECT id FROM item WHERE unique_identifier = ? AND bundle = ? AND index_name = ?")
        guard let item = try Int64.fetchOne(find, arguments: [identifier, bundle, index]) else { return }
        _ = try Self.deleteAlone(db, where: "id = ?", [item], derived)
    }

    /// Returns the existing items to rename.
    private func moves(_ renames: [ItemRename]) throws -> [Move] {
        let find = try db.cachedStatement(
            sql: """
                SELECT id FROM item WHERE unique_identifier = ? AND bundle = ? AND index_name = ?
                    AND (expires IS NULL OR expires > ?)
                """)
        return try renames.effective.compactMap { rename in
            guard SearchIndex.canBeStored(rename.identifier), SearchIndex.canBeStored(rename.newIdentifier) else {
                return nil
            }
            return try Int64.fetchOne(find, arguments: [rename.identifier, bundle, index, now])
                .map { Move(item: $0, rename: rename) }
        }
    }

    /// Removes the deletion marks of a reindex from items whose new identifier was donated again.
    private func confirm(_ moves: [Move]) throws {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM unconfirmed)") == true else { return }
        let isConfirmed = try db.cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM item WHERE unique_identifier = ? AND bundle = ? AND index_name = ?
                    AND id NOT IN (SELECT item FROM unconfirmed))
                """)
        // Evaluates all moves before changing any.
        let confirmed = try moves.filter {
            try Bool.fetchOne(isConfirmed, arguments: [$0.rename.newIdentifier, bundle, index]) == true
        }
        let confirm = try db.cachedStatement(sql: "DELETE FROM unconfirmed WHERE item = ?")
        for move in confirmed { try confirm.execute(arguments: [move.item]) }
    }

    private func row(of item: Int64) throws -> ItemBefore? {
        let statement = try db.cachedStatement(sql: "SELECT \(ItemRow.columns), text_row FROM item WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [item]).map {
            ItemBefore(item: try ItemRow($0), text: try $0.decode(forColumn: "text_row"))
        }
    }

    /// Frees the identifier of an item by storing an empty identifier in its row until the row is
    /// replaced. Used for one item at a time, so no other item has an empty identifier.
    private func setAside(_ item: Int64) throws -> ItemBefore? {
        let before = try row(of: item)
        try db.cachedStatement(sql: "UPDATE item SET unique_identifier = '' WHERE id = ?").execute(arguments: [item])
        return before
    }

    /// Replaces the identifier and the record of an item. The two records must produce the same
    /// searchable text.
    private func replace(_ before: ItemBefore, with record: ItemRecord, _ leftOut: inout [LeftOutItem]) throws {
        let id = before.item.id
        let bytes: [UInt8]
        do throws(ItemRecordError) { bytes = try record.encoded() } catch {
            // A longer identifier can make the record too large.
            try derived.remove(before.item.record, bundle: bundle, item: id, text: before.text)
            try db.cachedStatement(sql: "DELETE FROM item WHERE id = ?").execute(arguments: [id])
            let problem = SearchIndexError.invalidItem(
                identifier: record.uniqueIdentifier, reason: error.description)
            leftOut.append(LeftOutItem(scope: scope, problem: problem))
            return
        }
        try derived.replace(before.item.record, with: record, item: id, text: before.text)
        let checksum = RowChecksum.item(
            bundle: scope.bundle, index: before.item.index, identifier: record.uniqueIdentifier,
            expires: before.item.expires, donated: before.item.donated, record: bytes)
        try db.cachedStatement(
            sql: "UPDATE item SET unique_identifier = ?, record = stored_record(?), checksum = ? WHERE id = ?"
        ).execute(arguments: [record.uniqueIdentifier, Data(bytes), checksum, id])
    }
}
