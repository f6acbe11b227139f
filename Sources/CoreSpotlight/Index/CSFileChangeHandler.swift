// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A change of a file that an extension has items of.
public enum CSFileChange: Hashable, Sendable {
    /// The file is new, or its content or rights are others.
    case changed(URL)
    /// The file has another place; it may be changed too.
    case moved(from: URL, to: URL)
    /// There is no file at this place any more.
    case removed(URL)
}

/// Updates the items of changed files. A principal class that conforms to this gets a list of changes; another one gets requests
/// for items, or for everything.
///
/// The method is called off the main thread. Apple has no such protocol.
///
/// ```swift
/// final class IndexRequestHandler: CSIndexExtensionRequestHandler, CSFileChangeHandler {
///     func searchableIndex(
///         _ searchableIndex: CSSearchableIndex, updateItemsForFileChanges changes: [CSFileChange],
///         acknowledgementHandler: @escaping @Sendable () -> Void
///     ) {
///         var (identifiers, moves): ([String], [String: String]) = ([], [:])
///         for change in changes {
///             switch change {
///             case .changed(let file), .removed(let file): identifiers.append(file.path)
///             case .moved(let old, let new):
///                 moves[old.path] = new.path
///                 identifiers += [old.path, new.path]
///             }
///         }
///         // The items of moved files stay the same ones, and are then indexed as they are at their new places. All in one call:
///         // two files may have changed places.
///         searchableIndex.renameSearchableItems(moves)
///         self.searchableIndex(
///             searchableIndex, reindexSearchableItemsWithIdentifiers: identifiers,
///             acknowledgementHandler: acknowledgementHandler)
///     }
/// }
/// ```
public protocol CSFileChangeHandler: CSSearchableIndexDelegate {
    /// Donates, donates again or deletes the items of these files, then calls the handler. Until it was called the request is
    /// repeated. Look at each file as it is now: more may have happened since.
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, updateItemsForFileChanges changes: [CSFileChange],
        acknowledgementHandler: @escaping @Sendable () -> Void)
}
