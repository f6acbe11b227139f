// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// The unit of logging: a batch, which becomes durable entirely or not at all, and the time of its
/// donation. The log does not decode the items.
package struct LogEntry: Hashable, Sendable {
    /// The batch. Its client state expectation is not logged.
    package var batch: IndexBatch
    /// The clock values at the time of the donation; `nil` in entries of earlier versions.
    package var moment: Moment?

    /// The clock values at the time of a donation. If the clock is set before the entry is applied,
    /// they allow the dates of its items to be adjusted, even after a crash.
    package struct Moment: Hashable, Sendable {
        /// The wall clock, in seconds since 2001-01-01 UTC.
        package var wall: Double
        /// A hash of the boot identifier; 0 if unknown.
        package var boot: UInt64
        /// The number of seconds since the boot.
        package var seconds: Double

        /// Creates a pair of clock values.
        package init(wall: Double, boot: UInt64, seconds: Double) {
            self.wall = wall
            self.boot = boot
            self.seconds = seconds
        }
    }

    /// The largest size of an encoded entry, in bytes: twice the largest batch of records that a
    /// client may send in one message.
    package static let maximumBytes = 64 << 20

    /// Creates an entry.
    package init(_ batch: IndexBatch, moment: Moment? = nil) {
        self.batch = batch
        self.batch.expectation = .any
        self.batch.protection = nil
        self.moment = moment
    }

    /// The scope whose items the entry changes.
    package var scope: IndexScope { batch.scope }

    /// The entry's effect on the client state of its scope.
    package var stateChange: ClientStateChange {
        if let state = batch.clientState { return .set(state) }
        let deletesAll = batch.changes.changes.contains { if case .deleteAll = $0 { true } else { false } }
        return deletesAll ? .cleared : .unchanged
    }
}
