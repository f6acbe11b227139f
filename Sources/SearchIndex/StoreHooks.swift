// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import GRDB

/// Hooks that let tests replace the layers below a store, stop in the middle of a step, or inject
/// failures. Only code in this package can set them; there is no setting or environment variable
/// for them.
package struct StoreHooks: Sendable {
    package var logFiles: any LogFiles = SystemLogFiles()
    /// The sizes of the log's files.
    package var log = LogConfiguration()
    /// The number of pending bytes, a few seconds of work, above which donors wait.
    package var maximumPendingBytes = 64 << 20
    /// The largest number of entries applied early; beyond it, entries are applied in order
    /// (``EarlyEntries``).
    package var maximumEarlyEntries = 1 << 16
    /// The largest number of items for which an index of the previous format is rebuilt, in less
    /// than a second, when the store is opened.
    package var itemsRebuiltAtOnce = 2000
    /// The time limits of reads (``ReadPatience/moment``).
    package var readLimits = ReadLimits()
    /// The clock that verifies the wall clock; see ``StoreClock``. Without one, every setting of
    /// the wall clock is trusted.
    package var bootClock: BootClock?
    /// `true` if related items (``RelatedItems``) affect each other only within an index, and if an
    /// item is kept when its related item is missing. An index that is assembled from several files
    /// needs this: each file alone determines its items, regardless of the order in which the files
    /// are read.
    package var relatesWithinIndexes = false
    /// Called with each database connection before its first use.
    package var prepareDatabase: (@Sendable (Database) throws -> Void)?

    /// The longest durations for which a read waits for durable donations that are not searchable
    /// yet.
    package struct ReadLimits: Sendable {
        /// The number of pending bytes that are considered little: they are applied within
        /// milliseconds, unless the machine is very busy.
        package var littleBytes = 256 << 10
        /// The limit while few bytes are pending.
        package var timeForLittle = Duration.seconds(1)
        /// The limit while more bytes are pending, which may take minutes to apply.
        package var time = Duration.milliseconds(20)
        /// The limit for reading an item by identifier, and for the donations of its bundle.
        package var timeForNamed = Duration.seconds(2)
    }

    /// Creates the hooks for normal operation.
    package init() {}
}
