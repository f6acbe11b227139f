// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import WriteAheadLog
import Foundation
import GRDB
import Glibc
import SystemSupport

/// The reason why the index could not complete an operation.
public enum SearchIndexError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// There is no store at this path yet.
    case noStore(path: String)
    /// A later version of this program wrote the store.
    case newerFormat(path: String)
    /// The file is not a store, or the store is damaged.
    case damaged(path: String, detail: String)
    /// A repair would lose items and is not permitted; nothing was changed. `bundles` lists the
    /// known bundles that cannot donate these items again.
    case losingRepair(path: String, detail: String, bundles: [String])
    /// The device or the quota is full.
    case full(path: String, operation: String)
    /// The store cannot be written.
    case readOnly(path: String, operation: String)
    /// A file or folder of the store has the wrong type, or other users may change it. The reason
    /// includes the remedy.
    case untrusted(path: String, reason: String)
    /// The item cannot be stored.
    case invalidItem(identifier: String, reason: String)
    /// A batch exceeds a limit; none of it is stored. Limits of single items are checked where the
    /// items are encoded.
    case batchTooLarge(what: String, value: Int, limit: Int)
    /// The client state does not match the expected one; nothing was changed.
    case mismatchedClientState
    /// A client state exceeds the length limit.
    case clientStateTooLong(bytes: Int)
    /// The index was closed.
    case closed
    /// SQLite or the file system reported another error.
    case storage(path: String, operation: String, detail: String)

    /// `true` for an error of the store or its device; `false` for an error in donated or requested
    /// data.
    package var isOfStore: Bool {
        switch self {
        case .full, .readOnly, .damaged, .losingRepair, .untrusted, .storage: true
        case .noStore, .newerFormat, .invalidItem, .batchTooLarge, .mismatchedClientState, .clientStateTooLong, .closed:
            false
        }
    }

    /// A message with the operation, the problem and the remedy.
    public var description: String {
        switch self {
        case .noStore(let path):
            """
            There is no index at \(path) yet. The first donation creates it. To choose what to index, run “searchlight \
            setup”; “searchlight reindex” makes all extensions donate.
            """
        case .newerFormat(let path):
            "The index at \(path) was written by a later version of Searchlight. Update Searchlight, or use another store."
        case .damaged(let path, let detail):
            "The index at \(path) is damaged (\(detail)). Run “searchlight verify --repair” to repair it."
        case .losingRepair(let path, let detail, let bundles):
            """
            The index at \(path) is damaged (\(detail)), and a repair may lose items\(Self.named(bundles)). Nothing was changed. \
            Save a copy of the folder or donate again, then run “searchlight verify --repair”.
            """
        case .full(let path, let operation):
            "\(operation) failed: the device that holds \(path) is full. Make room."
        case .readOnly(let path, let operation):
            "\(operation) failed: \(path) cannot be written. Check its permissions and mount options."
        case .untrusted(_, let reason): "The store is not used. \(reason)"
        case .invalidItem(let identifier, let reason):
            "The item \(identifier.debugDescription) is refused: \(reason). Correct it and donate it again."
        case .batchTooLarge(let what, let value, let limit):
            "The batch is refused: it has \(value) \(what); the limit is \(limit). Split it."
        case .mismatchedClientState:
            "The batch is refused: it expects a different client state. Fetch the last client state, and start again from it."
        case .clientStateTooLong(let bytes):
            "The client state has \(bytes) bytes; the limit is \(ClientState.maximumBytes). Shorten it."
        case .closed: "The index is closed. Open it again."
        case .storage(let path, let operation, let detail):
            "\(operation) in \(path) failed: \(detail). To check the index for damage, run “searchlight verify”."
        }
    }

    private static func named(_ bundles: [String]) -> String {
        guard let first = bundles.first else { return "" }
        let others = bundles.count > 1 ? " and \(bundles.count - 1) more" : ""
        return " of \(first)\(others), and no extension donates them again"
    }

    /// `true` if the store is damaged.
    package var isDamage: Bool { if case .damaged = self { true } else { false } }

    /// Creates an error from a log error, classified by its remedy.
    init(_ error: LogError, path: String, operation: String) {
        switch error {
        case .file(let error) where error.isFull: self = .full(path: path, operation: operation)
        case .file(let error) where error.isNotPermitted: self = .readOnly(path: path, operation: operation)
        case .preconditionFailed: self = .mismatchedClientState
        case .closed: self = .closed
        case .invalidEntry(.tooLarge(let what, let value, let limit)):
            self = .batchTooLarge(what: what, value: value, limit: limit)
        case .damaged, .invalidSequence: self = .damaged(path: path, detail: error.description)
        case .file(let file) where file.code == EFBIG:
            let detail = [error.description, UnwritableStore.fileSizeLimit].compactMap(\.self).joined(separator: " ")
            self = .storage(path: path, operation: operation, detail: detail)
        case .invalidEntry, .file: self = .storage(path: path, operation: operation, detail: error.description)
        }
    }

    /// Creates an error from an untrusted file, or from a system error on a file.
    package init(_ error: UntrustedFile) { self = .untrusted(path: error.path, reason: error.description) }

    /// Creates an error from a database or file system error, classified by its remedy.
    init(_ error: any Error, path: String, operation: String) {
        if let error = error as? SearchIndexError {
            self = error
            return
        }
        if let error = error as? UntrustedFile {
            self.init(error)
            return
        }
        if error is RowDecodingError {
            // A column contains a value that its table forbids.
            self = .damaged(path: path, detail: "a value of the wrong type")
            return
        }
        if let error = error as? CocoaError {
            switch error.code {
            case .fileWriteOutOfSpace: self = .full(path: path, operation: operation)
            case .fileWriteNoPermission, .fileWriteVolumeReadOnly: self = .readOnly(path: path, operation: operation)
            default: self = .storage(path: path, operation: operation, detail: error.localizedDescription)
            }
            return
        }
        guard let error = error as? DatabaseError else {
            self = .storage(path: path, operation: operation, detail: "\(error)")
            return
        }
        switch error.resultCode {
        case .SQLITE_FULL: self = .full(path: path, operation: operation)
        case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly(path: path, operation: operation)
        case .SQLITE_ERROR where Self.isSchemaFault(error.message ?? ""):
            self = .damaged(path: path, detail: error.message ?? "malformed")
        // This program defines all constraints and does not violate them.
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_CONSTRAINT:
            self = .damaged(path: path, detail: error.message ?? "malformed")
        case .SQLITE_NOMEM where MemoryShortage.isDamage(error):
            self = .damaged(path: path, detail: MemoryShortage.fault)
        default:
            // SQLite reports many different file problems with the same error code.
            let isOfFiles = [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode)
            self =
                (isOfFiles ? UnwritableStore.obstacle(at: path, operation: operation) : nil)
                ?? .storage(
                    path: path, operation: operation,
                    detail: [
                        error.message ?? "\(error.resultCode)",
                        isOfFiles ? UnwritableStore.descriptorLimit ?? UnwritableStore.fileSizeLimit : nil,
                    ].compactMap(\.self).joined(separator: "; "))
        }
    }

    /// The prefixes of messages about a damaged schema. All statements belong to this program, so
    /// the names in them exist in an intact schema.
    private static let schemaFaults = [
        "no such ", "malformed ", "unsupported file format", "invalid fts5 file format", "parse error in ",
        "unrecognized ",
        tableFault,
        "error in tokenizer constructor",
    ]

    /// The prefix of the message about a virtual table that cannot be opened.
    private static let tableFault = "vtable constructor failed"

    /// Returns `true` if a virtual table could not be opened. The cause may be damage, or an
    /// interrupt while the table was being opened; SQLite reports the same error for both.
    static func isTableFault(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError, error.resultCode == .SQLITE_ERROR else { return false }
        return error.message?.hasPrefix(tableFault) ?? false
    }

    /// Returns `true` if a read may have failed only because its task was cancelled. Statements
    /// that GRDB runs throw `CancellationError`; a ``ReadStatement`` reports the interrupt of
    /// SQLite.
    static func isFromCancellation(_ error: any Error) -> Bool {
        guard Task.isCancelled else { return false }
        return isTableFault(error) || (error as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT
    }

    private static func isSchemaFault(_ message: String) -> Bool {
        schemaFaults.contains { message.hasPrefix($0) } || message.contains(" has no column named ")
    }
}
