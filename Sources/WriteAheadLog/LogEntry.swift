// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// What is logged at once: a batch, of which all becomes durable or nothing, and when it was donated. The log does not read its
/// items.
package struct LogEntry: Hashable, Sendable {
    /// The batch. What it expected is over once it is logged.
    package var batch: IndexBatch
    /// When it was donated; `nil` in entries of earlier versions.
    package var moment: Moment?

    /// What the clocks said of a donation. So the dates of its items can move along with a clock that is set before the
    /// entry is applied, also after a crash.
    package struct Moment: Hashable, Sendable {
        /// The wall clock, in seconds since 2001-01-01 UTC.
        package var wall: Double
        /// Which run of the machine it was; 0 if that is not known.
        package var boot: UInt64
        /// Seconds since that run began.
        package var seconds: Double

        /// Notes what the clocks said.
        package init(wall: Double, boot: UInt64, seconds: Double) {
            self.wall = wall
            self.boot = boot
            self.seconds = seconds
        }
    }

    /// The longest encoded entry, in bytes: twice the largest batch of records that a client may send in one message.
    package static let maximumBytes = 64 << 20

    /// Creates an entry.
    package init(_ batch: IndexBatch, moment: Moment? = nil) {
        self.batch = batch
        self.batch.expectation = .any
        self.moment = moment
    }

    /// The index whose items change.
    package var scope: IndexScope { batch.scope }

    /// What this entry does to the client state of its scope.
    package var stateChange: ClientStateChange {
        if let state = batch.clientState { return .set(state) }
        let deletesAll = batch.changes.changes.contains { if case .deleteAll = $0 { true } else { false } }
        return deletesAll ? .cleared : .unchanged
    }
}
