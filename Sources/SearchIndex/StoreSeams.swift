// SPDX-License-Identifier: Apache-2.0
import GRDB

/// What a store stands on, so that tests can put a layer of their own between: to stop in the middle of a step, or to
/// fail. No setting and no variable reaches it, only this package's own code.
package struct StoreSeams: Sendable {
    /// The file system of the journal.
    package var journalFiles: any JournalFiles = SystemJournalFiles()
    /// The sizes of the journal's files.
    package var journal = JournalConfiguration()
    /// How many bytes of donations may wait to be applied, some seconds of work, before donors have to wait too.
    package var maximumPendingBytes = 64 << 20
    /// Given each connection with the database before its first use.
    package var prepareDatabase: (@Sendable (Database) throws -> Void)?

    /// What a store stands on when nobody watches.
    package init() {}
}
