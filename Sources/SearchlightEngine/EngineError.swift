// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Promises
import Protection
import SearchIndex

/// An error of the engine.
package enum EngineError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The index failed.
    case index(SearchIndexError)
    /// A query was cancelled or exceeded a limit.
    case query(IndexQueryError)
    /// An extension failed.
    case `extension`(ExtensionError)
    /// A promise was not delivered.
    case promise(PromiseError)
    /// A drag failed; the text is a message for the user.
    case drag(DragFailure.Kind, String)
    /// Another process holds the store's write lock.
    case storeInUse(path: String, process: String?)
    /// A reindex of the bundle is in progress.
    case alreadyReindexing(String)
    /// No item has this name.
    case itemNotFound(String)
    /// The bundle or index has no item with this name. `places` lists some bundles and indexes that
    /// have such an item.
    case itemElsewhere(String, place: String, places: [String])
    /// Several items have this name.
    case ambiguousItem(String, candidates: [StoredItem])
    /// A file in the store cannot be read or written.
    case storeFile(path: String, operation: String, detail: String)
    /// The request to the service failed.
    case service(ServiceProblem)
    /// The index is protected and cannot be read or changed now.
    case protection(ProtectionError)
    /// The embedding model cannot be installed or used; the text is a message for the user.
    case semantic(String)
    /// A receipt of a removal cannot be checked; the text is a message for the user.
    case receipt(String)

    package var description: String {
        switch self {
        case .index(let error): error.description
        case .query(let error): error.description
        case .extension(let error):
            // After quoted output lines, the advice starts on a new line.
            [error.description, error.advice].compactMap(\.self).joined(
                separator: error.description.contains("\n") ? "\n" : " ")
        case .promise(let error): error.description
        case .drag(_, let message): message
        case .storeInUse(let path, let process):
            """
            The store at \(path) is in use by another searchlight\(process.map { " (process \($0))" } ?? ""). \
            Wait until it ends, or name another store with --store.
            """
        case .alreadyReindexing(let identifier):
            "A reindex of \(identifier) is already in progress. Wait until it ends."
        case .itemNotFound(let name):
            """
            There is no item \(Self.quoted(name)) in the index. \
            \(UInt32(name).map { "The number of an item is written @\($0)." } ?? "To find items: searchlight search WORDS")
            """
        case .itemElsewhere(let name, let place, let places):
            """
            \(place) has no item \(Self.quoted(name)); \(places.joined(separator: ", ")) \
            \(places.count == 1 ? "has" : "have") one. Name one of them with --bundle and --index, or leave these options out.
            """
        case .ambiguousItem(let name, let candidates):
            """
            \(candidates.count) items are named \(Self.quoted(name)): \
            \(candidates.map { "@\($0.number) of \($0.scope.phrase)" }.joined(separator: ", ")). \
            Use the number of one, or add --bundle or --index.
            """
        case .service(let problem): problem.description
        case .semantic(let message), .receipt(let message): message
        case .protection(let error): error.description
        case .storeFile(let path, let operation, let detail):
            "\(operation) \(path) failed: \(detail). Check its owner, and the free space of its device."
        }
    }

    /// `true` if the index is damaged. It is repaired the next time the store is opened.
    package var isDamage: Bool {
        switch self {
        case .index(let error), .query(.index(let error)): error.isDamage
        default: false
        }
    }

    /// Returns the name in quotes, truncated to 500 scalars. A caller may pass a name of any
    /// length.
    private static func quoted(_ name: String) -> String {
        let shown = name.unicodeScalars.prefix(500)
        let isCut = shown.endIndex < name.unicodeScalars.endIndex
        return (String(shown) + (isCut ? "…" : "")).debugDescription
    }
}
