// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import GRDB

/// Hooks with which tests replace the layers below a store, to stop in the middle of a step or to
/// inject failures. Only code of this package can set them; no setting or environment variable
/// does.
package struct StoreHooks: Sendable {
    package var logFiles: any LogFiles = SystemLogFiles()
    /// The sizes of the log's files.
    package var log = LogConfiguration()
    /// The limit of pending bytes, some seconds of work, above which donors wait.
    package var maximumPendingBytes = 64 << 20
    /// The largest number of entries applied early; above it, entries are applied in order
    /// (``EarlyEntries``).
    package var maximumEarlyEntries = 1 << 16
    /// The largest number of items for which an index of the previous format is rebuilt at the
    /// opening, in less than a second.
    package var itemsRebuiltAtOnce = 2000
    /// The time limits of reads (``ReadPatience/moment``).
    package var readLimits = ReadLimits()
    /// The clock that verifies the wall clock; see ``StoreClock``. Without one, every setting of
    /// the wall clock is trusted.
    package var bootClock: BootClock?
    /// `true` if related items (``RelatedItems``) affect each other only within an index, and if an
    /// item is kept without its related item. An index that is made from several files needs that:
    /// each file alone then determines its items, in whatever order the files are read.
    package var relatesWithinIndexes = false
    /// Called with each database connection before its first use.
    package var prepareDatabase: (@Sendable (Database) throws -> Void)?

    /// The longest times for which a read waits for durable donations that are not searchable yet.
    package struct ReadLimits: Sendable {
        /// The total of pending bytes that count as little: they are applied within milliseconds,
        /// unless the machine is very busy.
        package var littleBytes = 256 << 10
        /// The limit while little is pending.
        package var timeForLittle = Duration.seconds(1)
        /// The limit while more is pending, which may take minutes to apply.
        package var time = Duration.milliseconds(20)
        /// The limit for reading an item by identifier, and for the donations of its bundle.
        package var timeForNamed = Duration.seconds(2)
    }

    /// Creates the hooks of normal operation.
    package init() {}
}
