// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import GRDB

/// What a store stands on, so that tests can put a layer of their own between: to stop in the middle of a step, or to
/// fail. No setting and no variable reaches it, only this package's own code.
package struct StoreSeams: Sendable {
    package var logFiles: any LogFiles = SystemLogFiles()
    /// The sizes of the log's files.
    package var log = LogConfiguration()
    /// How many bytes of donations may wait to be applied, some seconds of work, before donors have to wait too.
    package var maximumPendingBytes = 64 << 20
    /// How many entries may be applied before their turn; then others come first (``EarlyEntries``).
    package var maximumEarlyEntries = 1 << 16
    /// Up to so many items an index of the previous format is rebuilt when the store is opened; that takes less than a second.
    package var itemsRebuiltAtOnce = 2000
    /// How long reads wait (``ReadPatience/moment``).
    package var readLimits = ReadLimits()
    /// What the wall clock is compared with; see ``StoreClock``. Without one, every setting of it is believed.
    package var bootClock: BootClock?
    /// Given each connection with the database before its first use.
    package var prepareDatabase: (@Sendable (Database) throws -> Void)?

    /// How long a read waits for what is durable and cannot be found yet.
    package struct ReadLimits: Sendable {
        /// Up to so many bytes, in all, are applied in some milliseconds, unless the machine is very busy.
        package var littleBytes = 256 << 10
        /// How long is waited for that little.
        package var timeForLittle = Duration.seconds(1)
        /// How long is waited for more, which may take minutes.
        package var time = Duration.milliseconds(20)
        /// How long is waited for an item that is named, and for what its bundle donated.
        package var timeForNamed = Duration.seconds(2)
    }

    /// What a store stands on when nobody watches.
    package init() {}
}
