// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A change to a file that has items from an extension.
public enum CSFileChange: Hashable, Sendable {
    /// The file is new, or its content or permissions changed.
    case changed(URL)
    /// The file was moved. It may also have changed.
    case moved(from: URL, to: URL)
    /// The file no longer exists.
    case removed(URL)
}

/// A handler that updates the items for changed files.
///
/// A principal class that conforms to this protocol receives a list of changes. Other classes
/// receive requests to reindex individual items or everything.
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
///         // Renamed items stay the same items, and are then indexed at their new paths.
///         // One call renames all of them, because two files may have swapped their paths.
///         searchableIndex.renameSearchableItems(moves)
///         self.searchableIndex(
///             searchableIndex, reindexSearchableItemsWithIdentifiers: identifiers,
///             acknowledgementHandler: acknowledgementHandler)
///     }
/// }
/// ```
public protocol CSFileChangeHandler: CSSearchableIndexDelegate {
    /// Donates or deletes the items for these files, then calls the handler.
    ///
    /// The request is repeated until the handler is called. Read each file in its current state,
    /// because it may have changed again.
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, updateItemsForFileChanges changes: [CSFileChange],
        acknowledgementHandler: @escaping @Sendable () -> Void)
}
