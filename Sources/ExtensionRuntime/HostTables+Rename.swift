// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchlightExtension
import ServiceMessages
import SystemSupport

// The functions of `searchlight.rename/1`.

private typealias CTexts = UnsafePointer<UnsafePointer<CChar>?>

/// Returns the renames in two arrays of C strings as a change, with the status to return. Invalid
/// renames are reported.
private func renames(
    _ identifiers: CTexts?, _ newIdentifiers: CTexts?, _ count: Int, _ session: HostSession?
) -> (change: EncodedChange, status: Int32) {
    let nothing = EncodedChange.renameItems([])
    guard count <= ChangeList.maximumChanges / 2 else { return (nothing, SEARCHLIGHT_TOO_LARGE) }
    guard let old = texts(identifiers, count, "The identifiers to rename", session),
        let new = texts(newIdentifiers, count, "The new identifiers", session)
    else { return (nothing, SEARCHLIGHT_INVALID_ARGUMENT) }
    let renames = zip(old, new).map { ItemRename($0, to: $1) }
    for rename in renames
    where rename.newIdentifier.isEmpty || rename.newIdentifier.utf8.count > ItemLimit.identifierBytes.maximum {
        session?.misuse(
            .invalidArgument,
            """
            The new identifier of an item has \(rename.newIdentifier.utf8.count) bytes. It needs 1 to \
            \(ItemLimit.identifierBytes.maximum).
            """)
        return (nothing, SEARCHLIGHT_INVALID_ARGUMENT)
    }
    if let rename = renames.contradiction {
        session?.misuse(
            .invalidArgument,
            """
            A call renames \(rename.identifier.prefix(80)) to \(rename.newIdentifier.prefix(80)), and repeats the item or \
            the new identifier. Name each item and each new identifier once.
            """)
        return (nothing, SEARCHLIGHT_INVALID_ARGUMENT)
    }
    return (.renameItems(renames), SEARCHLIGHT_OK)
}

let renameTable = StaticTable(
    searchlight_host_rename(
        size: UInt32(MemoryLayout<searchlight_host_rename>.size), reserved: 0,
        rename_items: { host, index, identifiers, newIdentifiers, count, completion, context in
            let (change, status) = renames(identifiers, newIdentifiers, count, session(host))
            guard status == SEARCHLIGHT_OK else { return status }
            var changes = ChangeList()
            if let change = change.meaningful {
                do throws(ChangeList.TooLarge) { try changes.appendToBatch([change]) } catch {
                    return SEARCHLIGHT_TOO_LARGE
                }
            }
            return send(
                host, index, { IndexRequest(change, index: $0) },
                Completion(function: completion, context: context).handler)
        },
        rename_in_batch: { batch, identifiers, newIdentifiers, count in
            use(BatchBuilder.all, batch, batchName) { builder in
                let (change, status) = renames(identifiers, newIdentifiers, count, builder.session)
                return status == SEARCHLIGHT_OK ? builder.append(change) : status
            }
        }))
