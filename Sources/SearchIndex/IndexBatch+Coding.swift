// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import ItemRecord

extension IndexBatch {
    /// The batch as bytes, in the form in which it is logged.
    ///
    /// - Throws: ``SearchIndexError/batchTooLarge(what:value:limit:)``.
    public func encoded() throws(SearchIndexError) -> [UInt8] {
        do throws(LogEntryError) {
            return try LogEntry(scope: scope, changes: changes).encoded()
        } catch {
            throw SearchIndexError(LogError.invalidEntry(error), path: "", operation: "Encoding a batch")
        }
    }

    /// Reads a batch; every item of it is decoded.
    ///
    /// - Throws: ``SearchIndexError/invalidItem(identifier:reason:)`` for bytes that are none.
    public init(decoding bytes: [UInt8]) throws(SearchIndexError) {
        let entry: LogEntry
        do throws(LogEntryError) {
            entry = try LogEntry(decoding: bytes)
        } catch {
            throw .invalidItem(identifier: "?", reason: "its batch cannot be read: \(error.description)")
        }
        self.init(scope: entry.scope)
        for change in entry.changes {
            switch change {
            case .put(let bytes):
                do throws(ItemRecordError) {
                    index([try EncodedItem(decoding: bytes)])
                } catch {
                    throw .invalidItem(identifier: "?", reason: error.description)
                }
            case .deleteItems(let identifiers): delete(identifiers: identifiers)
            case .deleteDomains(let domains): delete(domains: domains)
            case .deleteAll: deleteAll()
            }
        }
    }
}
