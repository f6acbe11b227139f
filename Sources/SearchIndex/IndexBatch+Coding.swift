// SPDX-License-Identifier: Apache-2.0
import ItemRecord

extension IndexBatch {
    /// The batch as bytes, in the form in which it is journaled.
    ///
    /// - Throws: ``SearchIndexError/batchTooLarge(what:value:limit:)``.
    public func encoded() throws(SearchIndexError) -> [UInt8] {
        do throws(JournalEntryError) {
            return try JournalEntry(scope: scope, operations: operations).encoded()
        } catch {
            throw SearchIndexError(JournalError.invalidEntry(error), path: "", operation: "Encoding a batch")
        }
    }

    /// Reads a batch; every item of it is decoded.
    ///
    /// - Throws: ``SearchIndexError/invalidItem(identifier:reason:)`` for bytes that are none.
    public init(decoding bytes: [UInt8]) throws(SearchIndexError) {
        let entry: JournalEntry
        do throws(JournalEntryError) {
            entry = try JournalEntry(decoding: bytes)
        } catch {
            throw .invalidItem(identifier: "?", reason: "its batch cannot be read: \(error.description)")
        }
        self.init(scope: entry.scope)
        for operation in entry.operations {
            switch operation {
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
